/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of a file from the options of a command: what its file system says, or a file of
 * targets.
 */
#ifndef TOOLS_TATP_TARGETS_H
#define TOOLS_TATP_TARGETS_H

#include <argp.h>

#include "storage/storage.h"

typedef struct tatp_targets_options {
    const char *file;    /* whose layout it is; NULL: the file system is not asked */
    const char *targets; /* file of targets or blocks; NULL: not given */
    size_t unit, factor; /* stripes that its targets take in turn; 0: not given */
} tatp_targets_options;

/* A child of a command's argp for --targets, --striping-unit and --striping-factor; its input is a
 * tatp_targets_options. */
extern const struct argp tatp_targets_argp;

/* Ends the program after a message if a file is unusable, or nothing says the layout. *size: bytes
 * of options->file, if there is one. The caller frees the layout. */
storage_layout *tatp_targets_read(const tatp_targets_options *options, int64_t *size);

#endif
