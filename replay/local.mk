# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += replay/libreplay.a

replay_libreplay_a_SOURCES = \
	replay/calibrate.c \
	replay/calibrate.h \
	replay/cuda.c \
	replay/device.c \
	replay/device.h \
	replay/devices.h \
	replay/fit.c \
	replay/fit.h \
	replay/host.c \
	replay/host_internal.h \
	replay/host_order.c \
	replay/host_pool.c \
	replay/host_queue.c \
	replay/host_work.c \
	replay/measure.c \
	replay/measure.h
