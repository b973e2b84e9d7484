/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters fcoll_tatp_* that a program is started with: mpirun checks them before the job
 * starts, and fcoll/tatp again where a file is opened.
 */
#ifndef DLA_PROGRAM_H
#define DLA_PROGRAM_H

/* Shows a line for each parameter in the environment of the program whose value, or the file that
 * it names, cannot be used; and for a record or statistics where MPI-IO is left to another
 * component than OMPIO, which only mpirun sees. folder: where names of files begin. NULL for
 * either: it is not known, and what depends on it is not checked. */
void dla_check_program(const char *folder, char *const *environment,
                       void (*show)(const char *line));

#endif
