/* SPDX-License-Identifier: BSD-3-Clause */
#include "dla/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct dla_layout {
    storage_layout *layout;
    size_t *node_of_target;
} dla_layout;

/* The targets of all layouts whose host is known. */
typedef struct target_hosts {
    const char **name;
    size_t **node; /* where the node of each is to be */
    size_t count;
} target_hosts;

typedef struct finding {
    const dla_servers_input *in;
    dla_servers *servers;
    predict_layout *layout; /* servers->known.layout */
    matrix_error *error;
} finding;

void dla_servers_release(dla_servers *servers)
{
    for (size_t k = 0; k < servers->known.layouts; k++) {
        storage_free(servers->own[k].layout);
        free(servers->own[k].node_of_target);
    }
    free(servers->own);
    free((void *)(uintptr_t)servers->known.layout);
    topo_release(&servers->topology);
    *servers = (dla_servers){0};
}

/* ---- layouts ---- */

/* *layout: the file of targets; NULL: there is none. */
static int read_targets(const finding *f, storage_layout **layout)
{
    *layout = NULL;
    if (f->in->targets == NULL)
        return 0;
    rewind(f->in->targets);
    return storage_read_targets(f->in->targets, layout, f->error);
}

/* Gives the recorded layout the hosts of the table. */
static int read_recorded(const finding *f, const view_layout *recorded, const storage_layout *table,
                         storage_layout **layout, bool *in_record)
{
    storage_layout *read = NULL;
    int rc = storage_read_recorded(recorded->text, recorded->line, &read, f->error);

    *in_record = rc != 0 || table == NULL;
    if (rc == 0 && table != NULL)
        rc = storage_copy_hosts(read, table, f->error);
    if (rc == 0)
        *layout = read;
    else
        storage_free(read);
    return rc;
}

/* *layout: NULL: not known. */
static int find_layout(const finding *f, const access_pattern *pattern, storage_layout **layout,
                       bool *in_record)
{
    const view_layout *recorded = view_file_layout(f->in->file, pattern->file);
    storage_layout *table;
    bool takes_table = false;
    int rc = read_targets(f, &table);

    if (rc != 0)
        return rc;
    *layout = NULL;
    if (table != NULL && storage_extents(table) > 0) {
        takes_table = true;
    } else if (recorded != NULL) {
        rc = read_recorded(f, recorded, table, layout, in_record);
    } else if (table != NULL && pattern->division.stripe > 0) {
        rc = storage_stripe(table, pattern->division.stripe, (size_t)pattern->division.targets,
                            f->error);
        takes_table = true;
    }
    if (rc == 0 && takes_table)
        *layout = table;
    else
        storage_free(table);
    return rc;
}

static int add_layout(finding *f, const access_pattern *pattern, bool *in_record)
{
    predict_servers *known = &f->servers->known;
    dla_layout *own = &f->servers->own[known->layouts];
    int rc = find_layout(f, pattern, &own->layout, in_record);

    if (rc != 0 || own->layout == NULL)
        return rc;
    own->node_of_target = base_zeroed(storage_targets(own->layout), sizeof(size_t), &rc);
    f->layout[known->layouts++] = (predict_layout){pattern->file, own->layout, own->node_of_target};
    return rc;
}

static int find_layouts(finding *f, bool *in_record)
{
    const view_file *file = f->in->file;
    int rc = 0;

    f->layout = base_zeroed(file->patterns, sizeof *f->layout, &rc);
    f->servers->known.layout = f->layout;
    f->servers->own = base_zeroed(file->patterns, sizeof *f->servers->own, &rc);
    for (size_t k = 0; k < file->patterns && rc == 0; k++)
        if (predict_find_layout(&f->servers->known, file->pattern[k].file) == NULL)
            rc = add_layout(f, &file->pattern[k], in_record);
    return rc == 0 && f->servers->known.layouts == 0 ? -ENODATA : rc;
}

/* ---- hosts ---- */

static size_t count_targets(const dla_servers *servers)
{
    size_t count = 0;

    for (size_t k = 0; k < servers->known.layouts; k++)
        count += storage_targets(servers->own[k].layout);
    return count;
}

static void list_hosts(const dla_servers *servers, target_hosts *hosts)
{
    for (size_t k = 0; k < servers->known.layouts; k++) {
        const dla_layout *own = &servers->own[k];

        for (size_t t = 0; t < storage_targets(own->layout); t++) {
            own->node_of_target[t] = STORAGE_NONE;
            hosts->name[hosts->count] = storage_target_host(own->layout, t);
            hosts->node[hosts->count] = &own->node_of_target[t];
            hosts->count += hosts->name[hosts->count] != NULL;
        }
    }
}

/* The topology of the nodes and the `others` behind them: see topo_extension. */
static int extend_topology(void *context, const char **name, size_t others, size_t *node,
                           matrix_error *error)
{
    finding *f = context;
    const dla_servers_input *in = f->in;
    topo *t = &f->servers->topology;
    int rc = 0;

    if (in->fabric != NULL) {
        rc = topo_extend(in->fabric, name, in->nodes, others, node, t, error);
        if (rc == 0 && t->nodes == 0)
            rc = topo_from_fabric(in->fabric, name, in->nodes, t, error);
        return rc;
    }
    if (in->network->levels > 0)
        return topo_from_levels(t, in->nodes, in->network->levels, in->network->group_of_node);
    topo_flat(t, in->nodes + others);
    for (size_t k = 0; k < others; k++)
        node[k] = in->nodes + k;
    return 0;
}

static int set_nodes(const finding *f, const target_hosts *hosts, const size_t *found)
{
    for (size_t k = 0; k < hosts->count; k++) {
        *hosts->node[k] = found[k];
        if (found[k] != STORAGE_NONE || f->in->targets == NULL || f->in->fabric == NULL)
            continue;
        matrix_refuse(f->error, 0,
                      "the distance of host %.100s is not known: it is neither a node of the job "
                      "nor in the topology",
                      hosts->name[k]);
        return -ENXIO;
    }
    return 0;
}

static int find_nodes(finding *f)
{
    const topo_extension by = {extend_topology, f};
    size_t targets = count_targets(f->servers);
    int rc = 0;
    target_hosts hosts = {base_zeroed(targets, sizeof *hosts.name, &rc),
                          base_zeroed(targets, sizeof *hosts.node, &rc), 0};
    size_t *found = base_zeroed(targets, sizeof *found, &rc);

    if (rc == 0) {
        list_hosts(f->servers, &hosts);
        rc = topo_place_hosts(f->in->node, f->in->nodes, hosts.name, hosts.count, &by, found,
                              f->error);
    }
    if (rc == 0)
        rc = set_nodes(f, &hosts, found);
    free(hosts.name);
    free(hosts.node);
    free(found);
    return rc;
}

int dla_servers_find(const dla_servers_input *in, dla_servers *servers, bool *in_record,
                     matrix_error *error)
{
    dla_servers made = {.known = {.weight = in->weight}};
    finding f = {.in = in, .servers = &made, .error = error};
    int rc;

    *in_record = in->targets == NULL;
    rc = find_layouts(&f, in_record);
    if (rc == 0)
        rc = find_nodes(&f);
    if (rc == 0)
        *servers = made;
    else
        dla_servers_release(&made);
    return rc;
}
