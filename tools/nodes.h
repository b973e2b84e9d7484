/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and their slots, from an option or a hostfile.
 */
#ifndef TOOLS_NODES_H
#define TOOLS_NODES_H

#include <stdbool.h>
#include <stddef.h>

/* Characters of a name. */
enum { LONGEST_NODE_NAME = 255 };

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

/* Adds the nodes of a hostfile, read as Open MPI does: one per line with slots=N (default 1, or
 * max_slots) and max_slots=M, comments after '#'. A repeated node without a number gets one more
 * slot; "^NAME" removes a node; users and ports are ignored. Returns 0, or TOOL_FAILURE after a
 * message. */
int nodes_read(node_list *nodes, const char *file);

/* Number of the node of that name, ignoring case. Adds it without slots if it is new. */
size_t nodes_number(node_list *nodes, const char *name);

/* Splits "NAME" (1 slot) or "NAME:SLOTS"; false if the name is empty or too long or SLOTS is not a
 * number from least to most. */
bool nodes_split(const char *text, size_t least, size_t most, char name[LONGEST_NODE_NAME + 1],
                 size_t *slots);

void nodes_release(node_list *nodes);

#endif
