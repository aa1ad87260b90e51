# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += kernels/libkernels.a

kernels_libkernels_a_SOURCES = \
	kernels/host.c \
	kernels/host.h
