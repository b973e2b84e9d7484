/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters fcoll_tatp_* that a program is started with: mpirun checks them before the job
 * starts, and fcoll/tatp again where a file is opened.
 */
#ifndef DLA_PROGRAM_H
#define DLA_PROGRAM_H

#include "collective/parameters.h"

/* What is reported of the programs of a job. */
enum { DLA_MARKS_SIZE = 1024 };
typedef struct dla_reports {
    void (*show)(const char *line);
    char *lines;                /* each once; the caller frees them */
    char marks[DLA_MARKS_SIZE]; /* of parameters that the ranks would report, too */
} dla_reports;

/* Shows a line for each parameter in the environment of the program whose value, or the file that
 * it names, cannot be used, and for a record or statistics where the list of a framework excludes
 * io/ompio or fcoll/tatp. Names that do not exist are left to the ranks. folder: where names of
 * files begin. NULL for either: it is not known, and what depends on it is not checked. */
void dla_check_program(const char *folder, char *const *environment, dla_reports *reports);

/* Variables that tell the ranks: these marks; "1": the view has decided the nodes, so that topo/dla
 * keeps the order of communicators. */
#define DLA_TELLS_MARKS PARAMETER_REPORTED
#define DLA_TELLS_PLACED "OMPI_MCA_topo_dla_placed"

/* Adds a variable to the environment of a program, an array of the heap, unless the value is empty.
 * No memory: it is not added. */
void dla_tell_ranks(char ***environment, const char *name, const char *value);

#endif
