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

/* More is a slip of the pen. */
enum { MOST_SLOTS = 1 << 20, MOST_RANKS = 1 << 26, LONGEST_NAME = 255 };

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

static size_t number_of(struct parsing *p, const char *name)
{
    tool_hosts *h = p->hosts;
    struct known_host wanted = {(char *)(size_t)name, h->count};
    void *found = tfind(&wanted, &p->by_name, compare);
    if (found != NULL)
        return (*(struct known_host *const *)found)->host;
    struct known_host *entry = tool_allocate(1, sizeof *entry);
    *entry = (struct known_host){tool_copy(name), h->count};
    if (tsearch(entry, &p->by_name, compare) == NULL)
        exit(tool_fail("out of memory"));
    h->host = tool_room(h->host, h->count, &p->host_room, sizeof *h->host);
    h->host[h->count] = entry->name;
    return h->count++;
}

/* 0, or what ended it. */
static int add_ranks(struct parsing *p, const char *name, size_t slots)
{
    tool_hosts *h = p->hosts;
    if (slots > MOST_RANKS - h->ranks)
        return p->status = tool_fail("more than %d ranks on the hosts", MOST_RANKS);
    size_t host = number_of(p, name);
    for (; slots > 0; slots--) {
        h->of_rank = tool_room(h->of_rank, h->ranks, &p->rank_room, sizeof *h->of_rank);
        h->of_rank[h->ranks++] = host;
    }
    return 0;
}

/* "NAME" or "NAME:SLOTS". */
static int take(const char *text, void *context)
{
    struct parsing *p = context;
    char name[LONGEST_NAME + 1];
    size_t slots = 1, length = strcspn(text, ":");
    if (length == 0 || length >= sizeof name ||
        (text[length] == ':' && tool_number(text + length + 1, 1, MOST_SLOTS, &slots) != 0))
        return p->status = tool_fail("'%s' is not a host, or a host with a number of slots", text);
    memcpy(name, text, length);
    name[length] = '\0';
    return add_ranks(p, name, slots);
}

static int parse_list(struct parsing *p, const char *list)
{
    matrix_error error;
    int rc = topo_expand_hostlist(list, take, p, &error);
    if (rc != 0 && p->status == 0)
        return tool_fail("'%s': %s", list, error.reason);
    return p->status;
}

static int take_line(struct parsing *p, const char *file, size_t line, char *text)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    for (char *name = strtok_r(text, blanks, &rest); name != NULL; name = strtok_r(NULL, blanks, &rest)) {
        if (strlen(name) > LONGEST_NAME)
            return tool_fail("%s:%zu: a host name of more than %d characters", file, line, LONGEST_NAME);
        if (add_ranks(p, name, 1) != 0)
            return p->status;
    }
    return 0;
}

static int read_names(struct parsing *p, const char *file)
{
    char *text = NULL;
    size_t room = 0, line = 0;
    ssize_t length;
    int status = 0;
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    while (status == 0 && (length = getline(&text, &room, stream)) >= 0) {
        line++;
        status = strlen(text) == (size_t)length ? take_line(p, file, line, text)
                                                : tool_fail("%s:%zu: a NUL byte", file, line);
    }
    if (status == 0 && ferror(stream))
        status = tool_fail("%s: %s", file, strerror(errno));
    if (status == 0 && p->hosts->ranks == 0)
        status = tool_fail("%s: no hosts in it", file);
    fclose(stream);
    free(text);
    return status;
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
