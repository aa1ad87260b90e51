# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of sim/; each links what that folder may use, $(sim_test_libs).
