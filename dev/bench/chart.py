# SPDX-License-Identifier: GPL-2.0-only
"""Draw the benchmark's chart, for dev/bench/report: hits by kind, and their growth."""
import math

WIDTH, HEIGHT, TOP, LEFT = 940, 420, 60, 60
BOTTOM = HEIGHT - 70
COLOURS = {"base": "#b0b7c3", "ours": "#1f6feb"}
KINDS = [("int3", "int3"), ("post", "int3, post"), ("jcc", "jcc"), ("call", "call"),
         ("ftrace", "ftrace"), ("return", "return"), ("jump", "jump"), ("jump2", "jump, two")]
NUMBERS = [1, 100, 1000, 10000]


def text(x, y, what, anchor="middle", size=12, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{what}</text>')


def line(x1, y1, x2, y2, colour="#d0d7de", width=1):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="{width}"/>')


def ceiling(value):
    """The next number with one digit and zeros."""
    unit = 10 ** math.floor(math.log10(max(value, 1)))
    return math.ceil(value / unit) * unit


class Panel:
    """A frame with a scale from 0 upwards."""

    def __init__(self, left, right, most, title):
        self.left, self.right, self.most = left, right, ceiling(most)
        self.parts = [text(left, TOP - 20, title, "start", 14, "bold")]
        for i in range(5):
            value = self.most * i / 4
            y = self.y(value)
            self.parts += [line(left, y, right, y), text(left - 6, y + 4, f"{value:.0f}", "end", 11)]

    def y(self, value):
        return BOTTOM - (BOTTOM - TOP) * value / self.most

    def bar(self, x, width, value, whose):
        y = self.y(value)
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{BOTTOM - y:.1f}" fill="{COLOURS[whose]}"/>')
        self.parts.append(text(x + width / 2, y - 3, f"{value:.0f}", size=10))

    def path(self, points, whose):
        joined = " ".join(f"{x:.1f},{self.y(v):.1f}" for x, v in points)
        self.parts.append(f'<polyline points="{joined}" fill="none" '
                          f'stroke="{COLOURS[whose]}" stroke-width="2.5"/>')
        for x, value in points:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{self.y(value):.1f}" r="3.5" '
                              f'fill="{COLOURS[whose]}"/>')
        x, value = points[-1]
        self.parts.append(text(x, self.y(value) - 8, f"{value:.0f}", "end", 11))


def value(results, key):
    values = results.get(key)
    return sorted(values)[len(values) // 2] if values else 0


def hits_panel(both):
    most = max(value(r, key) for r in both.values() for key, _ in KINDS)
    panel = Panel(LEFT, 540, most, "Instructions a hit, by kind")
    slot = (540 - LEFT) / len(KINDS)
    for i, (key, name) in enumerate(KINDS):
        x = LEFT + i * slot
        for j, (whose, results) in enumerate(both.items()):
            panel.bar(x + 6 + j * (slot - 12) / 2, (slot - 12) / 2 - 2, value(results, key), whose)
        panel.parts.append(text(x + slot / 2, BOTTOM + 18, name, size=11))
    return panel.parts


def growth_panel(both):
    key = "growth-{}-mean-hit-x100".format
    left, right = 620, WIDTH - 30
    most = max(value(r, key(n)) for r in both.values() for n in NUMBERS) / 100
    panel = Panel(left, right, most, "A hit by breakpoint, as probes grow")
    x = {n: left + 10 + (right - left - 20) * math.log(n, NUMBERS[-1]) for n in NUMBERS}
    for whose, results in both.items():
        panel.path([(x[n], value(results, key(n)) / 100) for n in NUMBERS], whose)
    panel.parts += [text(x[n], BOTTOM + 18, f"{n:,}", size=11) for n in NUMBERS]
    panel.parts.append(text((left + right) / 2, BOTTOM + 38, "probes registered", size=11))
    return panel.parts


def legend():
    parts = []
    for i, (whose, name) in enumerate({"base": "the tree's own", "ours": "ours"}.items()):
        x, y = LEFT + i * 140, HEIGHT - 22
        parts.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS[whose]}"/>')
        parts.append(text(x + 18, y + 11, name, "start"))
    return parts


def draw(base, ours):
    """The chart as SVG, of the results of both kernels: key -> list of numbers."""
    both = {"base": base, "ours": ours}
    parts = hits_panel(both) + growth_panel(both) + legend()
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n' +
            "\n".join(parts) + "\n</svg>\n")
