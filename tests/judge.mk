# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of judge/; each links what that folder may use, $(judge_test_libs).
