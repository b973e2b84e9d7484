/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodes.h"
#include "tool.h"
#include "topo/topo.h"

/* Limits that catch mistyped numbers. */
enum { MOST_SLOTS = 1 << 20, MOST_RANKS = 1 << 26 };

struct host_parser {
    tool_hosts *hosts;
    node_list known; /* the hosts so far */
    size_t rank_capacity;
    int status;
};

/* Returns 0, or p->status after a message. */
static int add_ranks(struct host_parser *p, const char *name, size_t slots)
{
    tool_hosts *h = p->hosts;
    if (slots > MOST_RANKS - h->ranks)
        return p->status = tool_fail("more than %d ranks on the hosts", MOST_RANKS);
    size_t host = nodes_number(&p->known, name);
    tool_reserve(&h->of_rank, &p->rank_capacity, h->ranks + slots, sizeof *h->of_rank);
    for (; slots > 0; slots--)
        h->of_rank[h->ranks++] = host;
    return 0;
}

static int add_host(const char *text, void *context)
{
    struct host_parser *p = context;
    char name[LONGEST_NODE_NAME + 1];
    size_t slots;
    if (!nodes_split(text, 1, MOST_SLOTS, name, &slots))
        return p->status = tool_fail("'%s' is not a host, or a host with a number of slots", text);
    return add_ranks(p, name, slots);
}

static int parse_host_list(struct host_parser *p, const char *list)
{
    matrix_error error;
    int rc = topo_expand_hostlist(list, add_host, p, &error);
    if (rc != 0 && p->status == 0)
        return tool_fail("'%s': %s", list, error.reason);
    return p->status;
}

static int add_host_line(struct host_parser *p, const char *file, size_t line, char *text)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    for (char *name = strtok_r(text, blanks, &rest); name != NULL;
         name = strtok_r(NULL, blanks, &rest)) {
        if (strlen(name) > LONGEST_NODE_NAME)
            return tool_fail("%s:%zu: a host name of more than %d characters", file, line,
                             LONGEST_NODE_NAME);
        if (add_ranks(p, name, 1) != 0)
            return p->status;
    }
    return 0;
}

static int read_host_file(struct host_parser *p, const char *file)
{
    char *text = NULL;
    size_t capacity = 0, line = 0;
    ssize_t length;
    int status = 0;
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    while (status == 0 && (length = getline(&text, &capacity, stream)) >= 0) {
        line++;
        status = strlen(text) == (size_t)length ? add_host_line(p, file, line, text)
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
    struct host_parser p = {.hosts = hosts};
    *hosts = (tool_hosts){0};
    int status = *text == '@' ? read_host_file(&p, text + 1) : parse_host_list(&p, text);
    hosts->host = p.known.name;
    hosts->count = p.known.count;
    p.known.name = NULL;
    p.known.count = 0;
    nodes_release(&p.known);
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
