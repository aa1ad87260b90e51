# SPDX-License-Identifier: GPL-3.0-or-later
# Machine files: `--machine NAME` finds the installed ones.

machinesdir = $(pkgdatadir)/machines
dist_machines_DATA = \
	machines/a100-80gb-sxm.weir \
	machines/h100-sxm.weir \
	machines/h200.weir \
	machines/rtx-4090.weir
