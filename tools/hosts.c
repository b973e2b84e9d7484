/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a job as an option names them. */
#define _GNU_SOURCE /* tdestroy */
#include "hosts.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tool.h"
#include "topo/topo.h"

enum { MOST_SLOTS = 1 << 20 };

struct known_host {
    char *name; /* owned by tool_hosts */
    size_t host;
};

struct parsing {
    tool_hosts *hosts;
    size_t host_room, rank_room;
    void *by_name; /* a tree of tsearch */
    int status;
};

static int compare(const void *a, const void *b)
{
    const struct known_host *x = a, *y = b;
    return strcasecmp(x->name, y->name);
}

static void *make_room(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 64 : *room * 2;
    return tool_grow(array, *room - 1, size);
}

static size_t number_of(struct parsing *p, const char *name)
{
    tool_hosts *h = p->hosts;
    struct known_host wanted = {(char *)(size_t)name, h->count};
    void *found = tfind(&wanted, &p->by_name, compare);
    if (found != NULL)
        return (*(struct known_host *const *)found)->host;
    struct known_host *entry = tool_allocate(1, sizeof *entry);
    *entry = (struct known_host){tool_allocate(strlen(name) + 1, 1), h->count};
    strcpy(entry->name, name);
    if (tsearch(entry, &p->by_name, compare) == NULL)
        exit(tool_fail("out of memory"));
    h->host = make_room(h->host, h->count, &p->host_room, sizeof *h->host);
    h->host[h->count] = entry->name;
    return h->count++;
}

static void add_ranks(struct parsing *p, const char *name, size_t slots)
{
    tool_hosts *h = p->hosts;
    size_t host = number_of(p, name);
    for (; slots > 0; slots--) {
        h->of_rank = make_room(h->of_rank, h->ranks, &p->rank_room, sizeof *h->of_rank);
        h->of_rank[h->ranks++] = host;
    }
}

/* "NAME" or "NAME:SLOTS". */
static int take(const char *text, void *context)
{
    struct parsing *p = context;
    char name[300];
    size_t slots = 1, length = strcspn(text, ":");
    if (length == 0 || length >= sizeof name ||
        (text[length] == ':' && tool_number(text + length + 1, 1, MOST_SLOTS, &slots) != 0))
        return p->status = tool_fail("'%s' is not a host, or a host with a number of slots", text);
    memcpy(name, text, length);
    name[length] = '\0';
    add_ranks(p, name, slots);
    return 0;
}

static int parse_list(struct parsing *p, const char *list)
{
    matrix_error error;
    int rc = topo_expand_hostlist(list, take, p, &error);
    if (rc != 0 && p->status == 0)
        return tool_fail("'%s': %s", list, error.reason);
    return p->status;
}

static int read_names(struct parsing *p, const char *file)
{
    char name[257];
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    while (fscanf(stream, "%256s", name) == 1)
        add_ranks(p, name, 1);
    int failed = ferror(stream);
    fclose(stream);
    if (failed)
        return tool_fail("%s: cannot be read", file);
    return p->hosts->ranks > 0 ? 0 : tool_fail("%s: no hosts in it", file);
}

int tool_parse_hosts(const char *text, tool_hosts *hosts)
{
    struct parsing p = {.hosts = hosts};
    *hosts = (tool_hosts){0};
    int status = *text == '@' ? read_names(&p, text + 1) : parse_list(&p, text);
    tdestroy(p.by_name, free);
    return status;
}

void tool_hosts_release(tool_hosts *hosts)
{
    for (size_t n = 0; n < hosts->count; n++)
        free(hosts->host[n]);
    free(hosts->host);
    free(hosts->of_rank);
    *hosts = (tool_hosts){0};
}
