# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of store/; each links what that folder may use, $(store_test_libs).
