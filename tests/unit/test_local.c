/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the distances inside a node. */
#include "topo/local.h"
#include "topo/machine.h"
#include "topo/topo.h"

#include <check.h>
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

START_TEST(locality_strings)
{
    static const struct {
        const char *a, *b;
        topo_level level;
    } pairs[] = {
        /* Bound to several: only what holds all of them counts. */
        {"SK0:L30:L20-1:L10-1:CR0-1:HT0-1:NM0", "SK0:L30:L20-1:L10-1:CR0-1:HT0-1:NM0",
         TOPO_SAME_L3},
        {"SK0:L30-1:L20-7:L10-7:CR0-7:HT0-7:NM0-1", "SK0:L30:L20:L10:CR0:HT0:NM0",
         TOPO_SAME_PACKAGE},
        {"SK0-1:NM0-3", "SK0-1:NM0-3", TOPO_SAME_MACHINE},
        {"CR0,2:SK0", "CR0,2:SK0", TOPO_SAME_PACKAGE},
        /* Numbers are compared whole; fields may be missing. */
        {"SK1:CR1", "SK1:CR12", TOPO_SAME_PACKAGE},
        {"CR1", "CR1", TOPO_SAME_CORE},
        {"NM0:SK0", "SK0:NM0", TOPO_SAME_NUMA},
        {NULL, "SK0", TOPO_SAME_MACHINE},
        {"SK0", NULL, TOPO_SAME_MACHINE},
        {"", "", TOPO_SAME_MACHINE},
        {"SK:CR", "SK:CR", TOPO_SAME_MACHINE},
        {":::", "nonsense", TOPO_SAME_MACHINE},
    };
    for (size_t k = 0; k < LENGTH(pairs); k++) {
        ck_assert_int_eq(topo_locality_level(pairs[k].a, pairs[k].b), pairs[k].level);
        ck_assert_int_eq(topo_locality_level(pairs[k].b, pairs[k].a), pairs[k].level);
    }
}
END_TEST

/* The XML of a made-up machine: the caller frees it with its topology. */
static topo_machine *synthetic(const char *description)
{
    hwloc_topology_t topology;
    topo_machine *machine = NULL;
    char *xml;
    int length;
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, description), 0);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    ck_assert_int_eq(hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0), 0);
    ck_assert_int_eq(topo_machine_read(xml, (size_t)length, &machine), 0);
    hwloc_free_xmlbuffer(topology, xml);
    hwloc_topology_destroy(topology);
    return machine;
}

enum { MOST_PROCESSORS = 64 };

/* Processors are numbered through: so many of them make one of each level, 0: there is no such
 * thing. */
struct machine {
    const char *description;
    int processors;
    int each[TOPO_LEVELS];
};

static const struct machine machines[] = {
    {"pack:2 group:2 [numa] l3:2 l2:2 core:2 pu:2", 64, {2, 4, 8, 16, 32, 64}},
    {"[numa] pack:2 l3:4 core:8 pu:1", 64, {1, 0, 8, 64, 32, 64}},
    {"[numa] pack:1 core:4 pu:1", 4, {1, 0, 0, 4, 4, 4}},
    {"pack:2 l3:1 group:2 [numa] core:2 pu:2",
     16,
     {2, 0, 8, 4, 8, 16}}, /* an L3 over two NUMA nodes */
};

static topo_level model(const struct machine *m, int a, int b)
{
    for (int level = 0; level < TOPO_LEVELS; level++)
        if (m->each[level] > 0 && a / m->each[level] == b / m->each[level])
            return (topo_level)level;
    return TOPO_SAME_MACHINE;
}

/* The caller frees it. */
static char *locality(topo_machine *machine, const char *processors)
{
    char *text = NULL;
    ck_assert_int_eq(topo_machine_locality(machine, processors, &text), 0);
    return text;
}

START_TEST(machines_levels)
{
    const struct machine *m = &machines[_i];
    topo_machine *machine = synthetic(m->description);
    char number[16], *text[MOST_PROCESSORS];
    for (int a = 0; a < m->processors; a++) {
        snprintf(number, sizeof number, "%d", a);
        text[a] = locality(machine, number);
    }
    for (int a = 0; a < m->processors; a++)
        for (int b = 0; b < m->processors; b++)
            ck_assert_int_eq(topo_locality_level(text[a], text[b]), model(m, a, b));
    for (int a = 0; a < m->processors; a++)
        free(text[a]);
    topo_machine_free(machine);
}
END_TEST

