/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folder of the DSO that runs, for the files that are installed near it.
 */
#ifndef DLA_FOLDER_H
#define DLA_FOLDER_H

#define DLA_FOLDER_SIZE 4096

/* The folder above that of the DSO that contains `symbol`. Returns 0; -ENOENT: `file` is not
 * readable there. */
int dla_folder_above(const void *symbol, const char *file, char folder[DLA_FOLDER_SIZE]);

#endif
