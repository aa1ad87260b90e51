# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += replay/libreplay.a

replay_libreplay_a_SOURCES = \
	replay/device.h
