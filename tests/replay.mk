# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of replay/; each links what that folder may use, $(replay_test_libs).
