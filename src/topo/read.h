/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interface between the readers of the formats. Private to this folder.
 */
#ifndef TOPO_READ_H
#define TOPO_READ_H

#include "topo/fabric.h"

typedef struct slurm_state slurm_state;

/* The state of reading a file, with the state of each format between lines. */
typedef struct reading {
    topo_fabric *fabric;
    matrix_error *error;
    size_t line;
    slurm_state *slurm; /* made by the first line of that format */
    struct {
        int open;
        size_t vertex; /* whose ports follow */
    } record;
    struct {
        int open;
        size_t from, at;          /* its first vertex, and the current one */
        uint32_t out, in;         /* ports of the hop that led there */
        size_t hops, before_last; /* `at` of one hop ago */
    } trace;
} reading;

/* Refuses the line, by a format and its arguments. Returns -EBADMSG. */
#define REFUSE_LINE(r, ...) matrix_refuse((r)->error, (r)->line, __VA_ARGS__)

/* Each reads one line, which it may modify; 0, -EBADMSG or -ENOMEM. */
int read_slurm_line(reading *r, char *line);
int read_ibnetdiscover_line(reading *r, char *line);
int read_trace_line(reading *r, char *line);

/* Whether the line begins a record of ibnetdiscover, or is in one and no port. */
int begins_ibnetdiscover(const char *line);

/* The number of blocks in aggregates so far. */
size_t slurm_members(const reading *r);

/* Call this after the last line. */
int finish_slurm(reading *r);
void free_slurm(slurm_state *slurm);

/* Refuses cycles of arcs that lead from a switch to its children, and joins several trees by one
 * more switch above their roots. */
int join_trees(topo_fabric *f, matrix_error *error);

/* Reads hops from a Matrix Market file, and selects those between the hosts of a job. */
int read_market_hops(FILE *stream, topo_fabric *f, matrix_error *error);
int hops_of_market(const topo_fabric *f, const char *const *hosts, size_t nodes, topo *t,
                   matrix_error *error);

#endif
