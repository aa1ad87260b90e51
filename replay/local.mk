# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += replay/libreplay.a

replay_libreplay_a_SOURCES = \
	replay/account.c \
	replay/account.h \
	replay/account_bytes.c \
	replay/amounts.c \
	replay/amounts.h \
	replay/calibrate.c \
	replay/calibrate.h \
	replay/contents.c \
	replay/contents.h \
	replay/contents_buffers.c \
	replay/contents_internal.h \
	replay/cuda.c \
	replay/cuda_abi.h \
	replay/cuda_cupti_abi.h \
	replay/cuda_load.c \
	replay/cuda_load.h \
	replay/deviate.c \
	replay/deviate.h \
	replay/deviate_cost.c \
	replay/deviate_internal.h \
	replay/deviate_path.c \
	replay/deviations.c \
	replay/deviations.h \
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
	replay/lanes.c \
	replay/lanes.h \
	replay/measure.c \
	replay/measure.h \
	replay/measure_internal.h \
	replay/measure_kappa.c \
	replay/measure_trial.c \
	replay/measure_windows.c \
	replay/place.c \
	replay/place.h \
	replay/rates.c \
	replay/rates.h \
	replay/runner.c \
	replay/runner.h \
	replay/schedule.c \
	replay/schedule.h \
	replay/schedule_needs.c \
	replay/sharing.c \
	replay/sharing.h \
	replay/times.c \
	replay/times.h \
	replay/waits.c \
	replay/waits.h \
	replay/waits_fallback.c \
	replay/waits_inserted.c \
	replay/waits_internal.h \
	replay/waits_overlap.c
