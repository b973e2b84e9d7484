/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the readers of network descriptions: fixtures of one fabric as each tool tells it,
 * files of hops, random networks against a model of their own, and what is malformed. */
#include "topo/topo.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MOST_PLACES = 1 << 15, MOST_HOSTS = MOST_PLACES + 2 };

/* ---- names ---- */

struct names {
    char text[200];
    const char *name[8];
    size_t count;
};

/* Of a list with commas between, which may be empty: "n0,,n2". */
static void split_names(const char *list, struct names *names)
{
    char *rest = names->text;
    snprintf(names->text, sizeof names->text, "%s", list);
    for (names->count = 0; rest != NULL; names->count++)
        names->name[names->count] = strsep(&rest, ",");
}

/* PREFIX0, PREFIX1, ... */
static const char *const *numbered_hosts(const char *prefix, size_t count)
{
    static char name[MOST_HOSTS][24];
    static const char *host[MOST_HOSTS];
    for (size_t n = 0; n < count; n++) {
        snprintf(name[n], sizeof name[n], "%s%zu", prefix, n);
        host[n] = name[n];
    }
    return host;
}

/* ---- reading ---- */

struct reading {
    int rc;
    topo topo;
    matrix_error error;
};

static struct reading read_text(const char *text, size_t length, const char *const *hosts,
                                size_t nodes)
{
    struct reading r = {.topo = {.nodes = 77}, .error = {.line = 99}};
    FILE *stream = fmemopen((void *)(uintptr_t)text, length, "r");
    r.rc = topo_read(stream, hosts, nodes, &r.topo, &r.error);
    fclose(stream);
    return r;
}

