/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create, asprintf */
#include "launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/cache.h"
#include "collective/nodes.h"
#include "dla/place.h"
#include "record/record_header.h"
#include "tool.h"

static size_t sum_slots(const launch *l)
{
    size_t slots = 0;
    for (size_t n = 0; n < l->nodes.count; n++)
        slots += l->nodes.slots[n];
    return slots;
}

/* ---- the record of the command ---- */

void launch_name_command(launch *l, char *const *word)
{
    char *folder = getcwd(NULL, 0), *cache;
    cache_command_make(word, folder != NULL ? folder : "", sum_slots(l), l->command);
    if (cache_path(&cache) == 0)
        setenv(CACHE_FOLDER, cache, 1); /* the ranks' variables may differ */
}

/* Whether there is a record, of a program that is as it was recorded: behind the command, the key
 * has its digits. *file becomes its name; "" without a record. */
static bool is_unchanged(int folder, const cache_key *key, char file[PATH_MAX])
{
    record_header header = {.ranks = 0};
    char *none[] = {NULL};
    const cache_program program = {file, none, "/"};
    cache_key now;
    int fd = cache_open_record(folder, key, false);
    if (fd < 0 || record_header_read(&header, fd) != 0)
        header.file[0] = '\0';
    if (fd >= 0)
        close(fd);
    memcpy(file, header.file, sizeof header.file);
    if (*file == '\0' || cache_key_make(&program, header.ranks, &now, NULL) != 0)
        return false;
    cache_key_set_command(&now, key->text);
    return strcmp(now.text, key->text) == 0;
}

/* Why none of these is used, or NULL: *found was used last. */
static const char *choose_record(const char *command, int folder, const cache_entry *entry,
                                 size_t count, const cache_key **found)
{
    const char *why = "there is no record of this command yet; this run is recorded";
    char file[PATH_MAX], first[PATH_MAX];
    *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(entry[i].key.text, command, CACHE_PROGRAM_LENGTH) != 0)
            continue;
        if (!is_unchanged(folder, &entry[i].key, file)) {
            why = "the program has changed since it was recorded; this run is recorded";
        } else if (*found == NULL) {
            *found = &entry[i].key;
            memcpy(first, file, sizeof first);
        } else if (strcmp(file, first) != 0) {
            return "this command starts several programs";
        }
    }
    return *found == NULL ? why : NULL;
}

/* NULL after a line. */
static char *find_record(const char *command)
{
    char *path = NULL;
    cache_entry *entry = NULL;
    const cache_key *key;
    size_t count = 0;
    int folder = cache_open(false), rc = folder < 0 ? folder : cache_list(folder, &entry, &count);
    const char *why = choose_record(command, folder, entry, count, &key);
    if (rc < 0 && rc != -ENOENT)
        why = cache_reason(rc);
    if (why == NULL)
        tool_check(cache_record_path(key, &path), "the cache");
    else
        tool_note("not placed: %s", why);
    free(entry);
    if (folder >= 0)
        close(folder);
    return path;
}

/* ---- what launchers and ranks are told ---- */

/* Open MPI's mapper places by itself, and leaves a job that it cannot place to mpirun. */
static void tell_mapper(const char *record)
{
    char *path = realpath(record, NULL), *file;
    if (path == NULL || asprintf(&file, DLA_AUTOMATIC_FILE ":%s", path) < 0)
        exit(tool_fail("%s: %s", record, strerror(errno)));
    setenv("OMPI_MCA_rmaps_dla_file", file, 1);
    setenv("PRTE_MCA_rmaps_dla_file", file, 1);
    free(file);
    free(path);
}

/* Hands a list of nodes, one a line, to launchers by this variable. It is in memory, and has the
 * name of a file for as long as this process lives, which becomes the launcher. */
static void hand_over(const char *variable, const launch *l, const size_t *node, size_t count)
{
    char name[64];
    int fd = memfd_create("hosts", 0);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    for (size_t i = 0; out != NULL && i < count; i++)
        fprintf(out, "%s\n", l->nodes.name[node[i]]);
    if (out == NULL || fflush(out) != 0) {
        tool_note("the list of nodes: %s", strerror(errno));
        return;
    }
    snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), fd);
    setenv(variable, name, 1);
}

/* The nodes of `ranks` ranks, of free slots, and again of all slots in their order. */
static size_t *list_nodes(const launch *l, const size_t *node_of_rank, size_t ranks)
{
    size_t *node = tool_allocate(2 * sum_slots(l), sizeof *node), *next = node;
    size_t *used = tool_allocate(l->nodes.count, sizeof *used);
    for (size_t rank = 0; rank < ranks; rank++) {
        *next++ = node_of_rank[rank];
        used[node_of_rank[rank]]++;
    }
    for (size_t n = 0; n < l->nodes.count; n++)
        for (; used[n] < l->nodes.slots[n]; used[n]++)
            *next++ = n;
    for (size_t n = 0; n < l->nodes.count; n++)
        for (; used[n] > 0; used[n]--)
            *next++ = n;
    free(used);
    return node;
}

