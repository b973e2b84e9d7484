/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and their slots, as an option or a hostfile names them.
 */
#ifndef TOOLS_NODES_H
#define TOOLS_NODES_H

#include <stddef.h>

/* name[n] has slots[n] slots; nodes are numbered as they were named. Zeroed: no nodes. */
typedef struct node_list {
    char **name;
    size_t *slots;
    size_t count, room;
    void *by_name; /* a tree of tsearch */
} node_list;

/* Adds "n0:4,n[1-3]:8,login": lists as Slurm writes them, each name with so many slots (1). A node that is
 * named again gets more. 0, or TOOL_FAILURE after a message. */
int nodes_parse(node_list *nodes, const char *list);

/* The nodes of a hostfile as Open MPI reads it: one on a line with slots=N (1, or max_slots) and
 * max_slots=M, comments behind '#'. A node that is there again without a number gets one more slot; "^NAME"
 * takes a node out; users and ports are passed over. 0, or TOOL_FAILURE after a message. */
int nodes_read(node_list *nodes, const char *file);

void nodes_release(node_list *nodes);

#endif
