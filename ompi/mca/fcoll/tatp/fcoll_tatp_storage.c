/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of an open file, as its file system or a file of targets says it. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_storage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ompi/mca/fcoll/base/base.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "opal/util/output.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/mix.h"

/* For the answer of a file system. Most take some milliseconds. */
enum { MILLISECONDS = 3000 };

/* Of a file whose objects are asked for one by one: those of its first bytes when it is opened,
 * which are enough to see whether its servers matter; later those of a plan that has others, and
 * what follows. Where another layout may be chosen, whose objects may be any, those of more. */
#define FIRST_BYTES (INT64_C(256) << 20)
#define LAYOUT_BYTES (INT64_C(4) << 30)
#define MOST_BYTES (INT64_C(64) << 30)
/* Of a file whose layout is recorded. */
#define RECORDED_BYTES (INT64_C(4) << 30)

/* No access moves by so much. */
#define NEVER INT64_MAX

/* Of the file. */
typedef struct byte_range {
    int64_t lo, hi;
} byte_range;

struct tatp_storage {
    int64_t weight;             /* 0: nothing is known */
    int64_t period;             /* bytes after which the servers repeat; NEVER */
    int64_t digest;             /* of the layout and its servers; 0: nothing is known */
    storage_layout *layout;     /* the rest on rank 0 */
    bool is_reported;           /* the layout, maybe but its hosts, is what the file system says */
    storage_question *question; /* rank 0: whose answer is waited for; NULL: none */
    storage_layout *table;      /* rank 0: the file of targets, until the file is closed; NULL */
    size_t *node_of_target;
    topo topology; /* nodes is 0: that of the map */
};

tatp_storage *tatp_storage_new(void)
{
    return calloc(1, sizeof(tatp_storage));
}

/* But the question and the file of targets. */
static void reset_storage(tatp_storage *storage)
{
    storage_free(storage->layout);
    free(storage->node_of_target);
    topo_release(&storage->topology);
    *storage = (tatp_storage){.question = storage->question, .table = storage->table};
}

static void drop_question(tatp_storage *storage)
{
    storage_drop(storage->question);
    storage->question = NULL;
}

void tatp_storage_close(tatp_storage *storage)
{
    drop_question(storage);
    storage_free(storage->table);
    storage->table = NULL;
}

void tatp_storage_free(tatp_storage *storage)
{
    if (NULL == storage)
        return;
    tatp_storage_close(storage);
    reset_storage(storage);
    free(storage);
}

/* ---- the layout, on rank 0 ---- */

static bool names_table(const tatp_storage_input *in)
{
    return NULL != in->targets && '\0' != in->targets[0];
}

/* With a file of targets, whose mistakes are reported at once, all is asked for at once. */
storage_speed tatp_storage_get_speed(const tatp_storage_input *in)
{
    if (0 == in->weight)
        return STORAGE_SILENT;
    return names_table(in) ? STORAGE_FAST : storage_get_speed(in->fd);
}

/* Once a process: most files of a program are on one file system. */
static void warn(const tatp_storage_input *in, const matrix_error *error, int rc)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    const char *reason = -ENOMEM == rc ? "there is no memory for it" : error->reason;
    char line[32] = "";
    if (atomic_flag_test_and_set(&reported))
        return;
    if (error->line > 0)
        snprintf(line, sizeof line, ", line %lu", (unsigned long)error->line);
    if (names_table(in))
        tatp_show_help("targets", in->targets, line, reason);
    else
        tatp_show_help("layout", in->file, reason);
}

/* Once while the file is open: what is read later is not what plans were made by. */
static int read_table(const char *path, storage_layout **table, matrix_error *error)
{
    const char *cause;
    if (NULL != *table)
        return 0;
    FILE *stream = base_open_regular(path, &cause);
    if (NULL == stream)
        return matrix_refuse(error, 0, "%s", cause);
    int rc = storage_read_targets(stream, table, error);
    fclose(stream);
    return rc;
}

/* A file system that was too slow is not asked again by this process, which may open many files. */
static _Atomic bool is_slow;

