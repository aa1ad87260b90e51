# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += kernels/libkernels.a

kernels_libkernels_a_SOURCES = \
	kernels/cuda.h \
	kernels/cuda_image.h \
	kernels/host.c \
	kernels/host.h
nodist_kernels_libkernels_a_SOURCES = kernels/cuda_image.c

EXTRA_DIST += \
	kernels/cuda.cu \
	kernels/cuda.ptx \
	kernels/embed.sh \
	kernels/ptx.sh
CLEANFILES += kernels/cuda_image.c kernels/cuda.fatbin

# The kernels inside the program: PTX that ships with it, and code made here where nvcc is.
if HAVE_NVCC
cuda_fatbin = kernels/cuda.fatbin
kernels/cuda.fatbin: $(srcdir)/kernels/cuda.cu
	$(AM_V_GEN)$(MKDIR_P) kernels && \
	$(NVCC) $(NVCCFLAGS) -fatbin -O3 $(CUDA_GENCODE) -o $@ $(srcdir)/kernels/cuda.cu
endif
kernels/cuda_image.c: $(cuda_fatbin) $(srcdir)/kernels/cuda.ptx $(srcdir)/kernels/embed.sh
	$(AM_V_GEN)$(MKDIR_P) kernels && \
	$(SHELL) $(srcdir)/kernels/embed.sh kernels/cuda_image.h kernels_cuda_fatbin=$(cuda_fatbin) \
	    kernels_cuda_ptx=$(srcdir)/kernels/cuda.ptx >$@.new && mv $@.new $@

# For who changes the kernels.
update-ptx:
	$(SHELL) $(srcdir)/kernels/ptx.sh $(NVCC) $(srcdir)/kernels/cuda.cu $(srcdir)/kernels/cuda.ptx
.PHONY: update-ptx
