/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU that is not there: two libraries under the names of the CUDA driver and of CUPTI, for tests
 * on machines without either. There are two devices:
 *
 * In device.c time is virtual. The host's monotonic clock stands still but for what calls are said to
 * cost and for waiting; the device's operations take what a table says. The same calls give the same
 * times to the nanosecond. In threads.c it is real: a thread does the work of each stream, and races
 * show, to ThreadSanitizer for one. In both work is done for real: copies move bytes, kernels check
 * and leave tags.
 *
 * Its name says what it is: nothing that it yields can pass for a measurement. */
#ifndef WEIR_TESTS_DOUBLE_H
#define WEIR_TESTS_DOUBLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/cuda_cupti_abi.h"

#define DOUBLE_L2_BYTES (1 << 16)

/* Classes of operations that slow each other down. */
enum double_class {
    DOUBLE_FMA,
    DOUBLE_READ,
    DOUBLE_CACHE,
    DOUBLE_MIX,
    DOUBLE_H2D,
    DOUBLE_D2H,
    DOUBLE_D2D,
    DOUBLE_CLASSES
};

/* What they share, when the truth is a roofline. */
enum double_resource {
    DOUBLE_ISSUE,
    DOUBLE_MEMORY,
    DOUBLE_L2,
    DOUBLE_UP,
    DOUBLE_DOWN,
    DOUBLE_RESOURCES
};

/* Things that go wrong: at the n-th occasion from 1; -n: from the n-th on; 0: never. */
enum double_fault {
    FAULT_NO_DEVICE,     /* cuInit: no device */
    FAULT_STUB,          /* cuInit: the stub library */
    FAULT_MISMATCH,      /* cuInit: driver and kernel differ */
    FAULT_MEMORY,        /* the n-th allocation of memory of any kind fails */
    FAULT_POOL,          /* the n-th from a pool fails */
    FAULT_POOL_BUSY,     /* the n-th that is asked for while the device has work */
    FAULT_LAUNCH,        /* the n-th launch fails, and every call after it */
    FAULT_LOST,          /* from the n-th copy on every call fails */
    FAULT_HANG,          /* the n-th kernel never ends */
    FAULT_SUBSCRIBE,     /* CUPTI refuses: the number is what it answers */
    FAULT_KIND,          /* the same when records are switched on */
    FAULT_ENABLE,        /* the n-th time that a kind of records is switched on, it is not */
    FAULT_DROPPED,       /* the n-th record is dropped, and counted */
    FAULT_MISSING,       /* and not counted */
    FAULT_ZERO,          /* its times are 0 */
    FAULT_BACKWARDS,     /* it ends before it begins */
    FAULT_TWICE,         /* it comes twice */
    FAULT_STRANGER,      /* one more comes, of a call that nobody made */
    FAULT_UNENDED,       /* its end is 0 */
    FAULT_OVERLAP_SMALL, /* it begins 300 ns too early */
    FAULT_OVERLAP_LARGE, /* 5 us too early */
    FAULT_EARLY,         /* it begins 10 ms before its call */
    FAULT_LATE,          /* it ends after the device was done */
    FAULT_MOVED,         /* it is in another stream */
    FAULT_OTHER_KIND,    /* a copy's record stands for the kernel's */
    FAULT_BYTES,         /* a copy's counts one byte more */
    FAULT_SHORT,         /* the n-th buffer ends in the middle of a record */
    FAULT_UNKNOWN_KIND,  /* a record of a kind of later versions comes before it */
    FAULT_LOADING,       /* the driver loads code in the middle of a run */
    FAULT_DRIFT,         /* from the n-th on their clock is 2 % slow */
    FAULT_POOL_WAITS,    /* the n-th block of a pool waits for another stream, as drivers may */
    FAULT_CLOCK,         /* the n-th look at the clock finds half of it */
    FAULT_FLUSH,         /* the n-th flush fails */
    FAULT_FLUSH_HANGS,   /* the n-th flush never returns */
    FAULT_SHUFFLED,      /* records come in another order: no fault */
    FAULT_SCATTERED,     /* and each in another buffer, which are done in another order: none */
    FAULT_NAMELESS,      /* a record that CUPTI itself cannot walk over comes before it */
    /* Of the n-th flush that has records: */
    FAULT_AHEAD,     /* all are 1 ms too late */
    FAULT_BEHIND,    /* too early */
    FAULT_JUMP,      /* the later half is too late */
    FAULT_JUMP_BACK, /* too early */
    DOUBLE_FAULTS
};

/* What CUPTI does at a record that it cannot walk over. */
enum double_walk {
    WALK_REFUSES,
    WALK_ENDS,   /* as if that were the last */
    WALK_STAYS,  /* gives the same again and again */
    WALK_ESCAPES /* gives one outside the buffer */
};

/* What WEIR_DOUBLE says (words of NVML: nvml.c): "launch_ns=5000,kappa.fma.h2d=1.3,fault.zero=3";
 * "power=3,eta.memory=0.93,part.read.memory=1". */
