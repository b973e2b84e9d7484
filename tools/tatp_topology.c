/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp topology: prints or draws the network that a file describes, or that of the job. */
#define _GNU_SOURCE /* gethostname, strsep */
#include "tatp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes.h"
#include "output.h"
#include "tatp_network.h"
#include "tool.h"
#include "topo/machine.h"

/* Up to this number of hosts, their hops are printed as a table. */
enum { SMALL = 16 };

struct network {
    tool_options common;  /* without file: this job or machine */
    const char *selected; /* hosts, as given; or NULL */
    const char *source;
    const topo_fabric *fabric;
    bool is_job;
    topo_summary summary;
    const char **present, **missing; /* chosen hosts; the names are not owned */
    size_t present_count, missing_count;
    topo topo;     /* of the present hosts */
    size_t *pairs; /* number of ordered pairs at each number of hops */
};

static error_t parse_topology_option(int key, char *arg, struct argp_state *state)
{
    struct network *p = state->input;
    switch (key) {
    case 'H': p->selected = arg; return 0;
    case ARGP_KEY_END:
        tool_check_input(state, (const char *const[]){p->common.file, p->selected}, 2);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp topology_argp = {
    .options =
        (const struct argp_option[]){
            {"hosts", 'H', "LIST", 0,
             "Only these hosts, as n[0-3]:32,login or @FILE (default: all in the file)", 0},
            {0},
        },
    .parser = parse_topology_option,
    .args_doc = "[FILE]",
    .doc = "Prints the network that a file describes: the hops between hosts, and the switches "
           "between them. Without a file, that of this job of Slurm, or this machine.",
};

/* ---- hosts and distances ---- */

/* All hosts of the file; the unnamed rows of a matrix of hops are named by their numbers. */
static void copy_all_hosts(const topo_fabric *fabric, tool_hosts *hosts)
{
    topo_summary summary;
    topo_fabric_summary(fabric, &summary);
    size_t named = topo_fabric_hosts(fabric), count = named > 0 ? named : summary.rows;
    node_list *all = &hosts->nodes;
    all->name = tool_allocate(count, sizeof *all->name);
    for (; all->count < count; all->count++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", all->count);
        all->name[all->count] =
            tool_copy(named > 0 ? topo_fabric_host(fabric, all->count) : number);
    }
}

static void find_present(const node_list *hosts, struct network *p)
{
    matrix_error error = {0, ""};
    bool named = topo_fabric_hosts(p->fabric) > 0 || p->summary.rows == 0;
    size_t *found = tool_allocate(hosts->count, sizeof *found);
    p->present = tool_allocate(hosts->count, sizeof *p->present);
    p->missing = tool_allocate(hosts->count, sizeof *p->missing);
    int rc = named ? topo_find_hosts(p->fabric, (const char *const *)hosts->name, hosts->count,
                                     found, &error)
                   : 0;
    if (rc != 0)
        exit(tool_fail_reading(p->source, rc, &error));
    for (size_t n = 0; n < hosts->count; n++)
        if (found[n] == SIZE_MAX)
            p->missing[p->missing_count++] = hosts->name[n];
        else
            p->present[p->present_count++] = hosts->name[n];
    free(found);
}

static void count_distance_pairs(struct network *p)
{
    const topo *t = &p->topo;
    size_t *members = tool_allocate(t->places, sizeof *members);
    p->pairs = tool_allocate((size_t)TOPO_UNREACHED + 1, sizeof *p->pairs);
    for (size_t n = 0; n < t->nodes; n++)
        members[t->place_of_node[n]]++;
    for (size_t i = 0; i < t->places; i++)
        for (size_t k = 0; k < t->places; k++)
            p->pairs[t->between[i * t->places + k]] +=
                members[i] * (i == k ? members[k] - 1 : members[k]);
    free(members);
}

/* Largest number of links from a host up to the root; 0: no hosts, or the links are no tree. */
static size_t tree_depth(const topo *t)
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

static void add_switches(tool_table *table, const struct network *p)
{
    const topo_summary *s = &p->summary;
    tool_table_add(table, "switches\n%zu\nlinks\n%zu", s->switches, s->links);
    if (s->traces > 0)
        tool_table_add(table, "traces\n%zu", s->traces);
    if (p->topo.tree.vertices > 0)
        tool_table_add(table, "depth\n%zu", tree_depth(&p->topo));
    else if (p->present_count > 0)
        tool_table_add(table, "depth\nthe links are not a tree");
    if (s->joined)
        tool_table_add(table, "joined\nbelow a switch that no line names");
}

/* What the environment says of a job of Slurm. */
static void add_job(tool_table *table)
{
    static const char *const rows[][2] = {{"tasks on each node", "SLURM_TASKS_PER_NODE"},
                                          {"switches above this node", "SLURM_TOPOLOGY_ADDR"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *value = getenv(rows[k][1]);
        if (value == NULL)
            continue;
        tool_table_add(table, "%s", rows[k][0]);
        tool_table_add_text(table, value);
    }
}

static void print_facts(const struct network *p)
{
    tool_table table = {.align = "ll"};
    tool_table_add(&table, "format\n%s\nhosts\n%zu", p->summary.format,
                   p->summary.rows > 0 ? p->summary.rows : p->summary.hosts);
    if (p->summary.unnamed > 0)
        tool_table_add(&table, "adapters without a host's name\n%zu", p->summary.unnamed);
    if (p->summary.rows == 0)
        add_switches(&table, p);
    if (p->is_job)
        add_job(&table);
    tool_table_add(&table, "hosts chosen\n%zu", p->present_count);
    for (size_t k = 0; k < p->missing_count; k++) {
        tool_table_add(&table, "missing");
        tool_table_add_text(&table, p->missing[k]);
    }
    tool_table_print(&table);
}

static void print_distances(const struct network *p)
{
    tool_table table = {.align = "rr"};
    tool_table_add(&table, "hops\npairs of hosts");
    for (size_t hops = 0; hops <= TOPO_UNREACHED; hops++)
        if (p->pairs[hops] > 0)
            tool_table_add(&table, "%zu\n%zu", hops, p->pairs[hops]);
    putchar('\n');
    tool_table_print(&table);
}

/* Rows: from; columns: to. */
static void print_hops(const struct network *p)
{
    char align[SMALL + 2] = "lrrrrrrrrrrrrrrrr";
    tool_table table = {.align = align};
    align[p->present_count + 1] = '\0';
    tool_table_add(&table, "from");
    for (size_t m = 0; m < p->present_count; m++)
        tool_table_add_text(&table, p->present[m]);
    for (size_t n = 0; n < p->present_count; n++) {
        tool_table_add_text(&table, p->present[n]);
        for (size_t m = 0; m < p->present_count; m++)
            tool_table_add(&table, "%g", topo_hops(&p->topo, n, m, n == m));
    }
    putchar('\n');
    tool_table_print(&table);
}

static void print_network(const struct network *p)
{
    print_facts(p);
    if (p->present_count > 1)
        print_distances(p);
    if (p->present_count > 1 && p->present_count <= SMALL)
        print_hops(p);
}

static void write_distances(json_writer *w, const struct network *p)
{
    json_begin_array(w, "distances");
    for (size_t hops = 0; hops <= TOPO_UNREACHED; hops++)
        if (p->pairs[hops] > 0) {
            json_begin_object(w, NULL);
            json_put_size(w, "hops", hops);
            json_put_size(w, "pairs", p->pairs[hops]);
            json_end_object(w);
        }
    json_end_array(w);
}

static void put_hops(json_writer *w, const struct network *p)
{
    json_begin_array(w, "hops");
    for (size_t n = 0; n < p->present_count; n++) {
        json_begin_array(w, NULL);
        for (size_t m = 0; m < p->present_count; m++)
            json_put_int64(w, NULL, (int64_t)topo_hops(&p->topo, n, m, n == m));
        json_end_array(w);
    }
    json_end_array(w);
}

static void print_network_json(const struct network *p)
{
    const topo_summary *s = &p->summary;
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_string(w, "format", s->format);
    json_put_size(w, "hosts", s->hosts);
    json_put_size(w, "unnamed_adapters", s->unnamed);
    json_put_size(w, "switches", s->switches);
    json_put_size(w, "links", s->links);
    json_put_size(w, "traces", s->traces);
    json_put_bool(w, "joined", s->joined);
    json_put_size(w, "depth", tree_depth(&p->topo));
    json_put_size(w, "places", p->topo.places);
    json_put_strings(w, "missing", p->missing, p->missing_count);
    write_distances(w, p);
    if (p->present_count <= SMALL) {
        json_put_strings(w, "chosen", p->present, p->present_count);
        put_hops(w, p);
    }
    tool_json_end(&json);
}

/* ---- without a network ---- */

static int print_machine(void)
{
    char name[256] = "", *text = NULL, *line;
    const char *file = getenv("HWLOC_XMLFILE"); /* which hwloc loads */
    size_t length;
    tool_table table = {.align = "ll"};
    FILE *out = open_memstream(&text, &length);
    bool crashes = out == NULL;
    if (!crashes && file != NULL && tool_is_trial(&crashes)) {
        (void)topo_machine_describe(out);
        _exit(0);
    }
    if (crashes || topo_machine_describe(out) != 0 || fclose(out) != 0)
        return tool_fail("hwloc cannot tell what this machine has%s%s",
                         file != NULL ? "; HWLOC_XMLFILE is " : "", file != NULL ? file : "");
    (void)gethostname(name, sizeof name - 1);
    tool_table_add(&table, "machine");
    tool_table_add_text(&table, name);
    for (char *rest = text; (line = strsep(&rest, "\n")) != NULL && rest != NULL;)
        tool_table_add_text(&table, line);
    tool_table_print(&table);
    free(text);
    puts("\nThis is one node, in no job of Slurm: SLURM_JOB_NODELIST is not set.\n"
         "For a network name a file, as these commands write it:\n"
         "  scontrol show topology > switches\n"
         "  ibnetdiscover > switches\n"
         "  tatp topology switches");
    return 0;
}

/* ---- the command ---- */

static int topology_print_hosts(struct network *p, const node_list *hosts)
{
    find_present(hosts, p);
    tatp_network_hops(p->fabric, p->source, p->present, p->present_count, &p->topo);
    count_distance_pairs(p);
    (p->common.json ? print_network_json : print_network)(p);
    int status = 0;
    if (p->missing_count > 0)
        status = tool_fail("%s: %zu of %zu hosts are not in the file, %s first", p->source,
                           p->missing_count, hosts->count, p->missing[0]);
    topo_release(&p->topo);
    free(p->pairs);
    free(p->present);
    free(p->missing);
    return status;
}

/* The list is in Slurm's syntax; NULL if this is no job of Slurm. */
static const char *hosts_of_job(void)
{
    const char *hosts = getenv("SLURM_JOB_NODELIST");
    return hosts != NULL ? hosts : getenv("SLURM_NODELIST");
}

int tatp_topology(int argc, char **argv)
{
    struct network p = {.pairs = NULL};
    tool_hosts hosts = {0};
    tool_parse(&topology_argp, TOOL_JSON, argc, argv, &p);
    const char *file = p.common.file, *list = file == NULL ? hosts_of_job() : NULL;
    if (file == NULL && list == NULL)
        return p.selected == NULL && !p.common.json
                   ? print_machine()
                   : tool_fail("this is one node, in no job of Slurm: name the file of a network");
    bool known = true;
    p.is_job = list != NULL;
    p.source = p.is_job ? "the job" : file;
    topo_fabric *fabric =
        p.is_job ? tatp_network_of_job(list, &known) : tatp_network_read_fabric(file);
    p.fabric = fabric;
    topo_fabric_summary(fabric, &p.summary);
    if (!known)
        p.summary.format = "the network is not known: one switch stands for it";
    if (p.selected != NULL)
        list = p.selected;
    if (list != NULL)
        tool_parse_hosts(list, &hosts);
    else
        copy_all_hosts(fabric, &hosts);
    int status = topology_print_hosts(&p, &hosts.nodes);
    topo_fabric_free(fabric);
    tool_hosts_release(&hosts);
    return status;
}
