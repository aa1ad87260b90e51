/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the driver's functions share: every one has the type that Weir calls it by. */
#ifndef WEIR_TESTS_DOUBLE_CALLS_H
#define WEIR_TESTS_DOUBLE_CALLS_H

#include "tests/double/double.h"

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(field, symbol, parameters) EXPORT cu_result symbol parameters;
CUDA_REQUIRED_FUNCTIONS(DECLARE)
#ifndef DOUBLE_IS_OLD
CUDA_OPTIONAL_FUNCTIONS(DECLARE)
#endif

struct CUfunc_st {
    const char *name;
};

/* A call that gives the device something to do: costs, ids, records. */
struct call {
    int64_t start_ns;
    uint32_t correlation;
};

struct call call_begin(void);
cu_result call_end(const struct call *call);
/** The command that the call hands over. */
struct double_command call_work(const struct call *call, enum double_kind kind);

/** What every call answers once something has gone wrong for good; GPU_SUCCESS until then. */
cu_result call_lost(void);
/** From now on every call answers that, and nothing that was handed over is done. */
cu_result call_lose(cu_result result);

#endif
