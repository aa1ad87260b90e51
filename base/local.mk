# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += base/libbase.a

base_libbase_a_SOURCES =
