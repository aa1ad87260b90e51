# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of policies/; each links what that folder may use, $(policies_test_libs).
