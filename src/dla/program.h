/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters fcoll_tatp_* that a program is started with: mpirun checks them before the job
 * starts, and fcoll/tatp again where a file is opened.
 */
#ifndef DLA_PROGRAM_H
#define DLA_PROGRAM_H

/* What was said of the programs of a job. */
typedef struct dla_told {
    void (*show)(const char *line);
    char *const *first; /* environment of the first program; NULL before it */
    char *lines;        /* the caller frees them */
} dla_told;

/* Shows a line for each parameter in the environment of the program whose value, or the file that
 * it names, cannot be used; and what only mpirun sees: a record or statistics where the list of a
 * framework excludes io/ompio or fcoll/tatp, and names that do not exist and that the first program
 * has not. folder: where names of files begin. NULL for either: it is not known, and what depends
 * on it is not checked. */
void dla_check_program(const char *folder, char *const *environment, dla_told *told);

#endif