static int begin_question(int fd, byte_range range, storage_question **question,
                          matrix_error *error)
{
    int64_t to = range.hi - range.lo < MOST_BYTES ? range.hi : range.lo + MOST_BYTES;
    if (is_slow) {
        matrix_refuse(error, 0, "no answer for an earlier file");
        return -ENOTSUP;
    }
    return storage_ask(fd, range.lo, to, question, error);
}

/* *begun: a question that was begun, which is freed; NULL: none. */
static int ask_file_system(int fd, byte_range range, storage_question **begun,
                           storage_layout **layout, matrix_error *error)
{
    storage_question *question = *begun;
    *begun = NULL;
    int rc = NULL == question ? begin_question(fd, range, &question, error) : 0;
    if (0 == rc)
        rc = storage_answer(question, MILLISECONDS, layout, error);
    if (-ETIMEDOUT == rc)
        is_slow = true;
    return rc;
}

/* Before the file has data. Returns whether it has got the striping. */
static bool set_striping(const tatp_storage_input *in)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT; /* once a process */
    matrix_error error = {0, ""};
    int rc = storage_set_striping(in->fd, in->striping, MILLISECONDS, &error);
    if (-ETIMEDOUT == rc)
        is_slow = true;
    if (0 != rc && -ENOTEMPTY != rc && !atomic_flag_test_and_set(&reported))
        tatp_show_help("striping", in->file, -ENOMEM == rc ? "there is no memory" : error.reason);
    return 0 == rc;
}

/* The stripes that the file system does not say go to the targets of the table in turn. */
static int stripe_table(const tatp_storage_input *in, const storage_layout *table,
                        storage_layout **layout, matrix_error *error)
{
    if (0 == in->stripe)
        return matrix_refuse(error, 0, "the stripe size of the file is not known");
    int rc = storage_copy(table, layout);
    return 0 == rc ? storage_stripe(*layout, in->stripe, (size_t)in->count, error) : rc;
}

/* A table of blocks is a layout, one of targets gives their hosts to that of the file system, or
 * its targets take the stripes in turn. *layout: the caller frees it, also after an error. */
static int use_table(const tatp_storage_input *in, byte_range range, const storage_layout *table,
                     storage_layout **layout, bool *is_reported, matrix_error *error)
{
    storage_question *begun = NULL;
    matrix_error none;
    if (storage_extents(table) > 0)
        return storage_copy(table, layout);
    if (0 != ask_file_system(in->fd, range, &begun, layout, &none))
        return stripe_table(in, table, layout, error);
    *is_reported = true;
    return storage_copy_hosts(*layout, table, error);
}

/* NULL: nothing is known. begun: as ask_file_system. */
static storage_layout *find_layout(const tatp_storage_input *in, byte_range range,
                                   storage_question **begun, storage_layout **table,
                                   bool *is_reported)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    int rc;
    *is_reported = false;
    if (names_table(in)) {
        rc = read_table(in->targets, table, &error);
        if (0 == rc)
            rc = use_table(in, range, *table, &layout, is_reported, &error);
    } else {
        rc = ask_file_system(in->fd, range, begun, &layout, &error);
        *is_reported = true;
    }
    if (0 == rc)
        return layout;
    if (names_table(in) || -ENOTSUP != rc)
        warn(in, &error, rc);
    opal_output_verbose(20, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: storage targets are not known: %s", error.reason);
    storage_free(layout);
    return NULL;
}

/* ---- its servers, on rank 0 ---- */

/* name, target: of those targets whose host is known. Returns their number. */
static size_t list_hosts(const storage_layout *layout, const char **name, size_t *target)
{
    size_t count = 0;
    for (size_t t = 0; t < storage_targets(layout); t++) {
        const char *host = storage_target_host(layout, t);
        if (NULL == host)
            continue;
        name[count] = host;
        target[count++] = t;
    }
    return count;
}

/* Only a file of targets has to name hosts of the network: the servers of a file system need not
 * be known there. */
static int take_nodes(tatp_storage *storage, const tatp_storage_input *in, const char *const *name,
                      const size_t *target, size_t count, matrix_error *error)
{
    tatp_hosts hosts;
    int rc = tatp_nodes_find_hosts(in->nodes, in->topology, name, count, &hosts, error);
    if (0 != rc)
        return rc;
    for (size_t k = 0; k < count && 0 == rc; k++) {
        storage->node_of_target[target[k]] = hosts.node[k];
        if (SIZE_MAX == hosts.node[k] && names_table(in))
            rc = matrix_refuse(error, 0, "the distance of host %.100s is not known", name[k]);
    }
    storage->topology = hosts.topology;
    hosts.topology = (topo){0};
    tatp_hosts_release(&hosts);
    return rc;
}

