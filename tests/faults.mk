# SPDX-License-Identifier: GPL-3.0-or-later
# What goes wrong around the program: input that is none, calls that fail, signals, death.

fault_scripts = \
	tests/faults/bad_input.py \
	tests/faults/crashes.py \
	tests/faults/ended.py \
	tests/faults/nth_failure.py

dist_check_SCRIPTS += $(fault_scripts)

if HAVE_PYTHON
TESTS += $(fault_scripts)
check_DATA += tests/faults/shim.so
endif

# Where it cannot be made, the tests that need it say so.
tests/faults/shim.so: $(srcdir)/tests/faults/shim.c
	@$(MKDIR_P) tests/faults
	$(AM_V_CC)$(CC) $(CFLAGS) -fPIC -shared -o $@ $(srcdir)/tests/faults/shim.c -ldl || : >$@

CLEANFILES += tests/faults/shim.so

EXTRA_DIST += \
	tests/faults/scenes.py \
	tests/faults/shim.c
