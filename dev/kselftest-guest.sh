# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in the guest for dev/suites/kselftest: what `make install` of the
# selftests made, by its own runner.

cd /kselftest || exit 2
exec ./run_kselftest.sh -c kprobes