static int find_servers(tatp_storage *storage, const tatp_storage_input *in, matrix_error *error)
{
    size_t targets = storage_targets(storage->layout);
    int rc = 0;
    const char **name = base_zeroed(targets, sizeof *name, &rc);
    size_t *target = base_zeroed(targets, sizeof *target, &rc);
    storage->node_of_target = base_zeroed(targets, sizeof *storage->node_of_target, &rc);
    for (size_t t = 0; t < targets && 0 == rc; t++)
        storage->node_of_target[t] = SIZE_MAX;
    if (0 == rc)
        rc =
            take_nodes(storage, in, name, target, list_hosts(storage->layout, name, target), error);
    free(name);
    free(target);
    return rc;
}

/* ---- what all ranks learn ---- */

static int64_t digest_servers(const tatp_storage *storage)
{
    uint64_t digest = 1;
    for (size_t k = 0; k < storage_extents(storage->layout); k++) {
        storage_extent e;
        storage_get_extent(storage->layout, k, &e);
        const uint64_t number[] = {(uint64_t)e.start, (uint64_t)e.end, (uint64_t)e.unit, e.count,
                                   (uint64_t)e.object};
        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            digest = base_digest(digest, number[i]);
        for (size_t i = 0; i < e.objects; i++)
            digest = base_digest(digest, STORAGE_NONE != e.target[i]
                                             ? storage->node_of_target[e.target[i]]
                                             : SIZE_MAX);
    }
    return (int64_t)(digest >> 1) | 1;
}

/* Whether any server may be nearer to some ranks than to others: on a flat network those of their
 * nodes. */
static bool servers_matter(const tatp_storage *storage, const tatp_node_map *map)
{
    bool is_flat = 0 == map->topology.places;
    for (size_t t = 0; t < storage_targets(storage->layout); t++) {
        size_t node = storage->node_of_target[t];
        if (SIZE_MAX != node && (!is_flat || node < map->nodes))
            return true;
    }
    return false;
}

/* Whether stripes go to the same targets in turn throughout the file. */
static bool is_regular(const storage_layout *layout, storage_extent *e)
{
    if (1 != storage_extents(layout))
        return false;
    storage_get_extent(layout, 0, e);
    return 0 == e->start && INT64_MAX == e->end && 0 == e->object && e->count > 0 &&
           e->objects == e->count;
}

/* The stripe unit of all extents, which begin where a stripe does; 0: there is none. Objects of
 * limited size are not locked by stripes. */
static int64_t common_unit(const storage_layout *layout)
{
    int64_t unit = 0;
    for (size_t k = 0; k < storage_extents(layout); k++) {
        storage_extent e;
        storage_get_extent(layout, k, &e);
        unit = k > 0 ? unit : e.unit;
        if (e.object > 0 || e.unit != unit || e.start % unit != 0)
            return 0;
    }
    return unit;
}

/* Where costs are known of all objects, so that layouts can be compared. */
static bool may_be_striped(const tatp_storage *storage)
{
    file_striping_limits limits;
    for (size_t t = 0; t < storage_targets(storage->layout); t++)
        if (SIZE_MAX == storage->node_of_target[t])
            return false;
    return storage_can_be_striped(storage->layout, &limits);
}

enum { WEIGHT, PERIOD, DIGEST, STRIPE, COUNT, MAY_BE_STRIPED, VALUES };

/* A file of targets knows nothing of locks, only of hosts. */
static void describe_layout(const tatp_storage *storage, const tatp_storage_input *in,
                            int64_t *value)
{
    storage_extent e;
    int64_t period;
    bool regular = is_regular(storage->layout, &e);
    if (servers_matter(storage, tatp_nodes_map(in->nodes)))
        value[WEIGHT] = in->weight;
    value[DIGEST] = digest_servers(storage);
    value[PERIOD] = NEVER;
    if (regular && !__builtin_mul_overflow(e.unit, (int64_t)e.count, &period))
        value[PERIOD] = period;
    value[STRIPE] = storage->is_reported ? common_unit(storage->layout) : 0;
    value[COUNT] = regular && value[STRIPE] > 0 ? (int64_t)e.count : 0;
    value[MAY_BE_STRIPED] = value[WEIGHT] > 0 && in->fits_layout && may_be_striped(storage);
}

