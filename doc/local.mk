# SPDX-License-Identifier: GPL-3.0-or-later

dist_man1_MANS = \
	doc/man/weir.1 \
	doc/man/weir-analyze.1 \
	doc/man/weir-arena.1 \
	doc/man/weir-calibrate.1 \
	doc/man/weir-check.1 \
	doc/man/weir-compare.1 \
	doc/man/weir-devices.1 \
	doc/man/weir-explain.1 \
	doc/man/weir-export.1 \
	doc/man/weir-generate.1 \
	doc/man/weir-import.1 \
	doc/man/weir-plot.1 \
	doc/man/weir-policies.1 \
	doc/man/weir-replay.1 \
	doc/man/weir-runs.1 \
	doc/man/weir-sensitivity.1 \
	doc/man/weir-simulate.1 \
	doc/man/weir-verify.1
dist_man5_MANS = \
	doc/man/weir-graph.5 \
	doc/man/weir-store.5

dist_man3_MANS = \
	doc/man/weir-policy.3

examplesdir = $(docdir)/examples
dist_examples_DATA = \
	doc/examples/backwards.c \
	doc/examples/first-light.sh \
	doc/examples/offload.weir \
	doc/examples/profile.sql

dist_doc_DATA = \
	COPYING.EXCEPTION \
	LICENSES/MIT.txt \
	README.md

# The figure of README.md.
EXTRA_DIST += \
	doc/measured \
	doc/man/findings.py \
	doc/offload.svg
