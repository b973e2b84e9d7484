/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorded calls of a view file, with the file domains and aggregators that fcoll/tatp would
 * choose for them on given nodes.
 */
#ifndef TOOLS_TATP_VIEW_H
#define TOOLS_TATP_VIEW_H

#include "json/json.h"
#include "matrix/view_file.h"
#include "tatp_problem.h"

typedef struct tatp_view {
    view_file file;
    tatp_network network;
    struct prediction *calls; /* by pattern of the file */
} tatp_view;

/* Reads the files and predicts; ends the program after a message if a file is unusable. */
void tatp_view_read(tatp_view *view, const tatp_problem_options *options);
void tatp_view_release(tatp_view *view);

/* A table: a row for each pattern. */
void tatp_view_print(const tatp_view *view);

/* Members of an open object: the patterns, with the load of each link, and the bytes accessed
 * without aggregators. */
void tatp_view_put(json_writer *w, const tatp_view *view);

#endif