/* Whether targets of bytes of the range are known, and their hosts. If not, *storage is reset. */
static bool find_range(tatp_storage *storage, const tatp_storage_input *in, byte_range range)
{
    matrix_error error = {0, ""};
    storage->layout =
        find_layout(in, range, &storage->question, &storage->table, &storage->is_reported);
    if (NULL == storage->layout)
        return false;
    int rc = find_servers(storage, in, &error);
    if (0 == rc) {
        opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                            "fcoll:tatp: %lu storage targets from %s",
                            (unsigned long)storage_targets(storage->layout),
                            storage_file_system(storage->layout));
        return true;
    }
    warn(in, &error, rc);
    reset_storage(storage);
    return false;
}

/* The same on all ranks. */
static bool has_to_know(const tatp_storage_input *in)
{
    return in->weight > 0 && STORAGE_SILENT != in->speed && tatp_nodes_count(in->nodes) > 1;
}

static int64_t bytes_ahead(const tatp_storage_input *in)
{
    return in->fits_layout ? LAYOUT_BYTES : FIRST_BYTES;
}

void tatp_storage_ask_ahead(tatp_storage *storage, const tatp_storage_input *in)
{
    int local;
    matrix_error none;
    (void)tatp_comm_local_ranks(in->comm, &local);
    if (0 == in->weight || STORAGE_SLOW != in->speed || 0 != tatp_comm_rank(in->comm) ||
        NULL != storage->question || local == tatp_comm_size(in->comm))
        return;
    (void)begin_question(in->fd, (byte_range){0, bytes_ahead(in)}, &storage->question, &none);
}

/* Before all is known the digest is that of the last file, by which plans that are kept were made.
 */
bool tatp_storage_defer(tatp_storage *storage, const tatp_storage_input *in)
{
    int64_t digest = storage->digest;
    if (!has_to_know(in) || STORAGE_SLOW != in->speed)
        return false;
    reset_storage(storage);
    storage->digest = digest;
    return true;
}

int tatp_storage_find(tatp_storage *storage, const tatp_storage_input *in,
                      tatp_storage_found *found)
{
    int64_t value[VALUES] = {0}, before = storage->digest;
    int count = VALUES, rc = OMPI_SUCCESS;
    bool is_striped = false;
    reset_storage(storage);
    if (has_to_know(in)) {
        if (0 == tatp_comm_rank(in->comm)) {
            is_striped = NULL != in->striping && set_striping(in);
            if (find_range(storage, in, (byte_range){0, bytes_ahead(in)}))
                describe_layout(storage, in, value);
        }
        rc = tatp_bcast(in->comm, value, &count);
    }
    drop_question(storage);
    if (OMPI_SUCCESS != rc)
        return rc;
    storage->weight = value[WEIGHT];
    storage->period = value[PERIOD];
    storage->digest = value[DIGEST];
    *found = (tatp_storage_found){storage->digest != before, value[STRIPE], value[COUNT],
                                  0 != value[MAY_BE_STRIPED], is_striped};
    return OMPI_SUCCESS;
}

char *tatp_storage_record(tatp_storage *storage, const tatp_storage_input *in, int *error)
{
    bool is_reported;
    storage_layout *layout = NULL;
    storage_question *begun = NULL;
    if (names_table(in) || STORAGE_SILENT != storage_get_speed(in->fd))
        layout =
            find_layout(in, (byte_range){0, RECORDED_BYTES}, &begun, &storage->table, &is_reported);
    char *text = NULL != layout ? storage_record(layout) : NULL;
    *error = NULL != layout && NULL == text ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    storage_free(layout);
    return text;
}

/* ---- further bytes, on rank 0 ---- */

/* *most: the bytes of the range on the target that has most of them. -ENOENT: of some bytes no
 * target is known. */
