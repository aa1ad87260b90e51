# SPDX-License-Identifier: GPL-3.0-or-later

dist_man1_MANS = \
	doc/man/weir-compare.1 \
	doc/man/weir-export.1 \
	doc/man/weir-generate.1 \
	doc/man/weir-plot.1 \
	doc/man/weir-runs.1
dist_man5_MANS = \
	doc/man/weir-store.5

examplesdir = $(docdir)/examples
dist_examples_DATA = \
	doc/examples/backwards.c \
	doc/examples/first-light.sh

dist_doc_DATA = \
	COPYING.EXCEPTION \
	LICENSES/MIT.txt
