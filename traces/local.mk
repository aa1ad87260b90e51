# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += traces/libtraces.a

traces_libtraces_a_SOURCES =