struct double_config {
    int64_t launch_ns; /* of the host: each call that gives the device something to do */
    int64_t trace_ns;  /* and so much more while records of calls are kept */
    double noise;  /* operations take longer or shorter by up to this part, by a fixed sequence */
    double slower; /* and each by this part longer than the one before it */
    int64_t begin_ns; /* of the device: from when an operation may begin until it does */
    double unit_ns[DOUBLE_CLASSES]; /* of an iteration, and of a byte */
    int64_t fixed_ns[DOUBLE_CLASSES];
    double kappa[DOUBLE_CLASSES][DOUBLE_CLASSES]; /* [slowed][beside] */
    double power; /* of a roofline, which multiplies what factors say; 0: there is none */
    double eta[DOUBLE_RESOURCES];
    double part[DOUBLE_CLASSES][DOUBLE_RESOURCES];
    bool is_share;    /* fair shares of the same resources instead */
    bool is_serial;   /* copies of one direction run one after another */
    int64_t shift_ns; /* of records, by faults that do */
    int64_t memory_bytes;
    int64_t moved_bytes; /* of a copy with an id, at most; of others 1 MiB */
    int64_t eager;       /* so many records are given out before anybody asks; 0: none */
    int64_t depth;       /* commands that a stream takes: who adds more waits; 0: any number */
    int64_t room;        /* that all streams take together */
    int version;         /* of CUDA: 13000 */
    int layout; /* of records: 1120, 1180, 1230, 1280, 1300, 1340, or 9990: longer ones to come */
    int refused_kind; /* of records: CUPTI refuses this one, when it refuses */
    enum double_walk walk;
    bool has_wait_value;
    cu_result init_result, open_result; /* of cuInit, and of asking for the context */
    int compute_mode;
    bool is_part; /* of a GPU that is divided */
    int64_t fault[DOUBLE_FAULTS];
    int64_t n_seen[DOUBLE_FAULTS];
};

extern struct double_config double_config;
/** Reads WEIR_DOUBLE once; a word that is not known ends the program with a message. */
void double_configure(void);
/** Counts an occasion. @return true at the one where it goes wrong */
bool double_fails(enum double_fault fault);

/* ---- the device (device.c, threads.c) ---- */

/** What the device calls itself. */
extern const char double_name[];

typedef struct CUstream_st double_stream;
typedef struct CUevent_st double_event;

/* What a command does when its turn in the stream comes. */
enum double_kind {
    DOUBLE_KERNEL,
    DOUBLE_COPY,
    DOUBLE_SET,
    DOUBLE_RECORD,
    DOUBLE_WAIT_EVENT,
    DOUBLE_WAIT_VALUE,
    DOUBLE_FREE
};

struct double_command {
    struct double_command *next;
    double_stream *stream;
    enum double_kind kind;
    int64_t called_ns;
    /* Kernels, copies and sets: work. */
    enum double_class class_;
    bool is_classless; /* of no class: slows nobody */
    int64_t work_ns;   /* alone */
    long double left_ns;
    int64_t start_ns, end_ns;
    bool is_running;
    uint32_t correlation;
    uint64_t external_id;
    bool has_external;
    void (*begin)(struct double_command *); /* real effects; NULL: none */
    void (*end)(struct double_command *);
    bool (*is_held)(const struct double_command *, int64_t now_ns, int64_t *until_ns);
    uint64_t args[8];
    uint64_t word; /* the address of a word of the host's that it waits for; 0: of none */
    int64_t bytes;
    int copy_kind;
    const char *name;
    /* Records and waits for events; a wait for a word has it in args. */
    double_event *event;
    uint64_t generation;
};

struct CUstream_st {
    double_stream *next;
    uint32_t number;
    struct double_command *first, *last;
    int64_t n_commands;
    /* Of real time: */
    pthread_t thread;
    pthread_cond_t pushed; /* there is something to do */
    bool is_over;          /* nothing more comes */
    int64_t passed_ns;     /* when the last command was over */
};

struct CUevent_st {
    uint64_t n_recorded; /* calls */
    uint64_t n_passed;   /* that the device has passed */
    int64_t passed_ns;
    bool is_timed;
};

/** The host's clock, virtual. */
int64_t double_now_ns(void);
void double_spend(int64_t ns);
/** Adds to the stream; the command is the device's then. */
void double_append(double_stream *stream, const struct double_command *command);
/** The device works up to the host's time. */
void double_advance(void);
/** The host waits until that stream (NULL: every stream) has nothing left.
 *  @return false when that will never be */
bool double_drain(double_stream *stream);
bool double_is_idle(const double_stream *stream);
/** Both clocks go to the next thing that happens on the device. */
void double_skip(void);
double_stream *double_stream_make(void);
/** What was handed over is gone. */
void double_kill(void);
/** What is in it is done first. */
void double_stream_end(double_stream *stream);
/** The device has come to where the event was last recorded, and when it did. */
bool double_is_passed(const double_event *event);
int64_t double_passed_ns(const double_event *event);

/** Has that done by a thread that is none of the caller's, if there are others, before it returns. */
void double_elsewhere(void (*work)(void));
/** By such a thread some time or other. */
void double_soon(void (*work)(void));

/* ---- streams as lists, for the device (streams.c) ---- */

double_stream *streams_first(void);
double_stream *streams_add(void);
void streams_remove(double_stream *stream);
/** @param stream NULL: all of them */
bool streams_are_idle(const double_stream *stream);
/** A copy of the command is the last of the stream now. */
void stream_push(double_stream *stream, const struct double_command *command);
/** The first is done. */
void stream_pop(double_stream *stream);
bool stream_is_full(const double_stream *stream);
/** What comes in the stream waits for all that is in the others now. */
void double_wait_for_others(double_stream *stream);

/* ---- CUPTI (cupti.c, records.c) ---- */

/** An operation has ended: its record will be in the next flush. */
void double_record(const struct double_command *command);
/** Are records of calls kept? */
bool double_is_traced(void);
/** A call was made. */
void double_call(uint32_t call, int64_t start_ns, int64_t end_ns, uint32_t correlation);
/** The id that was pushed around the calls now. */
bool double_external(uint64_t *id);

#endif
