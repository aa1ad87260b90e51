/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernels of kernels/cuda.cu, inside the program. The array ends in a 0 that its size does not
 * count; an image that this build has none of has size 0. */
#ifndef WEIR_KERNELS_CUDA_IMAGE_H
#define WEIR_KERNELS_CUDA_IMAGE_H

#include <stddef.h>

/* Code for the GPUs that nvcc knew, and PTX. */
extern const unsigned char kernels_cuda_fatbin[];
extern const size_t kernels_cuda_fatbin_bytes;
/* PTX, which the driver compiles for any GPU since Volta. */
extern const unsigned char kernels_cuda_ptx[];
extern const size_t kernels_cuda_ptx_bytes;

#endif
