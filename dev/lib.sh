# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of dev/: paths, messages, timed steps.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${BUILD:-$TOP/build}
LOG=$BUILD/log
JOBS=${JOBS:-$(nproc)}
mkdir -p "$LOG"

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# usage: print the comment at the top of the calling script
usage()
{
	sed -n '2,/^$/{/^# SPDX/d;s/^#$//;s/^# //p}' "$0"
}

# header FLAVOUR KEY: the value of "# KEY: value" in a fragment of dev/configs
header()
{
	sed -n "s/^# $2: *//p" "$TOP/dev/configs/$1.config" | head -n 1
}

# sources: the C files of the subsystem, without its tests
sources()
{
	(cd "$TOP" && find kernel arch -name '*.c' ! -path '*/tests/*' | sort)
}

# show_log FILE: what a person needs of a failed step's log
show_log()
{
	grep -E '(error|Error [0-9]|undefined reference|No space left)' "$1" | head -n 10 >&2 || true
	echo "--- last lines of $1" >&2
	tail -n 15 "$1" >&2
}

# step TEXT LOGFILE COMMAND...: one line of progress, the output in LOGFILE
step()
{
	local text=$1 log=$2 t0=$SECONDS
	shift 2
	printf '%-58s ' "$text ..."
	if "$@" >"$log" 2>&1 </dev/null; then
		printf '%4d s\n' $((SECONDS - t0))
		return 0
	fi
	printf 'FAILED after %d s\n' $((SECONDS - t0))
	show_log "$log"
	return 1
}
