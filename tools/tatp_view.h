/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorded calls of a view file, with the file domains and aggregators that fcoll/tatp would
 * choose for them on given nodes.
 */
#ifndef TOOLS_TATP_VIEW_H
#define TOOLS_TATP_VIEW_H

#include "dla/servers.h"
#include "json/json.h"
#include "matrix/view_file.h"
#include "predict/servers.h"
#include "tatp_problem.h"

typedef struct tatp_view {
    view_file file;
    tatp_network network;
    predict_layout layout;    /* of all files, as the network has it ... */
    dla_servers recorded;     /* ... or of each file, as it was recorded */
    predict_servers servers;  /* either; layouts is 0: not known */
    struct prediction *calls; /* by pattern of the file */
} tatp_view;

/* Reads the files and predicts; ends the program after a message if a file is unusable. Targets
 * without a striping unit or a file that has them are those of each recorded file, by the rules of
 * dla_servers_find. */
void tatp_view_read(tatp_view *view, const tatp_problem_options *options);
void tatp_view_release(tatp_view *view);

/* A table: a row for each pattern. */
void tatp_view_print(const tatp_view *view);

/* Members of an open object: the patterns, with the load of each link if `loads`, and the bytes
 * accessed without aggregators. */
void tatp_view_put(json_writer *w, const tatp_view *view, bool loads);

#endif
