# SPDX-License-Identifier: GPL-3.0-or-later
# The oracle: a second, naive implementation. First it answers the cases worked out by hand, then
# it is compared with weir on random graphs. By hand, for more of them:
#
#     python3 tests/oracle/compare.py ./weir --seeds 1000:5000 --keep differences
#
# Beside it what weir finds wrong with schedules is held against the schedules, made otherwise by hand.
#
# peer.py compares with a program that is not ours to ship, where that lies beside the checkout.

oracle_tests = \
	tests/oracle/cases.py \
	tests/oracle/compare.py \
	tests/oracle/modes.py \
	tests/oracle/peer.py

dist_check_SCRIPTS += $(oracle_tests)

if HAVE_PYTHON
TESTS += $(oracle_tests)
endif

EXTRA_DIST += \
	tests/oracle/bind.py \
	tests/oracle/draw_machine.py \
	tests/oracle/draw_nodes.py \
	tests/oracle/draw_schedule.py \
	tests/oracle/fates.py \
	tests/oracle/frequency.py \
	tests/oracle/generate.py \
	tests/oracle/model.py \
	tests/oracle/mutate.py \
	tests/oracle/peer_floor.c \
	tests/oracle/quantity.py \
	tests/oracle/shrink.py \
	tests/oracle/simulate.py \
	tests/oracle/statement.py \
	tests/oracle/words.py
