# SPDX-License-Identifier: GPL-3.0-or-later
# A driver, a CUPTI and an NVML of a GPU that is not there, and what runs on it. They are built without
# sanitizers, since they are loaded into a program that may have them; but the driver with threads,
# which is there to be seen by ThreadSanitizer.

double_sources = \
	tests/double/buffers.c \
	tests/double/calls.h \
	tests/double/complete.c \
	tests/double/config.c \
	tests/double/cupti.c \
	tests/double/device.c \
	tests/double/double.h \
	tests/double/driver.c \
	tests/double/memory.c \
	tests/double/records.c \
	tests/double/records.h \
	tests/double/streams.c \
	tests/double/threads.c \
	tests/double/work.c
double_build = $(CC) $(DEFS) $(WEIR_CPPFLAGS) -I$(top_srcdir) -std=c17 -Wall -Wextra -O1 -g -fPIC \
	-fvisibility=hidden -shared -Wl,-soname,libcuda.so.1

double_libraries = \
	tests/double/libcuda.so.1 \
	tests/double/libcupti.so.13 \
	tests/double/old/libcuda.so.1 \
	tests/double/old/libcupti.so.13 \
	tests/double/real/libcuda.so.1 \
	tests/double/real/libcupti.so.13 \
	tests/double/libnvidia-ml.so.1 \
	tests/double/old/libnvidia-ml.so.1
check_DATA += $(double_libraries)
tests/double/libcuda.so.1: $(double_sources)
	$(AM_V_CCLD)$(MKDIR_P) tests/double && \
	$(double_build) -Wl,-z,defs -o $@ $(double_c) $(double_virtual_c) -ldl -lm
# A driver without what is optional.
tests/double/old/libcuda.so.1: $(double_sources)
	$(AM_V_CCLD)$(MKDIR_P) tests/double/old && \
	$(double_build) -Wl,-z,defs -DDOUBLE_IS_OLD -o $@ $(double_c) $(double_virtual_c) -ldl -lm
# In real time, with threads.
tests/double/real/libcuda.so.1: $(double_sources)
	$(AM_V_CCLD)$(MKDIR_P) tests/double/real && \
	$(double_build) $(double_real_flags) -o $@ $(double_c) $(double_real_c) -pthread
double_c = \
	$(srcdir)/tests/double/buffers.c \
	$(srcdir)/tests/double/complete.c \
	$(srcdir)/tests/double/config.c \
	$(srcdir)/tests/double/cupti.c \
	$(srcdir)/tests/double/driver.c \
	$(srcdir)/tests/double/memory.c \
	$(srcdir)/tests/double/records.c \
	$(srcdir)/tests/double/streams.c \
	$(srcdir)/tests/double/work.c
double_virtual_c = $(srcdir)/tests/double/device.c
double_real_c = $(srcdir)/tests/double/threads.c
double_real_flags =
if THREAD_SANITIZER
double_real_flags += -fsanitize=thread
endif
tests/double/real/libcupti.so.13: tests/double/real/libcuda.so.1
	$(AM_V_GEN)ln -sf libcuda.so.1 $@
tests/double/old/libcupti.so.13: tests/double/old/libcuda.so.1
	$(AM_V_GEN)ln -sf libcuda.so.1 $@
tests/double/libcupti.so.13: tests/double/libcuda.so.1
	$(AM_V_GEN)ln -sf libcuda.so.1 $@
nvml_sources = tests/double/nvml.c replay/cuda_nvml_abi.h
nvml_build = $(CC) $(DEFS) $(WEIR_CPPFLAGS) -I$(top_srcdir) -std=c17 -Wall -Wextra -O1 -g -fPIC \
	-fvisibility=hidden -shared -Wl,-soname,libnvidia-ml.so.1
tests/double/libnvidia-ml.so.1: $(nvml_sources)
	$(AM_V_CCLD)$(MKDIR_P) tests/double && \
	$(nvml_build) -o $@ $(srcdir)/tests/double/nvml.c
# With the names of older drivers alone.
tests/double/old/libnvidia-ml.so.1: $(nvml_sources)
	$(AM_V_CCLD)$(MKDIR_P) tests/double/old && \
	$(nvml_build) -DDOUBLE_IS_OLD -o $@ $(srcdir)/tests/double/nvml.c
CLEANFILES += $(double_libraries)
EXTRA_DIST += \
	$(double_sources) \
	tests/double/nvml.c \
	tests/device/build \
	tests/device/check \
	tests/device/plan \
	tests/device/records.py

double_scripts = \
	tests/double/messages.py \
	tests/double/run.py \
	tests/double/state.py \
	tests/double/threads.py
dist_check_SCRIPTS += $(double_scripts)
if HAVE_PYTHON
TESTS += $(double_scripts)
threaded_tests += tests/double/threads.py
endif

# The program, for tests/device/build to link with what else is not where it is to run.
weir-portable: $(weir_OBJECTS) $(weir_DEPENDENCIES)
	$(AM_V_CCLD)$(LINK) $(weir_OBJECTS) $(weir_LDADD) $(LIBS)
CLEANFILES += weir-portable
