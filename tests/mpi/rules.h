/* SPDX-License-Identifier: BSD-3-Clause */
/* rules: who may access which bytes of a file whose stripes are known. */
#ifndef TESTS_MPI_RULES_H
#define TESTS_MPI_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file was opened with. */
struct striping {
    int64_t stripe, cycle; /* bytes */
    int targets;           /* 0: not known */
    int aggregators;       /* asked for, at most the number of ranks; 0: the component chooses */
    int ranks;
    bool fitted; /* maybe: a domain may be any stripes */
    bool dealt;  /* otherwise: stripes of a target go together; else domains are contiguous */
};

/* One access to the file. */
struct logged {
    int64_t rank, write, offset, length;
};

/* What one collective call wanted: wanted[b] for the bytes below `size`. */
struct wanted {
    bool write;
    bool alone; /* each rank may access the file itself: read, one piece a rank, and nothing demands
                   aggregators */
    const unsigned char *wanted;
    int64_t size;
};

/* NULL, or which rule the accesses of a call broke (a text that stays until the next call). */
const char *broken_rule(const struct striping *s, const struct wanted *call,
                        const struct logged *log, size_t count);

#endif
