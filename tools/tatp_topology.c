/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp topology: what a description of a network says. */
#include "tatp.h"

#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "tool.h"
#include "topo/topo.h"

/* So many hosts get a table of their hops. */
enum { SMALL = 16 };

struct topology_options {
    const char *file;
    const char *hosts;
    bool json;
};

/* What is printed. */
struct picture {
    topo_summary summary;
    const char **present, **missing; /* names of others */
    size_t present_count, missing_count;
    topo topo;
    size_t *pairs; /* of each number of hops: (from, to) */
};

static error_t parse_topology_option(int key, char *arg, struct argp_state *state)
{
    struct topology_options *options = state->input;
    switch (key) {
    case 'H':
        options->hosts = arg;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        options->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file is given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp topology_argp = {
    .options =
        (const struct argp_option[]){
            {"hosts", 'H', "LIST", 0, "Only these hosts, as n[0-3]:32,login or @FILE (default: all in the file)", 0},
            {"json", 'j', NULL, 0, "Print JSON", 0},
            {0},
        },
    .parser = parse_topology_option,
    .args_doc = "FILE",
    .doc = "Prints what a file says about the network: hops between hosts, and the switches between them.",
};

/* ---- what there is ---- */

/* A file of hops that names no rows: they are called by their numbers. */
static void number_rows(tool_hosts *hosts, size_t rows)
{
    hosts->host = tool_allocate(rows, sizeof *hosts->host);
    for (; hosts->count < rows; hosts->count++) {
        hosts->host[hosts->count] = tool_allocate(24, 1);
        snprintf(hosts->host[hosts->count], 24, "%zu", hosts->count);
    }
}

static void name_all(const topo_fabric *fabric, tool_hosts *hosts)
{
    size_t count = topo_fabric_hosts(fabric);
    hosts->host = tool_allocate(count, sizeof *hosts->host);
    for (; hosts->count < count; hosts->count++) {
        const char *name = topo_fabric_host(fabric, hosts->count);
        hosts->host[hosts->count] = tool_allocate(strlen(name) + 1, 1);
        strcpy(hosts->host[hosts->count], name);
    }
}

static int find_present(const char *file, const topo_fabric *fabric, const tool_hosts *hosts,
                        struct picture *p)
{
    matrix_error error = {0, ""};
    bool named = topo_fabric_hosts(fabric) > 0 || p->summary.rows == 0;
    size_t *found = tool_allocate(hosts->count, sizeof *found);
    p->present = tool_allocate(hosts->count, sizeof *p->present);
    p->missing = tool_allocate(hosts->count, sizeof *p->missing);
    int rc = named ? topo_find_hosts(fabric, (const char *const *)hosts->host, hosts->count, found, &error) : 0;
    for (size_t n = 0; rc == 0 && n < hosts->count; n++)
        if (found[n] == SIZE_MAX)
            p->missing[p->missing_count++] = hosts->host[n];
        else
            p->present[p->present_count++] = hosts->host[n];
    free(found);
    return rc == 0 ? 0 : tool_fail_reading(file, rc, &error);
}

static void count_pairs(struct picture *p)
{
    const topo *t = &p->topo;
    size_t *members = tool_allocate(t->places, sizeof *members);
    p->pairs = tool_allocate((size_t)TOPO_UNREACHED + 1, sizeof *p->pairs);
    for (size_t n = 0; n < t->nodes; n++)
        members[t->place_of_node[n]]++;
    for (size_t i = 0; i < t->places; i++)
        for (size_t k = 0; k < t->places; k++)
            p->pairs[t->between[i * t->places + k]] += members[i] * (i == k ? members[k] - 1 : members[k]);
    free(members);
}

/* Switches on the way from a host up to where all hosts meet; 0: the links are no tree. */
static size_t depth(const topo *t)
{
    size_t most = 0;
    for (size_t n = 0; t->tree.vertices > 0 && n < t->nodes; n++) {
        size_t levels = 0;
        for (size_t v = n; v != t->tree.parent[v]; v = t->tree.parent[v])
            levels++;
        most = levels > most ? levels : most;
    }
    return most;
}

/* ---- printing ---- */

static void print_hops_table(const struct picture *p)
{
    printf("# hops from each host (row) to each\n");
    for (size_t n = 0; n < p->present_count; n++) {
        fputs(p->present[n], stdout);
        for (size_t m = 0; m < p->present_count; m++)
            printf(" %g", topo_hops(&p->topo, n, m, n == m));
        putchar('\n');
    }
}

static void print_text(const struct picture *p)
{
    const topo_summary *s = &p->summary;
    printf("format %s\nhosts %zu\nunnamed-adapters %zu\nswitches %zu\nlinks %zu\nforwarding-tables %zu\n"
           "traces %zu\n", s->format, s->hosts, s->unnamed, s->switches, s->links, s->routed, s->traces);
    if (s->joined)
        printf("joined below a switch that no line names\n");
    if (p->topo.tree.vertices > 0)
        printf("levels %zu\n", depth(&p->topo));
    printf("chosen %zu\nplaces %zu\n", p->present_count, p->topo.places);
    for (size_t k = 0; k < p->missing_count; k++)
        printf("missing %s\n", p->missing[k]);
    printf("# hops pairs-of-hosts\n");
    for (size_t hops = 0; hops <= TOPO_UNREACHED; hops++)
        if (p->pairs[hops] > 0)
            printf("%zu %zu\n", hops, p->pairs[hops]);
    if (p->present_count <= SMALL)
        print_hops_table(p);
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c >= 0x7f)
            printf("\\u%04x", c);
        else
            printf(c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putchar('"');
}

static void print_names(const char *key, const char *const *name, size_t count)
{
    printf(",\"%s\":[", key);
    for (size_t k = 0; k < count; k++) {
        fputs(k > 0 ? "," : "", stdout);
        print_quoted(name[k]);
    }
    putchar(']');
}

static void print_json_distances(const struct picture *p)
{
    const char *comma = "";
    printf(",\"distances\":[");
    for (size_t hops = 0; hops <= TOPO_UNREACHED; hops++)
        if (p->pairs[hops] > 0) {
            printf("%s{\"hops\":%zu,\"pairs\":%zu}", comma, hops, p->pairs[hops]);
            comma = ",";
        }
    putchar(']');
}

static void print_json_table(const struct picture *p)
{
    print_names("chosen", p->present, p->present_count);
    printf(",\"hops\":[");
    for (size_t n = 0; n < p->present_count; n++) {
        printf("%s[", n > 0 ? "," : "");
        for (size_t m = 0; m < p->present_count; m++)
            printf("%s%g", m > 0 ? "," : "", topo_hops(&p->topo, n, m, n == m));
        putchar(']');
    }
    putchar(']');
}

static void print_json(const struct picture *p)
{
    const topo_summary *s = &p->summary;
    printf("{\"format\":");
    print_quoted(s->format);
    printf(",\"hosts\":%zu,\"unnamed_adapters\":%zu,\"switches\":%zu,\"links\":%zu,\"forwarding_tables\":%zu,"
           "\"traces\":%zu,\"joined\":%s,\"depth\":%zu,\"places\":%zu", s->hosts, s->unnamed, s->switches,
           s->links, s->routed, s->traces, s->joined ? "true" : "false", depth(&p->topo), p->topo.places);
    print_names("missing", p->missing, p->missing_count);
    print_json_distances(p);
    if (p->present_count <= SMALL)
        print_json_table(p);
    printf("}\n");
}

/* ---- the command ---- */

static int draw(const struct topology_options *options, const topo_fabric *fabric, const tool_hosts *hosts)
{
    struct picture p = {.present_count = 0};
    matrix_error error = {0, ""};
    topo_fabric_summary(fabric, &p.summary);
    int status = find_present(options->file, fabric, hosts, &p);
    if (status == 0) {
        int rc = topo_from_fabric(fabric, p.present, p.present_count, &p.topo, &error);
        status = rc == 0 ? 0 : tool_fail_reading(options->file, rc, &error);
    }
    if (status == 0) {
        count_pairs(&p);
        (options->json ? print_json : print_text)(&p);
        if (p.missing_count > 0)
            status = tool_fail("%s: %zu of %zu hosts are not in the file, %s first", options->file,
                               p.missing_count, hosts->count, p.missing[0]);
    }
    topo_release(&p.topo);
    free(p.pairs);
    free(p.present);
    free(p.missing);
    return status;
}

static int read_fabric(const char *file, topo_fabric **fabric)
{
    matrix_error error;
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = topo_fabric_read(stream, fabric, &error);
    fclose(stream);
    return rc == 0 ? 0 : tool_fail_reading(file, rc, &error);
}

static int choose_hosts(const struct topology_options *options, const topo_fabric *fabric, tool_hosts *hosts)
{
    topo_summary summary;
    if (options->hosts != NULL)
        return tool_parse_hosts(options->hosts, hosts);
    topo_fabric_summary(fabric, &summary);
    if (summary.hosts == 0 && summary.rows > 0)
        number_rows(hosts, summary.rows);
    else
        name_all(fabric, hosts);
    return 0;
}

int run_topology(int argc, char **argv)
{
    struct topology_options options = {.file = NULL};
    topo_fabric *fabric = NULL;
    tool_hosts hosts = {0};
    if (argp_parse(&topology_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = read_fabric(options.file, &fabric);
    if (status == 0)
        status = choose_hosts(&options, fabric, &hosts);
    if (status == 0)
        status = draw(&options, fabric, &hosts);
    tool_hosts_release(&hosts);
    topo_fabric_free(fabric);
    return status;
}