static int find_most(const storage_layout *layout, byte_range range, int64_t *most)
{
    size_t targets = storage_targets(layout);
    int rc = 0;
    int64_t *bytes = base_zeroed(targets + 1, sizeof *bytes, &rc);
    if (0 != rc)
        return rc;
    storage_count(layout, range.lo, range.hi, bytes);
    if (bytes[targets] > 0)
        rc = -ENOENT;
    *most = 0;
    for (size_t t = 0; t < targets; t++)
        *most = bytes[t] > *most ? bytes[t] : *most;
    free(bytes);
    return rc;
}

void tatp_storage_reach(tatp_storage *storage, const tatp_storage_input *in, int64_t lo, int64_t hi)
{
    const byte_range needed = {lo, hi};
    const int64_t ahead = bytes_ahead(in);
    const int64_t most_hi = lo < INT64_MAX - ahead ? lo + ahead : INT64_MAX;
    tatp_storage further = {.table = storage->table};
    int64_t most;
    if (0 == storage->weight || !storage->is_reported ||
        -ENOENT != find_most(storage->layout, needed, &most) ||
        !find_range(&further, in, (byte_range){lo, hi > most_hi ? hi : most_hi}))
        return;
    further.weight = storage->weight;
    further.period = storage->period;
    further.digest = storage->digest;
    reset_storage(storage);
    *storage = further;
}

/* ---- what is known ---- */

int64_t tatp_storage_weight(const tatp_storage *storage)
{
    return storage->weight;
}

int64_t tatp_storage_period(const tatp_storage *storage, int64_t period)
{
    int64_t a = period, b = storage->period, both;
    if (0 == storage->weight)
        return period;
    if (NEVER == storage->period)
        return NEVER;
    while (0 != b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return __builtin_mul_overflow(period / a, storage->period, &both) ? NEVER : both;
}

const topo *tatp_storage_topology(const tatp_storage *storage, const tatp_node_map *map)
{
    bool is_extended = storage->weight > 0 && storage->topology.nodes > 0;
    return is_extended ? &storage->topology : &map->topology;
}

const char *tatp_storage_host(const tatp_storage *storage, size_t node)
{
    for (size_t t = 0; t < storage_targets(storage->layout); t++)
        if (storage->node_of_target[t] == node)
            return storage_target_host(storage->layout, t);
    return "";
}

static int spread_layout(const tatp_storage *storage, const storage_layout *layout,
                         const file_domains *domains, const matrix *node_bytes, matrix *bytes)
{
    int rc = 0;
    int64_t *accessed = base_zeroed(domains->count, sizeof *accessed, &rc);
    for (size_t k = 0; k < matrix_entries(node_bytes) && 0 == rc; k++)
        if (__builtin_add_overflow(accessed[node_bytes->col[k]], node_bytes->value[k],
                                   &accessed[node_bytes->col[k]]))
            rc = -ERANGE;
    if (0 == rc)
        rc = storage_spread(layout, domains, storage->node_of_target, node_bytes->rows, accessed,
                            bytes);
    free(accessed);
    return rc;
}

int tatp_storage_bytes(const tatp_storage *storage, const file_domains *domains,
                       const matrix *node_bytes, matrix *bytes)
{
    *bytes = (matrix){0};
    if (0 == storage->weight)
        return 0;
    return spread_layout(storage, storage->layout, domains, node_bytes, bytes);
}

/* ---- other layouts ---- */

file_striping_limits tatp_storage_limits(const tatp_storage *storage)
{
    file_striping_limits limits;
    (void)storage_can_be_striped(storage->layout, &limits);
    return limits;
}

int tatp_storage_bytes_with(const tatp_storage *storage, const file_striping *striping,
                            const file_domains *domains, const matrix *node_bytes, matrix *bytes,
                            int64_t *most)
{
    storage_layout *other = NULL;
    int rc = 0;
    if (NULL != striping)
        rc = storage_with_striping(storage->layout, striping, domains->hi, &other);
    const storage_layout *layout = NULL != other ? other : storage->layout;
    if (0 == rc)
        rc = find_most(layout, (byte_range){domains->lo, domains->hi}, most);
    if (0 == rc)
        rc = spread_layout(storage, layout, domains, node_bytes, bytes);
    storage_free(other);
    return rc;
}
