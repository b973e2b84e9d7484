/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and their slots, and the hosts of ranks, from an option or a file.
 */
#ifndef TOOLS_NODES_H
#define TOOLS_NODES_H

#include <stdbool.h>
#include <stddef.h>

/* Node name[n] has slots[n] slots; nodes are numbered in the order of first occurrence. Zeroed: no
 * nodes. */
typedef struct node_list {
    char **name;
    size_t *slots;
    size_t count, capacity;
    void *by_name; /* a tree of tsearch */
} node_list;

/* Adds "n0:4,n[1-3]:8,login": a list in Slurm's syntax, each name with an optional number of slots
 * (default 1). Slots of repeated names add up. Returns 0, or TOOL_FAILURE after a message. */
int nodes_parse(node_list *nodes, const char *list);

/* Finds the nodes of the options --nodes, which are in the list already, or --hostfile, else those
 * of the allocation of Slurm, PBS or LSF in which this program runs. Returns false: none is known.
 *
 * A hostfile is read as Open MPI does: one node per line with slots=N (default 1, or max_slots) and
 * max_slots=M, comments after '#' or "//" and between C's marks. Names lose their domain. A
 * repeated node without a number gets one more slot; "^NAME" removes a node; users and ports are
 * ignored. Ends the program after a message if the file is unusable: refused by all releases, or
 * read in different ways. */
bool nodes_find(node_list *nodes, const char *hostfile);

/* The runs of equal nodes in this list, and how many of `nodes` nodes it has: MPICH does not look
 * for the same node in another run. */
size_t nodes_count_runs(const size_t *node_of_rank, size_t ranks, size_t nodes, size_t *used);

void nodes_release(node_list *nodes);

/* The host of each rank, as index of nodes; their slots are not used. Zeroed: no hosts. */
typedef struct tool_hosts {
    node_list nodes;
    size_t *of_rank;
    size_t ranks, capacity;
} tool_hosts;

/* "n[0-3]:32,login": as above, in rank order; or "@FILE": one name per rank, separated by white
 * space. Ends the program after a message if the text is unusable. */
void tool_parse_hosts(const char *text, tool_hosts *hosts);

void tool_hosts_release(tool_hosts *hosts);

#endif