static void tell_hydra(const launch *l, const size_t *node, size_t count)
{
    hand_over("HYDRA_HOST_FILE", l, node, count);
    hand_over("I_MPI_HYDRA_HOST_FILE", l, node, count);
}

/* srun ends where there are fewer lines than tasks: jobs may use slots twice. In an allocation of
 * Slurm, also hydra starts its daemons by srun, which does not read the list where nodes are named,
 * as by hydra if it has a list; and it ends where a node is in several runs of this. The library
 * hides the list of srun from mpirun. */
static void tell_launcher(const launch *l, const dla_placement *p, size_t ranks)
{
    size_t *node = list_nodes(l, p->node_of_rank, ranks), slots = sum_slots(l);
    if (getenv("SLURM_JOB_ID") == NULL) {
        tell_hydra(l, node, ranks);
    } else if (l->has_library) {
        hand_over("SLURM_HOSTFILE", l, node, 2 * slots);
        tell_hydra(l, node + slots, slots);
    }
    free(node);
}

static void tell_ranks(const dla_placement *p, size_t ranks)
{
    char text[64];
    snprintf(text, sizeof text, COLL_PLACED_FORMAT, ranks,
             coll_nodes_digest(p->node_of_rank, ranks));
    setenv(COLL_PLACED, text, 1);
}

/* ---- the placement ---- */

/* Outside an allocation of Slurm, where hydra's list may have a node in several runs: MPICH takes
 * each for a node, and its collectives pay for that. Adds this to the line, and returns whether it
 * is so. */
static bool note_price(const launch *l, const dla_placement *p, size_t ranks, char *line,
                       size_t size)
{
    size_t used, runs = nodes_count_runs(p->node_of_rank, ranks, l->nodes.count, &used);
    size_t length = strlen(line);
    if (runs == used || getenv("SLURM_JOB_ID") != NULL)
        return false;
    snprintf(line + length, size - length,
             "; %s takes the %zu nodes for %zu (other-mpi.md, \"Placement\")",
             l->file != NULL ? "MPICH" : "not by mpiexec of MPICH, which", used, runs);
    return true;
}

static void place_ranks(const launch *l, const dla_spec *spec, const dla_data *data)
{
    const dla_room room = {.nodes = l->nodes.count, .slots = l->nodes.slots};
    size_t ranks = data->file.view.rows;
    char text[DLA_REPORT_SIZE + 128];
    dla_placement p;
    int rc = dla_place(data, spec, &room, &p);
    if (rc == -ENOSPC) {
        tool_note("not placed: %s is of %zu ranks, and the nodes have %zu slots",
                  dla_spec_name(spec), ranks, sum_slots(l));
        return;
    }
    tool_check(rc, "placing");
    dla_benefit_format(&p, dla_spec_name(spec), text);
    bool has_price = note_price(l, &p, ranks, text, sizeof text);
    tool_note("%s", text);
    if (l->nodes.count > 1 && p.benefit.kept != DLA_STOCK_BY_SLOT) {
        tell_mapper(dla_spec_name(spec));
        setenv("OMPI_MCA_rmaps_dla_verbose", "-1", 0); /* it need not repeat the line */
        setenv("PRTE_MCA_rmaps_dla_verbose", "-1", 0);
        if (l->file != NULL || !has_price) {
            tell_launcher(l, &p, ranks);
            tell_ranks(&p, ranks);
        }
    }
    dla_placement_release(&p);
}

/* The network is that of mpirun. */
static char *copy_topology(void)
{
    const char *name = getenv("OMPI_MCA_rmaps_dla_topology");
    name = name != NULL ? name : getenv("PRTE_MCA_rmaps_dla_topology");
    return name == NULL ? NULL : tool_copy(name);
}

void launch_place(const launch *l)
{
    char reason[DLA_REASON_SIZE];
    const dla_nodes nodes = {(const char *const *)l->nodes.name, l->nodes.count};
    dla_spec spec = {.text[DLA_FILE] =
                         l->file != NULL ? tool_copy(l->file) : find_record(l->command),
                     .text[DLA_TOPOLOGY] = nodes.count > 0 ? copy_topology() : NULL};
    dla_data data;
    if (l->is_given) {
        size_t *node = list_nodes(l, NULL, 0);
        tell_hydra(l, node, sum_slots(l));
        free(node);
    }
    if (spec.text[DLA_FILE] == NULL)
        return;
    int rc = dla_data_read(&data, &spec, (dla_streams){NULL, NULL}, 0, &nodes, reason);
    const char *why = rc == -ENOMEM ? strerror(ENOMEM) : reason;
    if (rc != 0 && l->file != NULL)
        exit(tool_fail("%s", why));
    if (rc != 0) {
        tool_note("not placed: %s", why);
    } else if (nodes.count > 0) {
        place_ranks(l, &spec, &data);
    } else {
        tell_mapper(dla_spec_name(&spec));
        setenv(COLL_PLACED, "tatp run is in no allocation of Slurm, PBS or LSF; give it --nodes",
               1);
    }
    if (rc == 0)
        dla_data_release(&data);
    dla_spec_release(&spec);
}
