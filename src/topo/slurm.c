/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's topology.conf and the output of "scontrol show topology": trees of switches, and blocks.
 */
#include "base/memory.h"
#include "base/union.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/read.h"
#include "topo/text.h"

/* Blocks that form one larger block, of an AggregatedBlock line. */
typedef struct aggregate {
    uint64_t size;
    size_t vertex;
    size_t first, last; /* its blocks are member[first] .. member[last - 1] */
} aggregate;

struct slurm_state {
    size_t *block; /* vertices, in the order of the file */
    size_t blocks, block_capacity;
    aggregate *group;
    size_t groups, group_capacity;
    size_t *member;
    size_t members, member_capacity;
    uint64_t *size; /* of BlockSizes, rising */
    size_t sizes, size_capacity;
    size_t *top; /* of each vertex: union-find of the groups that contain it so far */
};

enum key {
    SWITCH_NAME,
    BLOCK_NAME,
    AGGREGATED_BLOCK,
    BLOCK_SIZES,
    NODES,
    SWITCHES,
    BLOCK_SIZE,
    KEYS
};

static const char *const key_name[KEYS] = {
    "SwitchName", "BlockName", "AggregatedBlock", "BlockSizes", "Nodes", "Switches", "BlockSize"};

struct listing {
    reading *r;
    size_t parent; /* NO_INDEX: the last group, whose members they are */
};

void free_slurm(slurm_state *s)
{
    if (s == NULL)
        return;
    free(s->block);
    free(s->group);
    free(s->member);
    free(s->size);
    free(s->top);
    free(s);
}

/* ---- one line ---- */

/* Whether KEY= begins here: what precedes it is the '=' of an empty value. */
static bool begins_setting(const char *at)
{
    at += strcspn(at, "= \t\"");
    return *skip_blanks(at) == '=';
}

/* Passes KEY=VALUE as Slurm's own parser does: there may be blanks around '=', and blanks in a
 * quoted value. Without a value, as scontrol prints a switch without nodes: "". */
static int next_setting(reading *r, char **at, const char **key, char **value)
{
    char *start = *at, *end = start + strcspn(start, "= \t"), *equals = end + strspn(end, " \t");
    if (*equals != '=')
        return REFUSE_LINE(r, "'%.60s' where KEY=VALUE is expected", start);
    *end = '\0';
    *key = start;
    start = equals + 1 + strspn(equals + 1, " \t");
    if (begins_setting(start)) {
        *equals = '\0';
        *value = equals;
        *at = start;
        return 0;
    }
    bool quoted = *start == '"';
    if (quoted && strchr(start + 1, '"') == NULL)
        return REFUSE_LINE(r, "'%.60s' has no closing quotation mark", start);
    *value = start + quoted;
    end = *value + strcspn(*value, quoted ? "\"" : " \t");
    *at = end + (*end != '\0');
    *end = '\0';
    return 0;
}

static int keep_setting(reading *r, const char *key, char *word, char **value)
{
    for (int k = 0; k < KEYS; k++) {
        if (strcasecmp(key, key_name[k]) != 0)
            continue;
        if (value[k] != NULL)
            return REFUSE_LINE(r, "%s= is given twice", key_name[k]);
        value[k] = strcmp(word, "(null)") == 0 ? "" : word;
    }
    return 0;
}