START_TEST(texts_of_processors)
{
    static const struct {
        const char *processors, *text;
    } sets[] = {
        {"0", "CR0:L20:L30:NM0:SK0"},
        {"0-1", "CR0:L20:L30:NM0:SK0"},
        {"62,63", "CR31:L215:L37:NM3:SK1"},
        {"0,2", "L20:L30:NM0:SK0"},
        {"0-3", "L20:L30:NM0:SK0"},
        {"4-6", "L21:L30:NM0:SK0"},
        {"0-31", "SK0"},
        {"31-32", ""},
        {"0,63", ""},
        {"0-63", ""},
    };
    static const char *const bad[] = {"", "64", "0-64", "x", "1 2", "0x3", "-", "0-"};
    topo_machine *machine = synthetic(machines[0].description);
    char *text = NULL;
    for (size_t k = 0; k < LENGTH(bad); k++)
        ck_assert_msg(topo_machine_locality(machine, bad[k], &text) == -EINVAL, "'%s'", bad[k]);
    ck_assert_ptr_null(text);
    for (size_t k = 0; k < LENGTH(sets); k++) {
        text = locality(machine, sets[k].processors);
        ck_assert_str_eq(text, sets[k].text);
        free(text);
    }
    topo_machine_free(machine);
    topo_machine_free(NULL);
}
END_TEST

START_TEST(cores_by_number)
{
    topo_machine *machine = synthetic(machines[0].description);
    char *text = NULL;
    ck_assert_int_eq(topo_machine_core_locality(machine, 31, &text), 0);
    ck_assert_str_eq(text, "CR31:L215:L37:NM3:SK1");
    free(text);
    ck_assert_int_eq(topo_machine_core_locality(machine, 32, &text), -EINVAL);
    topo_machine_free(machine);
}
END_TEST

/* ---- devices, on machines of the fixtures ---- */

static topo_machine *fixture(const char *name)
{
    const char *top = getenv("top_srcdir");
    topo_machine *machine = NULL;
    char path[4096], xml[1 << 16];
    snprintf(path, sizeof path, "%s/tests/fixtures/machine/%s", top != NULL ? top : ".", name);
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s", path);
    size_t length = fread(xml, 1, sizeof xml, stream);
    fclose(stream);
    ck_assert_int_eq(topo_machine_read(xml, length, &machine), 0);
    return machine;
}

enum { MOST_SETS = 6 };

/* Sets of processors, and the steps that each saves on the way to a device. */
static const struct near_network {
    const char *machine, *processors[MOST_SETS];
    unsigned char saved[MOST_SETS];
} near_network[] = {
    {"adapters-on-both-packages.xml", {"0", "7", "8-11", "15", "0-7", "7-8"}, {1, 1, 1, 1, 1, 0}},
    /* The adapter counts, the Ethernet of NUMA node 1 does not. */
    {"adapter-and-ethernet.xml", {"0", "2", "3", "12", "13", "14"}, {0, 0, 0, 3, 3, 1}},
    {"ethernet-on-second-node.xml", {"0", "1", "0-1", "0", "1", "1"}, {1, 5, 1, 1, 5, 5}},
};

START_TEST(near_devices)
{
    const struct near_network *n = &near_network[_i];
    topo_machine *machine = fixture(n->machine);
    unsigned char saved[MOST_SETS];
    char *text[MOST_SETS];
    for (size_t k = 0; k < MOST_SETS; k++)
        text[k] = locality(machine, n->processors[k]);
    ck_assert_int_eq(topo_machine_near_network(machine, text, MOST_SETS, saved), 0);
    for (size_t k = 0; k < MOST_SETS; k++) {
        ck_assert_msg(saved[k] == n->saved[k], "%s, %s: %d", n->machine, n->processors[k],
                      saved[k]);
        free(text[k]);
    }
    topo_machine_free(machine);
}
END_TEST

/* Nobody is bound on a machine that is not this one. */
START_TEST(another_machine)
{
    topo_machine *machine = synthetic(machines[0].description);
    char unset[] = "", *own = unset;
    ck_assert_int_eq(topo_machine_own_locality(machine, &own), 0);
    ck_assert_ptr_null(own);
    topo_machine_free(machine);
}
END_TEST

START_TEST(no_machine)
{
    static const char *const bad[] = {"", "hello", "<?xml version=\"1.0\"?>\n<topology>",
                                      "<topology/>"};
    topo_machine *machine = NULL;
    for (size_t k = 0; k < LENGTH(bad); k++)
        ck_assert_int_eq(topo_machine_read(bad[k], strlen(bad[k]), &machine), -EBADMSG);
    ck_assert_ptr_null(machine);
}
END_TEST

int main(void)
{
    return run_tests("local", ONCE(locality_strings), TIMES(machines_levels, LENGTH(machines)),
                     ONCE(texts_of_processors), ONCE(cores_by_number),
                     TIMES(near_devices, LENGTH(near_network)), ONCE(another_machine),
                     ONCE(no_machine));
}
