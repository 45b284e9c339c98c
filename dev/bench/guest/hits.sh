#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: what a hit of each kind costs, and registering one. The numbers mark
# the steps in QEMU's log of exceptions; exceptions.py knows them.

# shellcheck source=dev/bench/guest/lib.sh
. /lib.sh

load hits
optimize 1
step hits first 0
step hits calibrate 1000000
optimize 0
step hits int3 1
step hits post 2
step hits jcc 3
step hits call 4
step hits register 0
optimize 1
step hits jump 5
step hits jump2 6
step hits ftrace 7
step hits return 8
step hits register-on 0
