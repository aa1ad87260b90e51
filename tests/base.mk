# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of base/; each links what that folder may use, $(base_test_libs).
