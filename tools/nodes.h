/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and their slots, as an option or a hostfile names them.
 */
#ifndef TOOLS_NODES_H
#define TOOLS_NODES_H

#include <stdbool.h>
#include <stddef.h>

/* Characters of a name. */
enum { LONGEST_NODE_NAME = 255 };

/* name[n] has slots[n] slots; nodes are numbered as they were named. Zeroed: no nodes. */
typedef struct node_list {
    char **name;
    size_t *slots;
    size_t count, room;
    void *by_name; /* a tree of tsearch */
} node_list;

/* Adds "n0:4,n[1-3]:8,login": lists as Slurm writes them, each name with so many slots (1). A node
 * that is named again gets more. 0, or TOOL_FAILURE after a message. */
int nodes_parse(node_list *nodes, const char *list);

/* The nodes of a hostfile as Open MPI reads it: one on a line with slots=N (1, or max_slots) and
 * max_slots=M, comments behind '#'. A node that is there again without a number gets one more slot;
 * "^NAME" takes a node out; users and ports are passed over. 0, or TOOL_FAILURE after a message. */
int nodes_read(node_list *nodes, const char *file);

/* The number of the node of that name, without regard to case. A new one has no slots. */
size_t nodes_number(node_list *nodes, const char *name);

/* Whether the text is "NAME", with 1 slot, or "NAME:SLOTS", with as many slots as are allowed. */
bool nodes_split(const char *text, size_t least, size_t most, char name[LONGEST_NODE_NAME + 1],
                 size_t *slots);

void nodes_release(node_list *nodes);

#endif
