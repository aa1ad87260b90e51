# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of traces/; each links what that folder may use, $(traces_test_libs).
