# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += sim/libsim.a

sim_libsim_a_SOURCES = \
	sim/simulate.h
