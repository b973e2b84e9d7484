/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of tatp that have a file of their own. */
#ifndef TOOLS_TATP_H
#define TOOLS_TATP_H

/* tatp topology: what a description of a network says. */
int run_topology(int argc, char **argv);

#endif
