/* SPDX-License-Identifier: BSD-3-Clause */
/* shim: versions of system and library calls that count the calls of fcoll/tatp, or of
 * libtatp-mpiio.so, and can fail one of them, do half of it, interrupt or delay it. The components
 * of a program that has them find these before the C library's. A call counts where it returns to
 * the component's shared object; accesses to the user's file also where they return to fbtl/posix,
 * which makes them for the component.
 *
 * On any file system fcoll/tatp finds what it needs to map pages, so that the calls do not depend
 * on where the files are. */
#ifndef TESTS_FAULTS_SHIM_H
#define TESTS_FAULTS_SHIM_H

#include <stdbool.h>

/* A kind has all variants of its functions: vectors, 64-bit offsets, streams. */
enum shim_call {
    SHIM_MEMORY,  /* malloc, calloc, realloc */
    SHIM_MAP,     /* mmap, mprotect */
    SHIM_SEGMENT, /* shm_open, memfd_create */
    SHIM_OPEN,    /* open, fopen, fdopen, mkstemp */
    SHIM_CLOSE,   /* close, fclose; the descriptor is closed all the same */
    SHIM_READ,
    SHIM_WRITE,
    SHIM_PREAD,
    SHIM_PWRITE,
    SHIM_SIZE, /* ftruncate, posix_fallocate */
    SHIM_SYNC, /* fsync, fdatasync */
    SHIM_RENAME,
    SHIM_FLOCK,
    SHIM_FCNTL,
    SHIM_STATUS, /* stat, fstat, fstatfs */
    SHIM_ADVISE, /* madvise */
    SHIM_SPAWN,  /* posix_spawn */
    SHIM_SEND,   /* a message of the MPI is started */
    SHIM_RECEIVE,
    SHIM_CALLS
};
extern const char *const shim_call_names[SHIM_CALLS];

enum shim_fault {
    SHIM_FAIL,      /* an error that the call can have */
    SHIM_SHORT,     /* half of the bytes */
    SHIM_INTERRUPT, /* EINTR, once */
    SHIM_DELAY,     /* a few milliseconds */
    SHIM_FAULTS,
    SHIM_LAST /* an error of this call and all later ones: by name only */
};
extern const char *const shim_fault_names[SHIM_LAST + 1];

/* Whether a call of this kind can have this fault. */
bool shim_can(enum shim_call call, enum shim_fault fault);

/* Once the MPI is there. */
void shim_begin(void);
/* Whether the call that returns there fails. */
bool shim_refuses(enum shim_call call, const void *caller);

/* From now on calls are counted, and the nth of that kind (1, ...; 0: none) has the fault. */
void shim_arm(enum shim_call call, enum shim_fault fault, long nth);

/* No more. */
struct shim_counts {
    long calls[SHIM_CALLS];
    long hits;   /* faults that there were */
    long blocks; /* memory that the component has allocated and nobody freed, now */
};
struct shim_counts shim_disarm(void);

/* As shim_arm, for "CALL FAULT NTH". false: it cannot be read. */
bool shim_arm_by_name(const char *text);

/* The environment variable SHIM_FAULT arms by name from the process's start on, in the process of
 * rank SHIM_RANK: whether this is that. */
bool shim_is_chosen(void);

#endif
