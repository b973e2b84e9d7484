/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the readers of the single formats share. Private to this folder.
 */
#ifndef TOPO_READ_H
#define TOPO_READ_H

#include "topo/fabric.h"

typedef struct slurm_state slurm_state;

/* A file in the course of reading. Each format keeps what it has to remember from line to line. */
typedef struct reading {
    topo_fabric *fabric;
    matrix_error *error;
    size_t line;
    slurm_state *slurm; /* made by the first line of that format */
    struct {
        int open;
        size_t vertex; /* whose ports or whose table follow */
    } record;
    struct {
        int open;
        size_t from, at;          /* where it begins, and where it has come to */
        uint32_t out, in;         /* ports of the hop that led there */
        size_t hops, before_last; /* `at` of one hop ago */
    } trace;
} reading;

/* Each takes one line, which it may cut up; 0, -EBADMSG or -ENOMEM. */
int read_slurm_line(reading *r, char *line);
int read_ibnetdiscover_line(reading *r, char *line);
int read_subnet_line(reading *r, char *line);
int read_ports_line(reading *r, char *line); /* opensm-lfts.dump, ibroute */
int read_fdbs_line(reading *r, char *line);  /* opensm.fdbs */
int read_trace_line(reading *r, char *line);

/* After the last line. */
int finish_slurm(reading *r);
void free_slurm(slurm_state *slurm);

/* While each arc leads from a switch to what is under it: refuses circles, and where there are
 * several trees puts one more switch above their tops. */
int join_trees(topo_fabric *f, matrix_error *error);

/* Hops between nodes as a Matrix Market file: read, and picked for the hosts of a job. */
int read_market_hops(FILE *stream, topo_fabric *f, matrix_error *error);
int hops_of_market(const topo_fabric *f, const char *const *hosts, size_t nodes, topo *t,
                   matrix_error *error);

#endif
