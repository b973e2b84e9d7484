/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands of dla. argv[0] is "dla COMMAND"; each returns the exit status.
 */
#ifndef TOOLS_DLA_H
#define TOOLS_DLA_H

int dla_convert(int argc, char **argv);
int dla_forget(int argc, char **argv);
int dla_list(int argc, char **argv);
int dla_map(int argc, char **argv);
int dla_setup(int argc, char **argv);
int dla_show(int argc, char **argv);

#endif
