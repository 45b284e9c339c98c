# SPDX-License-Identifier: GPL-2.0-only
# kprobes for Linux 6.12, x86: the driver. Each target is a script in dev/.

.DEFAULT_GOAL := help
.PHONY: help run tree test test-all kunit selftest stress coverage bench sample check patches clean

help:      ## this list
	@sed -n 's/^\([a-z-]*\): *\(.*[^#]\)\{0,1\}## \(.*\)/  make \1\t\3/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

run:       ## build the kernel with our kprobes, boot it in QEMU, show probes at work
	@dev/run

tree:      ## build/tree: the complete source tree; build/base: the pristine one
	@dev/packages
	@dev/tree

test:      ## all suites that CI runs; ends with "N passed, N failed"
	@dev/test

test-all:  ## the same, and every flavour of the kernel: hours
	@dev/test-all

kunit:     ## the KUnit suites alone
	@dev/test kunit

selftest:  ## the kernel's ftrace selftests about kprobes
	@dev/test selftest

stress:    ## everything at once, two minutes; DURATION=seconds, SEED=number
	@dev/stress/run

coverage:  ## which lines of the subsystem the tests reach, a line a file
	@dev/coverage

bench:     ## speed and scale beside the tree's own kprobes; under 30 minutes
	@dev/bench/run

sample:    ## what becomes of 20,000 random probes, beside the tree's own kprobes
	@dev/bench/sample

check:     ## what a reviewer would run: checkpatch, sparse, W=1, the page, the series, ...
	@dev/check

patches:   ## build/patches: the series for git am, with a cover letter
	@dev/packages
	@dev/patches

clean:     ## remove what was built, keep the unpacked trees
	@dev/clean
