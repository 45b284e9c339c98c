#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: what 10,000 probes take of memory when they are jumps, and hits while fewer
# and fewer are registered.

# shellcheck source=dev/bench/guest/lib.sh
. /lib.sh

ALL=10000

slab()
{
	sed -n 's/^Slab: *\([0-9]*\) kB/\1/p' /proc/meminfo
}

# pages ADDRESSES: pages mapped by vmalloc() at addresses that match. Nothing but kprobes
# takes any meanwhile.
pages()
{
	awk -v at="^0x$1" '$1 ~ at { for (i = 4; i <= NF; i++)
		if (sub(/^pages=/, "", $i)) n += $i } END { print n + 0 }' /proc/vmallocinfo
}

# Where modules and all else that is executed lies, and the rest
executable()
{
	pages ffffffff
}

other()
{
	pages ffff[0-9a-e]
}

load many
warm_up
slab0=$(slab)
exec0=$(executable)
other0=$(other)
optimize 0
step many register $ALL
optimize 1
step many jumps 600
sleep 2
result slab-kb $(($(slab) - slab0))
result exec-pages $(($(executable) - exec0))
result other-pages $(($(other) - other0))
step many hits 0 jump-$ALL-
optimize 0
step many traps 600
left=$ALL
for nr in 10000 1000 100 1; do
	[ $left = $nr ] || step many remove $((left - nr))
	left=$nr
	step many hits 0 growth-$nr-
done
