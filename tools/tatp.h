/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands of tatp. argv[0] is "tatp COMMAND"; each returns the exit status.
 */
#ifndef TOOLS_TATP_H
#define TOOLS_TATP_H

int tatp_assign(int argc, char **argv);
int tatp_plan(int argc, char **argv);
int tatp_run(int argc, char **argv);
int tatp_topology(int argc, char **argv);

#endif