/* `count` lines by a format for their number, after some text. The caller frees them. */
static char *make_lines(const char *before, const char *format, size_t count, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    ck_assert_ptr_nonnull(stream);
    fputs(before, stream);
    for (size_t k = 1; k <= count; k++)
        fprintf(stream, format, k, k);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

/* ---- what is expected of a result ---- */

/* A vertex is before its parent. */
static size_t way_up_and_down(const topo_tree *tree, size_t n, size_t m)
{
    size_t hops = 0;
    for (; n != m; hops++)
        if (n < m)
            n = tree->parent[n];
        else
            m = tree->parent[m];
    return hops;
}

static void check_tree(const topo *t)
{
    const topo_tree *tree = &t->tree;
    for (size_t v = 0; v < tree->vertices; v++) {
        ck_assert_uint_lt(tree->parent[v], tree->vertices);
        ck_assert(tree->parent[v] > v || v == tree->vertices - 1);
        ck_assert(v == tree->vertices - 1 || tree->width[v] > 0);
    }
    for (size_t n = 0; tree->vertices > 0 && n < t->nodes; n++)
        for (size_t m = 0; m < n; m++) {
            ck_assert_double_eq((double)way_up_and_down(tree, n, m), topo_hops(t, n, m, 0));
            ck_assert_double_eq(topo_hops(t, n, m, 0), topo_hops(t, m, n, 0));
        }
}

/* expected: a digit for each two nodes, row by row with a blank between: "124 214 441".
 * vertices: of the tree. */
static void check_hops(const topo *t, const char *expected, size_t vertices)
{
    size_t nodes = t->nodes;
    ck_assert_uint_eq(strlen(expected) + 1, nodes * (nodes + 1));
    for (size_t n = 0; n < nodes; n++)
        for (size_t m = 0; m < nodes; m++)
            ck_assert_msg(topo_hops(t, n, m, 0) == expected[n * (nodes + 1) + m] - '0',
                          "%zu to %zu: %g, expected are %s", n, m, topo_hops(t, n, m, 0), expected);
    ck_assert_uint_eq(t->tree.vertices, vertices);
    check_tree(t);
}

/* Every `step`th pair of nodes in their order. So many share a leaf switch, as many of those a pod.
 */
static void check_fat_tree(const topo *t, size_t leaf, size_t step)
{
    size_t pod = leaf * leaf;
    for (size_t k = 0; k < t->nodes * t->nodes; k += step) {
        size_t n = k / t->nodes, m = k % t->nodes;
        double expected = n / leaf == m / leaf ? 2 : n / pod == m / pod ? 4 : 6;
        ck_assert_double_eq(topo_hops(t, n, m, n == m), n == m ? 0 : expected);
    }
}

/* ---- lists of hosts ---- */

struct collected {
    char text[400];
    size_t count;
};

static int collect(const char *name, void *context)
{
    struct collected *c = context;
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s%s", used > 0 ? " " : "", name);
    c->count++;
    return strcmp(name, "stop") == 0 ? 5 : 0;
}

/* "names: NAME...", or "refused" */
static void check_hostlist(const char *head, const char *text, size_t length)
{
    struct collected c = {.count = 0};
    matrix_error error = {0, ""};
    char list[100];
    bool is_good = strncmp(head, "names: ", 7) == 0;
    snprintf(list, sizeof list, "%.*s", (int)length - 1, text);
    ck_assert_msg(topo_expand_hostlist(list, collect, &c, &error) == (is_good ? 0 : -EBADMSG), "%s",
                  list);
    if (is_good)
        ck_assert_str_eq(c.text, head + 7);
}

START_TEST(expanded_hostlists)
{
    check_cases("hostlist", check_hostlist);
}
END_TEST

START_TEST(hostlist_ends)
{
    struct collected c = {.count = 0};
    matrix_error error = {0, ""};
    char longest[400];
    ck_assert_int_eq(topo_expand_hostlist("a,stop,b", collect, &c, &error), 5);
    ck_assert_uint_eq(c.count, 2);
    memset(longest, 'n', 256);
    longest[256] = '\0';
    ck_assert_int_eq(topo_expand_hostlist(longest + 1, collect, &c, &error), 0);
    ck_assert_int_eq(topo_expand_hostlist(longest, collect, &c, &error), -EBADMSG);
    snprintf(longest + 250, sizeof longest - 250, "[1-2][100-200]xx");
    ck_assert_int_eq(topo_expand_hostlist(longest, collect, &c, &error), -EBADMSG);
}
END_TEST

/* ---- one fabric, told by each tool ---- */

/* The text of files of the fixtures, one after another; the caller frees it. */
static char *fixture(const char *list, size_t *length)
{
    struct names files;
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    ck_assert_ptr_nonnull(out);
    split_names(list, &files);
    for (size_t k = 0; k < files.count; k++) {
        char name[100], *part;
        snprintf(name, sizeof name, "topology/%s", files.name[k]);
        part = read_fixture(name, length);
        fwrite(part, 1, *length, out);
        free(part);
    }
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

static const struct {
    const char *files, *source;
    size_t cables; /* up from a leaf switch; from a pod the square */
} tellings[] = {
    {"ibnetdiscover.3level.out", "ibnetdiscover", 4},
    {"slurm-topology.conf", "Slurm, tree of switches", 1},
    {"slurm-scontrol.out", "Slurm, tree of switches", 1},
    {"ibnetdiscover.3level.out,ibtracert.3level.out", "ibtracert", 4},
};

/* Four nodes a leaf switch, four of those a pod. Of few nodes only their part of the tree is left.
 */
START_TEST(three_levels)
{
    size_t length, cables = tellings[_i].cables;
    const char *const *names = numbered_hosts("n", 64), *hosts[64];
    struct names few;
    char *text = fixture(tellings[_i].files, &length);
    for (size_t n = 0; n < 64; n++)
        hosts[n] = names[63 - n];
    struct reading r = read_text(text, length, hosts, 64);
    ck_assert_msg(r.rc == 0, "%zu: %s", r.error.line, r.error.reason);
    ck_assert_str_eq(r.topo.source, tellings[_i].source);
    check_fat_tree(&r.topo, 4, 1);
    check_tree(&r.topo);
    ck_assert_uint_eq(r.topo.tree.vertices, 64 + 16 + 4 + 1);
    for (size_t v = 0; v < 84; v++)
        ck_assert_uint_eq(r.topo.tree.width[v], v < 64 ? 1 : v < 80 ? cables : cables * cables);
    if (strcmp(r.topo.source, "ibtracert") != 0)
        ck_assert_uint_eq(r.topo.places, 16);
    topo_release(&r.topo);

    split_names("n5,N4,n8.cluster,n15", &few);
    r = read_text(text, length, few.name, few.count);
    ck_assert_msg(r.rc == 0, "%s", r.error.reason);
    check_hops(&r.topo, "1244 2144 4414 4441", 4 + 3 + 1);
    topo_release(&r.topo);
    free(text);
}
END_TEST

START_TEST(odd_fabric)
{
    static const char *const hosts[] = {"node-01", "X1000c0s1b0n0"};
    size_t length;
    char *text = fixture("ibnetdiscover.edge.out", &length);
    struct reading r = read_text(text, length, hosts, 2);
    ck_assert_msg(r.rc == 0, "%s", r.error.reason);
    /* By its second rail node-01 is 3 away, by the first 2. */
    check_hops(&r.topo, "12 21", r.topo.tree.vertices);
    topo_release(&r.topo);

    topo_fabric *fabric;
    topo_summary summary;
    matrix_error error;
    FILE *stream = fmemopen(text, length, "r");
    ck_assert_int_eq(topo_fabric_read(stream, &fabric, &error), 0);
    fclose(stream);
    topo_fabric_summary(fabric, &summary);
    ck_assert_uint_eq(summary.hosts, 2);
    ck_assert_uint_eq(summary.unnamed, 2); /* SHARP's, and the one called localhost */
    ck_assert_uint_eq(summary.switches, 2);
    ck_assert_uint_eq(summary.links, 9);
    ck_assert_int_eq(summary.joined, 0);
    ck_assert_uint_eq(topo_fabric_hosts(fabric), 2);
    ck_assert_str_eq(topo_fabric_host(fabric, 0), "node-01.cluster.local");
    ck_assert_str_eq(topo_fabric_host(fabric, 1), "x1000c0s1b0n0");
    topo_fabric_free(fabric);
    topo_fabric_free(NULL);
    free(text);
}
END_TEST

/* ---- hand-made files ---- */

#define SW(id) "Switch 36 \"" id "\" # \"some switch\" base port 0 lid 3 lmc 0\n"
#define TREE "SwitchName=s0 Nodes=a\n"

static int read_again(const char *text, size_t length, const struct names *names)
{
    struct reading r = read_text(text, length, names->name, names->count);
    topo_release(&r.topo);
    return r.rc;
}

/* "HOSTS: hops HOPS, N vertices, SOURCE", as of split_names and check_hops; "HOSTS: refused, line
 * N" or without a line; "HOSTS: missing", one of them or a way. */
static void check_case(const char *head, const char *text, size_t length)
{
    char hosts[100], word[20], hops[100], source[60];
    size_t tree, line = 0;
    struct names names;
    ck_assert_int_eq(sscanf(head, "%99[^:]: %19[a-z]", hosts, word), 2);
    split_names(hosts, &names);
    struct reading r = read_text(text, length, names.name, names.count);
    if (sscanf(head, "%*[^:]: hops %99[0-9 ], %zu vertices, %59[^#\n]", hops, &tree, source) == 3) {
        ck_assert_msg(r.rc == 0, "%s: %zu: %s", head, r.error.line, r.error.reason);
        check_hops(&r.topo, hops, tree);
        ck_assert_msg(strncmp(source, r.topo.source, strlen(r.topo.source)) == 0, "%s", head);
        topo_release(&r.topo);
        fail_each_allocation(read_again(text, length, &names));
        return;
    }
    sscanf(head, "%*[^:]: refused, line %zu", &line);
    ck_assert_msg(r.rc == (strcmp(word, "missing") == 0 ? -ENXIO : -EBADMSG), "%s: %d: %s\n%.*s",
                  head, r.rc, r.error.reason, (int)length, text);
    ck_assert_msg(r.error.line == line, "%s: line %zu\n%.*s", head, r.error.line, (int)length,
                  text);
    check_printable(r.error.reason);
    ck_assert_uint_eq(r.topo.nodes, 77);
    ck_assert_ptr_null(r.topo.between);
}

START_TEST(small_files)
{
    static const char *const files[] = {"slurm", "ibnetdiscover", "ibtracert", "hops"};
    check_cases(files[_i], check_case);
}
END_TEST

/* Two rails a host: their switches act as one, and the cables between them lead nowhere. */
START_TEST(width_of_folded_switches)
{
    static const size_t parent[] = {3, 3, 4, 5, 5, 5}, width[] = {2, 3, 2, 3, 5};
    static const char *const hosts[] = {"a", "b", "c"};
    size_t length;
    char *text = fixture("ibnetdiscover.folded.out", &length);
    struct reading r = read_text(text, length, hosts, 3);
    free(text);
    ck_assert_msg(r.rc == 0, "%zu: %s", r.error.line, r.error.reason);
    ck_assert_uint_eq(r.topo.tree.vertices, 6);
    ck_assert_mem_eq(r.topo.tree.parent, parent, sizeof parent);
    for (size_t v = 0; v < 5; v++)
        ck_assert_uint_eq(r.topo.tree.width[v], width[v]);
    check_tree(&r.topo);
    topo_release(&r.topo);
}
END_TEST

/* What an editor does not show. */
START_TEST(no_text)
{
    static const struct {
        const char *text;
        size_t length, line;
    } texts[] = {
        {"SwitchName=s0 Nodes=a\0b\n", 24, 1}, {TREE "\xff\xfe\n", 25, 2}, {"\033]0;t\a\n", 8, 1}};
    for (size_t k = 0; k < LENGTH(texts); k++) {
        const char *host = "a";
        struct reading r = read_text(texts[k].text, texts[k].length, &host, 1);
        ck_assert_int_eq(r.rc, -EBADMSG);
        ck_assert_uint_eq(r.error.line, texts[k].line);
        check_printable(r.error.reason);
    }
}
END_TEST

/* Nothing stops a reader from being handed half a file. */
START_TEST(cut_short)
{
    static const char *const hosts[] = {"n0", "n7"};
    static const char *const files[] = {"ibnetdiscover.2level.out,ibtracert.2level.out",
                                        "slurm-scontrol.out"};
    for (size_t k = 0; k < 2; k++) {
        size_t length;
        char *text = fixture(files[k], &length);
        for (size_t end = 1; end < length; end += 23) {
            struct reading r = read_text(text, end, hosts, 2);
            if (r.rc == 0)
                ck_assert(topo_hops(&r.topo, 0, 1, 0) == 4 || k == 1);
            else
                ck_assert_msg(r.error.reason[0] != '\0', "no reason at %zu", end);
            if (r.rc == 0)
                topo_release(&r.topo);
        }
        free(text);
    }
}
END_TEST

/* ---- addresses ---- */

/* As check_case; "none": without addresses. An address "none" is not there. */
static void check_addresses(const char *head, const char *text, size_t length)
{
    char hosts[100], list[200], word[20], hops[100] = "";
    size_t tree = 0;
    struct names address, host;
    topo t = {.nodes = 77};
    matrix_error error = {0, ""};
    ck_assert_int_ge(sscanf(head, "%99[^:]: %19[a-z] %99[0-9 ], %zu", hosts, word, hops, &tree), 2);
    snprintf(list, sizeof list, "%.*s", (int)length - 1, text);
    split_names(list, &address);
    split_names(hosts, &host);
    for (size_t k = 0; k < address.count; k++)
        if (strcmp(address.name[k], "none") == 0)
            address.name[k] = NULL;
    int rc = topo_from_addresses(address.name, host.name, host.count, &t, &error);
    ck_assert_msg(rc == (*hops != '\0'               ? 0
                         : strcmp(word, "none") == 0 ? -ENODATA
                                                     : -EBADMSG),
                  "%s: %s: %d", head, list, rc);
    if (rc == 0) {
        check_hops(&t, hops, tree);
        topo_release(&t);
    } else {
        ck_assert_uint_eq(t.nodes, 77);
    }
}

START_TEST(slurm_addresses)
{
    check_cases("addresses", check_addresses);
}
END_TEST

/* ---- random networks ---- */

enum {
    MOST_SWITCHES = 40,
    MOST_ADAPTERS = 30,
    MOST_VERTICES = MOST_SWITCHES + MOST_ADAPTERS,
    MOST_PORTS = 90,
    FAR = 9999
};

struct port {
    size_t vertex, port;
};

/* Vertices 0 .. switches - 1 are switches. far[v][w] is from the model: switches alone pass on. */
struct network {
    size_t switches, adapters, hosts, vertices;
    size_t host[MOST_VERTICES];
    size_t ports[MOST_VERTICES];
    struct port other[MOST_VERTICES][MOST_PORTS + 1]; /* ports count from 1 */
    size_t far[MOST_VERTICES][MOST_VERTICES];
};

static void cable(struct network *net, size_t v, size_t w)
{
    if (v == w || net->ports[v] == MOST_PORTS || net->ports[w] == MOST_PORTS)
        return;
    size_t p = ++net->ports[v], q = ++net->ports[w];
    net->other[v][p] = (struct port){w, q};
    net->other[w][q] = (struct port){v, p};
}

static size_t below(uint64_t *state, size_t end)
{
    return (size_t)pick(state, 0, (int64_t)end - 1);
}

static void grow_network(struct network *net, uint64_t seed)
{
    uint64_t state = seed;
    memset(net, 0, sizeof *net);
    net->switches = 1 + below(&state, 12);
    net->adapters = 2 + below(&state, MOST_ADAPTERS - 1);
    net->vertices = net->switches + net->adapters;
    net->hosts = 1 + below(&state, net->adapters);
    for (size_t s = 1; s < net->switches; s++)
        cable(net, s, below(&state, s));
    for (size_t k = below(&state, 8); k > 0; k--)
        cable(net, below(&state, net->switches), below(&state, net->switches));
    for (size_t a = 0; a < net->adapters; a++) {
        size_t v = net->switches + a;
        net->host[v] = a < net->hosts ? a : below(&state, net->hosts);
        for (size_t k = 1 + (below(&state, 4) == 0); k > 0; k--)
            cable(net, v, below(&state, net->switches));
    }
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Floyd and Warshall, with switches between. */
static void measure(struct network *net)
{
    for (size_t v = 0; v < net->vertices; v++)
        for (size_t w = 0; w < net->vertices; w++)
            net->far[v][w] = v == w ? 0 : FAR;
    for (size_t v = 0; v < net->vertices; v++)
        for (size_t p = 1; p <= net->ports[v]; p++)
            net->far[v][net->other[v][p].vertex] = 1;
    for (size_t s = 0; s < net->switches; s++)
        for (size_t v = 0; v < net->vertices; v++)
            for (size_t w = 0; w < net->vertices; w++)
                net->far[v][w] = less(net->far[v][w], net->far[v][s] + net->far[s][w]);
}

static void write_network(const struct network *net, FILE *out)
{
    for (size_t k = 0; k < net->vertices; k++) {
        size_t v = net->vertices - 1 - k;
        char letter = v < net->switches ? 'S' : 'H';
        fprintf(out, "%s 36 \"%c-%016zx\" # ", letter == 'S' ? "Switch" : "Ca", letter, v + 1);
        if (letter == 'S')
            fprintf(out, "\"switch\" base port 0 lid %zu lmc 0\n", v + 1);
        else
            fprintf(out, "\"h%zu mlx5_%zu\"\n", net->host[v], v);
        for (size_t p = 1; p <= net->ports[v]; p++) {
            struct port to = net->other[v][p];
            fprintf(out, "[%zu] \"%c-%016zx\"[%zu] # lid %zu lmc 0 \"x\" lid 1\n", p,
                    to.vertex < net->switches ? 'S' : 'H', to.vertex + 1, to.port, v + 1);
        }
        fputc('\n', out);
    }
}

/* Of the nearest two adapters. */
static size_t hops_between_hosts(const struct network *net, size_t a, size_t b)
{
    size_t least = FAR;
    for (size_t v = net->switches; v < net->vertices; v++)
        for (size_t w = net->switches; w < net->vertices; w++)
            if (net->host[v] == a && net->host[w] == b)
                least = less(least, net->far[v][w]);
    return least;
}

/* Returns the vertices of the tree. */
static size_t compare(const struct network *net, char *text, size_t length, uint64_t seed)
{
    struct reading r = read_text(text, length, numbered_hosts("h", net->hosts), net->hosts);
    ck_assert_msg(r.rc == 0, "seed %llu: %zu: %s", (unsigned long long)seed, r.error.line,
                  r.error.reason);
    for (size_t a = 0; a < net->hosts; a++)
        for (size_t b = 0; b < net->hosts; b++) {
            double hops = topo_hops(&r.topo, a, b, 1);
            size_t expected = a == b ? 0 : hops_between_hosts(net, a, b);
            ck_assert_msg(hops == (double)expected, "seed %llu: h%zu to h%zu: %g, not %zu",
                          (unsigned long long)seed, a, b, hops, expected);
        }
    check_tree(&r.topo);
    size_t vertices = r.topo.tree.vertices;
    topo_release(&r.topo);
    return vertices;
}

/* Returns the vertices of the tree. */
static size_t check_random(uint64_t seed, void (*grow)(struct network *net, uint64_t seed),
                           void (*write)(const struct network *net, FILE *out))
{
    static struct network net;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    grow(&net, seed);
    measure(&net);
    write(&net, out);
    fclose(out);
    size_t vertices = compare(&net, text, length, seed);
    free(text);
    return vertices;
}

START_TEST(random_networks)
{
    for_random_seeds (seed, 150)
        check_random(seed, grow_network, write_network);
}
END_TEST

static bool has_switches_below(const struct network *net, size_t s)
{
    for (size_t p = 1; p <= net->ports[s]; p++)
        if (net->other[s][p].vertex > s && net->other[s][p].vertex < net->switches)
            return true;
    return false;
}

/* Of random depth, with the hosts at its leaves; a switch is above those of higher numbers. */
static void grow_tree(struct network *net, uint64_t seed)
{
    uint64_t state = seed;
    memset(net, 0, sizeof *net);
    net->switches = 1 + below(&state, MOST_SWITCHES);
    net->adapters = net->hosts = MOST_ADAPTERS;
    net->vertices = net->switches + net->adapters;
    for (size_t s = 1; s < net->switches; s++)
        cable(net, s, below(&state, s));
    for (size_t h = 0; h < net->hosts; h++) {
        size_t leaf = below(&state, net->switches);
        while (has_switches_below(net, leaf))
            leaf = below(&state, net->switches);
        net->host[net->switches + h] = h;
        cable(net, leaf, net->switches + h);
    }
}

/* As Slurm has it: each switch with what is below it. */
static void write_tree(const struct network *net, FILE *out)
{
    for (size_t s = 0; s < net->switches; s++) {
        bool inner = has_switches_below(net, s);
        const char *comma = "";
        fprintf(out, "SwitchName=s%zu %s=", s, inner ? "Switches" : "Nodes");
        for (size_t p = 1; p <= net->ports[s]; p++) {
            size_t v = net->other[s][p].vertex;
            if (v < s)
                continue;
            fprintf(out, "%s%c%zu", comma, inner ? 's' : 'h', inner ? v : net->host[v]);
            comma = ",";
        }
        fprintf(out, "%s\n", *comma == '\0' ? "unused" : "");
    }
}

START_TEST(random_trees)
{
    for_random_seeds (seed, 60)
        ck_assert_uint_gt(check_random(seed, grow_tree, write_tree), 0);
}
END_TEST

/* ---- size ---- */

/* A three-level fat tree of switches with 36 ports: 10,000 nodes in a second is asked for; here
 * nothing is timed, but memory for all pairs of nodes would be 200 MB. */
START_TEST(ten_thousand_nodes)
{
    enum { HALF = 18, PODS = 36, LEAVES = PODS * HALF, NODES = 10000 };
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (size_t n = 0; n < NODES; n++)
        fprintf(out, "Ca 1 \"H-%zu\" # \"node%zu HCA-1\"\n[1] \"S-%zu\"[%zu]\n\n", n, n, n / HALF,
                n % HALF + 1);
    for (size_t leaf = 0; leaf < LEAVES; leaf++) {
        fprintf(out, SW("S-%zu"), leaf);
        for (size_t up = 0; up < HALF; up++)
            fprintf(out, "[%zu] \"S-a%zu\"[%zu]\n", HALF + 1 + up, leaf / HALF * HALF + up,
                    leaf % HALF + 1);
    }
    for (size_t s = 0; s < LEAVES; s++) {
        fprintf(out, SW("S-a%zu"), s);
        for (size_t up = 0; up < HALF; up++)
            fprintf(out, "[%zu] \"S-c%zu\"[%zu]\n", HALF + 1 + up, s % HALF * HALF + up,
                    s / HALF + 1);
    }
    for (size_t s = 0; s < HALF * HALF; s++)
        fprintf(out, SW("S-c%zu"), s);
    fclose(out);
    struct reading r = read_text(text, length, numbered_hosts("node", NODES), NODES);
    ck_assert_msg(r.rc == 0, "%zu: %s", r.error.line, r.error.reason);
    check_fat_tree(&r.topo, HALF, 1517);
    ck_assert_uint_eq(r.topo.places, (NODES + HALF - 1) / HALF);
    ck_assert_uint_eq(r.topo.tree.vertices, NODES + 556 + 31 + 1);
    topo_release(&r.topo);
    free(text);
}
END_TEST

/* ---- out of memory ---- */

static int read_two_addresses(void)
{
    static const char *const address[] = {"t.l.n1", "t.m.n2"}, *const host[] = {"n1", "n2"};
    topo t = {.nodes = 77};
    matrix_error error;
    int rc = topo_from_addresses(address, host, 2, &t, &error);
    topo_release(&t);
    return rc;
}

START_TEST(out_of_memory_for_addresses)
{
    fail_each_allocation(read_two_addresses());
}
END_TEST

/* ---- limits ---- */

static void assert_too_large(char *text, size_t length, size_t line)
{
    const char *const host = "n1";
    struct reading r = read_text(text, length, &host, 1);
    free(text);
    ck_assert_int_eq(r.rc, -EBADMSG);
    ck_assert_uint_eq(r.error.line, line);
}

START_TEST(more_than_any_network)
{
    enum { LINE = 1 << 24 };
    static const char begin[] = TREE "SwitchName=s1 Nodes=b\\\n";
    size_t length = sizeof begin + LINE;
    char *text = malloc(length);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', length);
    memcpy(text, begin, sizeof begin - 1);
    assert_too_large(text, length, 3);
    if (random_cases(2) < 2)
        return;
    text = make_lines("", "SwitchName=s%zu Nodes=a%zu-[0-599999]\n", 2, &length);
    assert_too_large(text, length, 2);
    text = make_lines("", "AggregatedBlock=b[1-1048576] BlockSize=%zu Nodes=n%zu\n", 9, &length);
    assert_too_large(text, length, 5);
    text = make_lines("", "SwitchName=s%zu Switches=t[1-1000000] Nodes=n%zu\n", 9, &length);
    assert_too_large(text, length, 5);
}
END_TEST

START_TEST(too_many_places)
{
    size_t length;
    const char *const *hosts = numbered_hosts("n", MOST_PLACES + 2) + 1;
    char *text = make_lines("", "SwitchName=s%zu Nodes=n%zu\n", MOST_PLACES + 1, &length);
    struct reading r = read_text(text, length, hosts, MOST_PLACES + 1);
    free(text);
    ck_assert_int_eq(r.rc, -EBADMSG);
}
END_TEST

int main(void)
{
    return run_tests("fabric", ONCE(expanded_hostlists), ONCE(hostlist_ends),
                     TIMES(three_levels, LENGTH(tellings)), ONCE(odd_fabric), TIMES(small_files, 4),
                     ONCE(width_of_folded_switches), ONCE(more_than_any_network),
                     ONCE(too_many_places), ONCE(no_text), ONCE(cut_short), ONCE(slurm_addresses),
                     ONCE(random_networks), ONCE(random_trees), ONCE(ten_thousand_nodes),
                     ONCE(out_of_memory_for_addresses));
}
