# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of graph/; each links what that folder may use, $(graph_test_libs).
