/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that writes and reads one kind of access pattern by MPI-IO, times every operation and,
 * on request, checks every byte. */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

/* The body of main: kind is one of shape_kinds; `text` says what the program is. */
int run_program(const char *kind, const char *text, int argc, char **argv);

#endif