static int split_line(reading *r, char *line, char **value)
{
    line[strcspn(line, "#")] = '\0';
    for (char *at = line + strspn(line, " \t"); *at != '\0'; at += strspn(at, " \t")) {
        const char *key = NULL;
        char *word = NULL;
        int rc = next_setting(r, &at, &key, &word);
        if (rc == 0)
            rc = keep_setting(r, key, word, value);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static bool has_value(const char *value)
{
    return value != NULL && *value != '\0';
}

static int describe_vertex(reading *r, const char *name, size_t *v)
{
    int rc = fabric_vertex(r->fabric, name, strlen(name), r->line, v);
    if (rc != 0)
        return rc;
    vertex *named = &r->fabric->vertex[*v];
    if (*name == '\0')
        return REFUSE_LINE(r, "an empty name");
    if (named->described != 0)
        return REFUSE_LINE(r, "%.80s is described a second time, first on line %zu", name,
                           named->described);
    named->described = r->line;
    named->kind = KIND_SWITCH;
    return 0;
}

static int link_under(const struct listing *list, size_t child)
{
    if (list->parent == child)
        return REFUSE_LINE(list->r, "%.80s is under itself", fabric_key(list->r->fabric, child));
    return fabric_add_arc(list->r->fabric, (arc){list->parent, child, list->r->line, 0, 0});
}

static int add_listed_switch(const char *name, void *context)
{
    const struct listing *list = context;
    slurm_state *s = list->r->slurm;
    size_t v;
    int rc = fabric_vertex(list->r->fabric, name, strlen(name), list->r->line, &v);
    if (rc == 0)
        rc = base_reserve(&s->member, &s->member_capacity, s->members + 1, sizeof *s->member);
    if (rc != 0)
        return rc;
    list->r->fabric->vertex[v].kind = KIND_SWITCH;
    if (list->parent != NO_INDEX)
        return link_under(list, v);
    s->member[s->members++] = v;
    return 0;
}

static int add_listed_node(const char *name, void *context)
{
    const struct listing *list = context;
    topo_fabric *f = list->r->fabric;
    size_t v;
    int rc = fabric_host(f, name, list->r->line, &v);
    if (rc == 0 && f->hosts.count > TOPO_HOSTLIST_LIMIT)
        return matrix_refuse(list->r->error, 0, "more than %zu hosts", TOPO_HOSTLIST_LIMIT);
    return rc == 0 ? link_under(list, v) : rc;
}

static int read_list(reading *r, const char *names, int (*take)(const char *, void *),
                     size_t parent)
{
    struct listing list = {r, parent};
    int rc = topo_expand_hostlist(names, take, &list, r->error);
    if (rc == -EBADMSG)
        r->error->line = r->line;
    return rc;
}

/* Reads a switch or block. "scontrol show topology" lists for a switch above others also all nodes
 * below, which are ignored. A switch may have nothing below it: nodes that are powered down are not
 * listed. */
static int read_vertex(reading *r, char *const *value)
{
    slurm_state *s = r->slurm;
    bool is_switch = value[SWITCH_NAME] != NULL;
    size_t v;
    int rc = describe_vertex(r, value[is_switch ? SWITCH_NAME : BLOCK_NAME], &v);
    if (rc == 0)
        rc = base_reserve(&s->block, &s->block_capacity, s->blocks + 1, sizeof *s->block);
    if (rc != 0)
        return rc;
    if (!is_switch)
        s->block[s->blocks++] = v;
    else if (has_value(value[SWITCHES]))
        return read_list(r, value[SWITCHES], add_listed_switch, v);
    return has_value(value[NODES]) ? read_list(r, value[NODES], add_listed_node, v) : 0;
}

static int read_size(reading *r, const char **at, uint64_t *size)
{
    if (!scan_number(at, UINT32_MAX, size) || *size == 0)
        return REFUSE_LINE(r, "'%.40s' where a block size is expected", *at);
    return 0;
}

/* Adds an aggregate, whose blocks are appended to s->member[], up to its `last`. */
static int begin_aggregate(reading *r, uint64_t size, const char *key)
{
    slurm_state *s = r->slurm;
    aggregate g = {.size = size, .first = s->members};
    int rc = fabric_vertex(r->fabric, key, strlen(key), r->line, &g.vertex);
    if (rc == 0)
        rc = base_reserve(&s->group, &s->group_capacity, s->groups + 1, sizeof *s->group);
    if (rc != 0)
        return rc;
    r->fabric->vertex[g.vertex].kind = KIND_SWITCH;
    r->fabric->vertex[g.vertex].described = r->line;
    s->group[s->groups++] = g;
    return 0;
}

static int read_aggregate(reading *r, char *const *value)
{
    uint64_t size;
    const char *at = value[BLOCK_SIZE] != NULL ? value[BLOCK_SIZE] : "";
    char key[64];
    snprintf(key, sizeof key, "aggregate on line %zu", r->line);
    int rc = read_size(r, &at, &size);
    if (rc == 0)
        rc = begin_aggregate(r, size, key);
    if (rc == 0)
        rc = read_list(r, value[AGGREGATED_BLOCK], add_listed_switch, NO_INDEX);
    if (rc == 0)
        r->slurm->group[r->slurm->groups - 1].last = r->slurm->members;
    return rc;
}

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int check_sizes(reading *r)
{
    slurm_state *s = r->slurm;
    qsort(s->size, s->sizes, sizeof *s->size, compare_sizes);
    for (size_t k = 1; k < s->sizes; k++)
        if (s->size[k] % s->size[k - 1] != 0)
            return REFUSE_LINE(r, "block size %llu is no multiple of %llu",
                               (unsigned long long)s->size[k], (unsigned long long)s->size[k - 1]);
    return 0;
}

static int read_block_sizes(reading *r, const char *at)
{
    slurm_state *s = r->slurm;
    if (s->sizes > 0)
        return REFUSE_LINE(r, "a second line of BlockSizes");
    do {
        uint64_t size;
        int rc = read_size(r, &at, &size);
        if (rc == 0)
            rc = base_reserve(&s->size, &s->size_capacity, s->sizes + 1, sizeof *s->size);
        if (rc != 0)
            return rc;
        s->size[s->sizes++] = size;
    } while (scan_text(&at, ","));
    if (*at != '\0')
        return REFUSE_LINE(r, "'%.40s' where ',' is expected between block sizes", at);
    return check_sizes(r);
}

int read_slurm_line(reading *r, char *line)
{
    char *value[KEYS] = {NULL};
    if (r->slurm == NULL)
        r->slurm = calloc(1, sizeof *r->slurm);
    if (r->slurm == NULL)
        return -ENOMEM;
    int rc = split_line(r, line, value);
    if (rc != 0)
        return rc;
    if (value[SWITCH_NAME] != NULL || value[BLOCK_NAME] != NULL)
        return read_vertex(r, value);
    if (value[AGGREGATED_BLOCK] != NULL)
        return read_aggregate(r, value);
    if (value[BLOCK_SIZES] != NULL)
        return read_block_sizes(r, value[BLOCK_SIZES]);
    return REFUSE_LINE(r, "neither SwitchName= nor BlockName= nor BlockSizes=");
}

/* ---- all lines ---- */

size_t slurm_members(const reading *r)
{
    return r->slurm != NULL ? r->slurm->members : 0;
}

static int check_blocks_described(const reading *r)
{
    const topo_fabric *f = r->fabric;
    for (size_t v = 0; v < f->keys.count; v++)
        if (f->vertex[v].kind == KIND_SWITCH && f->vertex[v].described == 0)
            return matrix_refuse(r->error, f->vertex[v].first_line,
                                 "%.80s is named here, but no line describes it", fabric_key(f, v));
    return 0;
}

/* BlockSizes: `blocks_each` consecutive blocks form one. */
static int group_by_size(reading *r, uint64_t blocks_each)
{
    slurm_state *s = r->slurm;
    for (size_t first = 0; first < s->blocks; first += (size_t)blocks_each) {
        char key[80];
        snprintf(key, sizeof key, "aggregate of %llu from block %zu",
                 (unsigned long long)blocks_each, first);
        int rc = begin_aggregate(r, blocks_each, key);
        if (rc == 0)
            rc = base_reserve(&s->member, &s->member_capacity, s->members + s->blocks,
                              sizeof *s->member);
        if (rc != 0)
            return rc;
        for (size_t k = first; k < s->blocks && k - first < blocks_each; k++)
            s->member[s->members++] = s->block[k];
        s->group[s->groups - 1].last = s->members;
    }
    return 0;
}

static int group_by_sizes(reading *r)
{
    slurm_state *s = r->slurm;
    for (size_t k = 1; k < s->sizes; k++) {
        int rc = s->size[k] > s->size[k - 1] ? group_by_size(r, s->size[k] / s->size[0]) : 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int compare_groups(const void *a, const void *b)
{
    const aggregate *x = a, *y = b;
    int order = (x->size > y->size) - (x->size < y->size);
    return order != 0 ? order : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Small groups first, so that larger groups contain them. */
static int link_groups(reading *r)
{
    slurm_state *s = r->slurm;
    size_t vertices = r->fabric->keys.count;
    s->top = calloc(vertices | 1, sizeof *s->top);
    if (s->top == NULL)
        return -ENOMEM;
    for (size_t v = 0; v < vertices; v++)
        s->top[v] = v;
    qsort(s->group, s->groups, sizeof *s->group, compare_groups);
    for (size_t g = 0; g < s->groups; g++)
        for (size_t k = s->group[g].first; k < s->group[g].last; k++) {
            size_t top = base_root(s->top, s->member[k]), group = s->group[g].vertex;
            size_t line = r->fabric->vertex[group].first_line;
            s->top[top] = group;
            int rc = fabric_add_arc(r->fabric, (arc){group, top, line, 0, 0});
            if (rc != 0)
                return rc;
        }
    return 0;
}

int finish_slurm(reading *r)
{
    slurm_state *s = r->slurm;
    int rc = check_blocks_described(r);
    if (rc == 0 && s->groups == 0)
        rc = group_by_sizes(r);
    if (rc == 0 && s->groups > 0)
        rc = link_groups(r);
    return rc == 0 ? join_trees(r->fabric, r->error) : rc;
}
