# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by dev/bench/run and dev/bench/sample: kernels, modules, boots.

# shellcheck source=dev/lib.sh
. "$(dirname "$0")/../lib.sh"

BENCH=$BUILD/bench

# Guest time is the number of instructions, 1 ns each, and nothing comes from outside:
# two runs are the same. Idle time is skipped.
EXACT="-icount shift=0,sleep=off -seed 1 -rtc base=2024-01-01,clock=vm"

# kernel WHOSE: its build folder
kernel()
{
	case $1 in
	base) echo "$BUILD/base-x86_64" ;;
	ours) echo "$BUILD/x86_64" ;;
	esac
}

build_kernels()
{
	"$TOP/dev/packages"
	step "source tree" "$LOG/tree.log" "$TOP/dev/tree"
	step "kernel, base" "$LOG/build-base-x86_64.log" "$TOP/dev/build" --base x86_64
	step "kernel, ours" "$LOG/build-x86_64.log" "$TOP/dev/build" x86_64
}

# sample_header WHOSE SIZE SEED: what sample.c includes
sample_header()
{
	"$TOP/dev/bench/sample-list" "$(kernel "$1")/vmlinux" "$2" "$3"
}

# build_modules WHOSE SIZE SEED: the same source for both
build_modules()
{
	local work=$BENCH/modules/$1
	mkdir -p "$work"
	rsync -rlp --checksum "$TOP/dev/bench/modules/" "$work/"
	sample_header "$@" >"$work/sample.h.new"
	cmp -s "$work/sample.h.new" "$work/sample.h" || mv "$work/sample.h.new" "$work/sample.h"
	make -C "$(kernel "$1")" M="$work" CC="ccache gcc" modules
}

# boot WHOSE SCRIPT CPUS OPTION...: run guest/SCRIPT.sh, its results in $BENCH/WHOSE/SCRIPT
boot()
{
	local whose=$1 script=$2 cpus=$3 module
	local -a files=()
	shift 3
	for module in "$BENCH/modules/$whose"/*.ko; do
		files+=(--file "$module:modules/${module##*/}")
	done
	"$TOP/dev/vm" --smp "$cpus" --out "$BENCH/$whose/$script" "${files[@]}" \
		--file "$TOP/dev/bench/guest/lib.sh:lib.sh" \
		--run "$TOP/dev/bench/guest/$script.sh" "$@" "$(kernel "$whose")"
}

# exact_boot: as boot, in guest time that is exact. The last word on the clock counts.
# Addresses are shown, to tell what memory is executable. No two CPUs have their ticks
# at once: which came first would be up to this machine.
exact_boot()
{
	QEMU_ARGS="$EXACT ${QEMU_ARGS:-}" \
		boot "$@" --append "nokaslr skew_tick=1 no_hash_pointers tsc_early_khz=1000000" --timeout 1500
}
