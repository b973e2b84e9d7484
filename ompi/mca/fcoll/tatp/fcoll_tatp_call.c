/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls on a file: what is accessed, then operation after operation, then the status.
 *
 * An operation moves one ordered access list of each rank. Views that go forward without overlap,
 * which is all that MPI allows for writing, give one ordered list; a view that overlaps itself
 * gives more layers, and each rank takes part in as many operations as the rank with most layers.
 *
 * The plan of an earlier call is reused when every rank accesses what it did then, moved by one
 * distance that is the same for all (the next time step, most often): then one reduction is all
 * that precedes the data.
 *
 * Nothing returns between two collective steps: every rank carries its own error to the next
 * agreement, where it becomes the error of all. What depends on the arguments and the file pointer
 * is done when the call is made; everything else may be done on a stack of its own, later. */
#include "fcoll_tatp.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_exchange.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_independent.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_schedule.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_settings.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats.h"

#include "plan/aggregation.h"
#include "storage/stripes.h"

/* Blocks of local file systems at most, bytes. */
#define LARGEST_LOCAL_BLOCK (64 << 10)

/* ---- an open file ---- */

typedef struct tatp_call tatp_call;

struct tatp_file {
    tatp_settings agreed;        /* the same on all ranks ... */
    tatp_plan_settings settings; /* ... as is what follows from them */
    tatp_paths paths;
    tatp_settings own; /* with this rank's hints, which may have changed */
    int64_t digest;    /* of `own` */
    tatp_hints *hints;
    int64_t aggregators; /* of the last call by a plan; 0: none yet */
    int64_t lock_unit;   /* bytes of the file that the file system locks together; 0: not known */
    bool is_open;        /* all ranks have agreed on `error` */
    int error;           /* of the opening */
    tatp_io io;
    tatp_comm *comm;
    tatp_view *view;
    tatp_nodes *nodes;
    bool records; /* the same on all ranks: accesses are recorded */
    tatp_schedule *schedule;
    tatp_plans *plans;
    /* Of the plan in each slot: the exchange that was prepared for it, and the operations by it. */
    tatp_exchange_memory *memory;
    tatp_exchange *exchange[TATP_SLOTS];
    int64_t plan_ops[TATP_SLOTS];
    int64_t kept_bytes;              /* of all slots, as tatp_plans_bytes and tatp_exchange_bytes */
    bool merges_nothing[TATP_SLOTS]; /* no aggregator does; the same on all ranks */
    size_t last_slot; /* of the last operation that was carried out; TATP_SLOTS: without a plan */
    bool was_independent[2]; /* the last call that read, or wrote; true: there was none */
    bool misjudged;          /* this rank transferred data early, without use */
    tatp_independent *independent;
    tatp_record *record;
    tatp_stats *stats;
    tatp_call *spare; /* for the next non-blocking call: others wait for it even without memory */
};

_Static_assert(TATP_SLOTS <= TATP_PLANS && TATP_SLOTS <= TATP_EXCHANGES,
               "a plan and an exchange for each slot");

static tatp_call *new_request_call(void);
static void free_request_call(tatp_call *call);

static bool allocate_exchanges(tatp_file *file, const ompi_process_name_t *group)
{
    file->memory = tatp_exchange_memory_new(group);
    for (size_t slot = 0; slot < TATP_SLOTS && NULL != file->memory; slot++) {
        file->exchange[slot] = tatp_exchange_new(file->memory, slot);
        if (NULL == file->exchange[slot])
            return false;
    }
    return NULL != file->memory;
}

tatp_file *tatp_file_new(const ompi_process_name_t *group)
{
    tatp_file *file = calloc(1, sizeof *file);
    if (NULL == file)
        return NULL;
    file->hints = tatp_hints_new();
    file->comm = tatp_comm_new();
    file->view = tatp_view_new();
    file->nodes = tatp_nodes_new();
    file->schedule = tatp_schedule_new();
    file->plans = tatp_plans_new();
    file->independent = tatp_independent_new();
    file->record = tatp_record_new();
    file->stats = tatp_stats_new();
    file->spare = new_request_call();
    if (allocate_exchanges(file, group) && NULL != file->hints && NULL != file->comm &&
        NULL != file->view && NULL != file->nodes && NULL != file->schedule &&
        NULL != file->plans && NULL != file->independent && NULL != file->record &&
        NULL != file->stats && NULL != file->spare)
        return file;
    tatp_file_free(file);
    return NULL;
}

void tatp_file_free(tatp_file *file)
{
    free_request_call(file->spare);
    tatp_stats_free(file->stats);
    tatp_record_free(file->record);
    tatp_independent_free(file->independent);
    for (size_t slot = 0; slot < TATP_SLOTS; slot++)
        tatp_exchange_free(file->exchange[slot]);
    tatp_exchange_memory_free(file->memory);
    tatp_plans_free(file->plans);
    tatp_schedule_free(file->schedule);
    tatp_nodes_free(file->nodes);
    tatp_view_free(file->view);
    tatp_comm_free(file->comm);
    tatp_hints_free(file->hints);
    free(file);
}

bool tatp_file_has_settings(const tatp_file *file, const tatp_plan_settings *settings)
{
    return 0 == memcmp(settings, &file->settings, sizeof *settings);
}

void tatp_file_open(tatp_file *file, ompio_file_t *fh)
{
    file->io = (tatp_io){.fh = fh, .fbtl = fh->f_fbtl};
    file->is_open = false;
    file->records = false;
    file->aggregators = 0;
    file->was_independent[false] = file->was_independent[true] = true;
    file->misjudged = false;
}

/* ---- hints ---- */

/* For MPI_File_get_info. */
static void publish_hints(tatp_file *file, const tatp_plan_settings *settings)
{
    const tatp_hint_values given = tatp_hints_get(file->hints);
    const tatp_hint_values values = tatp_params_hints(settings, &given, file->aggregators);
    tatp_hints_publish(file->hints, &values);
}

/* New hints of this rank are published at once, and apply from the next agreement on. */
static void publish_new_hints(tatp_file *file)
{
    const tatp_hint_values given = tatp_hints_get(file->hints);
    tatp_settings own = file->agreed;
    tatp_settings_set_hints(&own, &given);
    const tatp_plan_settings settings =
        tatp_hints_changed(file->hints) ? tatp_params_plan(file->io.fh, &own) : file->settings;
    publish_hints(file, &settings);
}

/* ---- settings ---- */

/* File systems of one machine, some of which state blocks as large as those of distributed ones. */
static bool is_local(int fd)
{
    enum { ZFS_SUPER_MAGIC = 0x2fc12fc1 }; /* <linux/magic.h> lacks it */
    struct statfs system;
    if (0 != fstatfs(fd, &system))
        return false;
    switch ((unsigned long)system.f_type) {
    case BTRFS_SUPER_MAGIC:
    case EXT4_SUPER_MAGIC: /* of ext2 and ext3, too */
    case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case XFS_SUPER_MAGIC:
    case ZFS_SUPER_MAGIC: return true;
    default: return false;
    }
}

/* A stripe where it is known. A distributed file system states larger blocks than pages, and locks
 * no less than a block. */
static int64_t find_lock_unit(const tatp_file *file)
{
    struct stat status;
    int fd = file->io.fh->fd;
    if (file->settings.division.stripe > 0)
        return file->settings.division.stripe;
    if (0 != fstat(fd, &status) || status.st_blksize <= LARGEST_LOCAL_BLOCK || is_local(fd))
        return 0;
    return (int64_t)status.st_blksize;
}

static void set_own_settings(tatp_file *file, const tatp_settings *settings)
{
    file->own = *settings;
    file->digest = tatp_settings_digest(settings);
}

/* All ranks have the same `own`. Returns whether plans depend on what has changed, which is the
 * same on all ranks. */
static bool adopt_own_settings(tatp_file *file)
{
    const tatp_plan_settings settings = tatp_params_plan(file->io.fh, &file->own);
    bool changes = !tatp_file_has_settings(file, &settings);
    file->agreed = file->own;
    file->settings = settings;
    file->lock_unit = find_lock_unit(file);
    if (changes)
        tatp_schedule_forget_all(file->schedule);
    return changes;
}

/* Some ranks have another `own` than others. paths: NULL if the file is open. Collective. */
static int agree_on_settings(tatp_file *file, tatp_paths *paths)
{
    tatp_settings settings = file->own;
    int rc = tatp_settings_agree(&settings, paths, file->comm, file->io.fh->f_filename);
    if (OMPI_SUCCESS != rc)
        return rc;
    set_own_settings(file, &settings);
    const tatp_hint_values hints = tatp_settings_get_hints(&settings);
    tatp_hints_replace(file->hints, &hints);
    return OMPI_SUCCESS;
}

/* What this rank's program has set since the last call. Local. */
static void take_new_hints(tatp_file *file)
{
    if (!tatp_hints_changed(file->hints))
        return;
    const tatp_hint_values hints = tatp_hints_take(file->hints);
    tatp_settings settings = file->agreed;
    tatp_settings_set_hints(&settings, &hints);
    set_own_settings(file, &settings);
}

/* After an agreement in which all ranks had the same settings or not. *reuse, where true, is the
 * same on all ranks before and after. Collective where ranks differ. */
static int renew_settings(tatp_file *file, bool differ, bool *reuse)
{
    int rc = differ ? agree_on_settings(file, NULL) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc || 0 == memcmp(&file->own, &file->agreed, sizeof file->own))
        return rc;
    if (adopt_own_settings(file))
        *reuse = false;
    return OMPI_SUCCESS;
}

/* ---- opening ---- */

/* A name that is too long to be opened stays so. */
static void copy_path(const char *path, char copy[TATP_PATH_BYTES])
{
    snprintf(copy, TATP_PATH_BYTES, "%s", NULL != path ? path : "");
}

/* On rank 0. */
static int prepare_record(tatp_file *file)
{
    int rc = tatp_record_prepare(file->paths.record, &file->records);
    return OMPI_SUCCESS == rc ? rc : tatp_params_refuse(rc);
}

/* This rank's part of the opening. Rank 0 checks what the user asked for, before the first access:
 * what cannot be used must not cost data. */
static int prepare_file(tatp_file *file)
{
    const ompio_file_t *fh = file->io.fh;
    int rc = tatp_comm_attach(file->comm, fh->f_comm);
    if (OMPI_SUCCESS == rc)
        rc = tatp_plans_prepare(file->plans, fh->f_size);
    if (OMPI_SUCCESS == rc)
        rc = tatp_stats_prepare(file->stats, fh->f_rank, fh->f_size);
    if (OMPI_SUCCESS == rc && 0 == fh->f_rank)
        rc = tatp_params_check();
    if (OMPI_SUCCESS == rc && 0 == fh->f_rank)
        rc = prepare_record(file);
    return rc;
}

static void collect_settings(tatp_file *file)
{
    const tatp_params params = tatp_params_get();
    const tatp_hint_values hints = tatp_hints_take(file->hints);
    const tatp_settings settings = tatp_params_collect(file->io.fh, &hints);
    copy_path(params.record_file, file->paths.record);
    copy_path(params.stats_file, file->paths.stats);
    set_own_settings(file, &settings);
}

/* On rank 0, where OMPIO does not know the stripes: those that the file system says, unless all
 * ranks are on one node, whose ranks do not wait for each other's locks. What is not locked leaves
 * domains as they are, but for those that are to be striped. */
static void ask_file_system(const tatp_file *file, tatp_opening *opening)
{
    int local;
    (void)tatp_comm_local_ranks(file->comm, &local);
    if (file->own.of[TATP_FS_STRIPE_SIZE] > 0 || local == file->io.fh->f_size)
        return;
    const storage_stripes stripes = storage_get_stripes(file->io.fh->fd);
    if (stripes.size > DIVISION_LARGEST_STRIPE ||
        (!stripes.locked && DIVISION_STRIPE != file->own.of[PARAMETER_DOMAINS]))
        return;
    opening->stripe = stripes.size;
    opening->targets = stripes.count;
}

/* All ranks have the same `own`, as far as it counts. */
static void take_stripes(tatp_file *file, const tatp_opening *opening)
{
    tatp_settings settings = file->own;
    if (0 == opening->stripe)
        return;
    settings.of[TATP_FS_STRIPE_SIZE] = opening->stripe;
    settings.of[TATP_FS_STRIPE_COUNT] = opening->targets;
    set_own_settings(file, &settings);
}

static int complete_opening(tatp_file *file)
{
    collect_settings(file);
    int rc = prepare_file(file);
    tatp_opening opening = {.digest = file->digest, .records = file->records};
    if (OMPI_SUCCESS == rc && 0 == file->io.fh->f_rank)
        ask_file_system(file, &opening);
    rc = tatp_nodes_init(file->nodes, file->comm, tatp_params_get().topology, &opening, rc);
    file->records = opening.records;
    if (OMPI_SUCCESS == rc && opening.settings_differ)
        rc = agree_on_settings(file, &file->paths);
    if (OMPI_SUCCESS != rc)
        return rc;
    take_stripes(file, &opening);
    (void)adopt_own_settings(file);
    return OMPI_SUCCESS;
}

void tatp_file_refuse(const ompio_file_t *fh)
{
    tatp_nodes_refuse(fh->f_comm);
}

/* The handle is closed, perhaps while another component is selected. Requests that the program has
 * not completed need the open file. */
static void finish_requests(void *context)
{
    tatp_requests_finish(((const tatp_file *)context)->comm);
}

static void begin_file_record(tatp_file *file)
{
    tatp_record_options options = {
        .path = file->paths.record,
        .comm = file->comm,
        .nodes = tatp_nodes_count(file->nodes),
        .closing = finish_requests,
        .context = file,
    };
    tatp_record_begin(file->record, file->io.fh, &options);
}

void tatp_file_set_view(tatp_file *file)
{
    tatp_requests_finish(file->comm);
    tatp_view_reset(file->view);
    if (!file->is_open) {
        tatp_hints_attach(file->hints, file->io.fh, finish_requests, file);
        file->error = complete_opening(file);
        file->is_open = true;
    }
    if (OMPI_SUCCESS == file->error)
        publish_new_hints(file);
    if (OMPI_SUCCESS == file->error && file->records)
        begin_file_record(file);
}

bool tatp_file_is_open(const tatp_file *file)
{
    return file->is_open;
}

bool tatp_file_close(tatp_file *file)
{
    tatp_requests_finish(file->comm);
    tatp_hints_detach(file->hints);
    tatp_record_end(file->record);
    return file->is_open && OMPI_SUCCESS == file->error;
}

void tatp_calls_release(void)
{
    tatp_requests_release();
    tatp_exchange_release_all();
}

/* ---- one operation: plan, requests, shuffle and file access, last agreement ---- */

typedef struct tatp_op {
    tatp_file *file;
    bool write;
    size_t slot;                 /* of its plan */
    bool makes_plan;             /* and does not reuse it */
    bool repeats;                /* the last operation, moved maybe */
    bool independent;            /* without an exchange; the same on all ranks */
    bool may_be_independent;     /* if that is faster; the same on all ranks */
    const trial *trial;          /* that has chosen `independent`; NULL: a rule has */
    bool atomic;                 /* the same on all ranks */
    bool is_done;                /* all ranks have transferred their data, without an error */
    bool record_is_long;         /* the same on all ranks */
    const access_list *memory;   /* bytes of the stream <-> addresses */
    const access_list *accesses; /* bytes of the stream <-> the file, ordered */
    int64_t lo, hi;              /* accessed range of the plan, over all ranks */
    int64_t shift;               /* byte o of the plan is byte o + shift of the file */
    tatp_times time;
    double end; /* of the last agreement */
    exchange_result result;
    int64_t moved; /* bytes of this rank's buffer that were written or read, by all operations */
} tatp_op;

/* Domains and their aggregators. rc: this rank's status so far. Collective; the error is that of
 * all ranks. */
static int make_plan(tatp_op *op, int rc)
{
    tatp_file *file = op->file;
    const char *stats = file->paths.stats;
    const tatp_plan_input in = {
        .settings = &file->settings,
        .comm = file->comm,
        .nodes = file->nodes,
        .accesses = op->accesses,
        .lo = op->lo,
        .hi = op->hi,
        .all_entries = tatp_stats_enabled(stats),
        .keep_entries = tatp_stats_wants_plan(stats),
    };
    double start = MPI_Wtime();
    rc = tatp_plans_make(file->plans, op->slot, &in, rc);
    file->plan_ops[op->slot] = 0;
    op->makes_plan = OMPI_SUCCESS == rc;
    op->time.st2 += MPI_Wtime() - start;
    return rc;
}

/* Whether a write, by a plan, is independent because no aggregator would merge pieces. */
static bool merges_nothing(const tatp_op *op)
{
    return op->write && op->may_be_independent && op->file->merges_nothing[op->slot];
}

/* As make_plan. Where no aggregator would merge pieces that are written, there is no exchange. */
static int prepare_exchange(tatp_op *op)
{
    enum { ERROR, MERGES, VALUES };
    tatp_file *file = op->file;
    tatp_exchange *prepared = file->exchange[op->slot];
    tatp_plan_view plan = tatp_plan_get(tatp_plans_at(file->plans, op->slot));
    const tatp_exchange_layout layout = {
        .cycle_size = plan.cycle_size,
        .num_cycles = plan.num_cycles,
        .message_size = plan.message_size,
        .domains = plan.domains,
        .aggregator = plan.aggregator,
        .share = plan.share,
        .shares = plan.shares,
        .aggregates = plan.aggregates,
        .domain = plan.domain,
        .contributors = plan.contributors,
        .ordered = op->write && op->atomic,
        .use_shared_memory = file->agreed.of[PARAMETER_SHARED_MEMORY],
    };
    double start = MPI_Wtime();
    int rc = tatp_exchange_prepare(prepared, file->comm, &layout);
    int64_t value[VALUES] = {tatp_error_class(rc), tatp_exchange_merges(prepared, &file->io)};
    rc = tatp_agree_max(file->comm, value, VALUES);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[ERROR];
    file->merges_nothing[op->slot] = !value[MERGES];
    op->independent = OMPI_SUCCESS == rc && merges_nothing(op);
    op->time.st3 = MPI_Wtime() - start;
    return rc;
}

/* NULL: none, as of an independent operation. */
static tatp_plan *plan_of(const tatp_op *op)
{
    return op->independent ? NULL : tatp_plans_at(op->file->plans, op->slot);
}

static void count_op(const tatp_op *op)
{
    const tatp_plan *plan = plan_of(op);
    const tatp_times *t = &op->time;
    tatp_pvars_access access = {
        .write = op->write,
        .by_plan = NULL != plan,
        .makes_plan = op->makes_plan,
        .bytes = op->result.moved,
        .seconds = {t->st1, t->st2, t->st3, t->st4, t->st5},
    };
    if (NULL != plan) {
        const tatp_plan_costs costs = tatp_plan_get_costs(plan);
        access.hop_bytes = costs.hop_bytes;
        access.crossing_bytes = costs.crossing_bytes;
    }
    tatp_pvars_add(&access);
}

static int report_stats(const tatp_op *op, int64_t metadata)
{
    tatp_file *file = op->file;
    tatp_plan *plan = plan_of(op);
    const tatp_stats_access access = {
        .path = file->paths.stats,
        .file = file->io.fh->f_filename,
        .write = op->write,
        .time = op->time,
        .moved = op->result.moved,
        .messages = op->result.messages,
        .metadata = metadata,
        .plan_calls = op->independent ? 0 : file->plan_ops[op->slot],
        .settings = &file->settings,
        .plan = plan,
        .nodes = file->nodes,
    };
    return tatp_stats_report(file->stats, file->comm, &access);
}

/* Tells the observers of an operation that was carried out. To the recorder, what trials choose in
 * this run goes by aggregators: a record depends on accesses and settings only. */
static int observe_op(const tatp_op *op)
{
    const tatp_record_access access = {
        .list = op->accesses,
        .lo = op->lo + op->shift,
        .hi = op->hi + op->shift,
        .repeats = op->repeats,
        .independent = op->independent && NULL == op->trial,
        .division = &op->file->settings.division,
    };
    int64_t metadata = tatp_message_bytes(op->file->comm);
    op->file->last_slot = access.independent ? TATP_SLOTS : op->slot;
    tatp_record_add(op->file->record, &access, op->record_is_long);
    count_op(op);
    return report_stats(op, metadata);
}

/* Moves the data by a plan and an exchange that are complete on all ranks. */
static int run_exchange(tatp_op *op)
{
    tatp_file *file = op->file;
    tatp_plan_view plan = tatp_plan_get(tatp_plans_at(file->plans, op->slot));
    exchange_run run = {
        .write = op->write,
        .memory = op->memory,
        .shift = op->shift,
        .probe = tatp_stats_probe(file->stats, file->paths.stats, plan.num_cycles),
    };
    tatp_exchange_times times = {0};
    int rc = tatp_exchange_run(file->exchange[op->slot], file->comm, &file->io, &run, &op->result,
                               &times);
    op->time.st4 = times.shuffle;
    op->time.st5 += times.access;
    file->plan_ops[op->slot]++;
    file->aggregators = (int64_t)plan.domains->count;
    return rc;
}

/* *gave_up: it was a trial, and takes too long. */
static int run_independent(tatp_op *op, bool *gave_up)
{
    const tatp_independent_run run = {
        .write = op->write,
        .memory = op->memory,
        .accesses = op->accesses,
        .limit = NULL != op->trial ? trial_limit(op->trial) : 0,
    };
    tatp_independent_result result;
    int rc = tatp_independent_execute(op->file->independent, &op->file->io, &run, &result);
    op->result.moved = result.moved;
    *gave_up = result.gave_up;
    op->time.st5 = result.seconds;
    return rc;
}

/* Moves the data and agrees on errors, unless that is done; does it again by the plan where any
 * rank gave up. rc: this rank's status so far; an error is passed here for an independent operation
 * only. */
static int transfer_data(tatp_op *op, int rc)
{
    enum { ERROR, GAVE_UP, VALUES };
    tatp_file *file = op->file;
    bool gave_up = false;
    if (!op->is_done) {
        op->result = (exchange_result){0};
        if (OMPI_SUCCESS == rc)
            rc = op->independent ? run_independent(op, &gave_up) : run_exchange(op);
        int64_t value[VALUES] = {tatp_error_class(rc), gave_up};
        rc = tatp_agree_max(file->comm, value, VALUES);
        op->end = MPI_Wtime();
        if (OMPI_SUCCESS == rc)
            rc = (int)value[ERROR];
        gave_up = value[GAVE_UP];
    }
    if (OMPI_SUCCESS == rc && gave_up) {
        op->independent = false;
        return transfer_data(op, rc);
    }
    op->moved += op->result.moved;
    tatp_exchange_release(file->memory, file->comm);
    return OMPI_SUCCESS == rc ? observe_op(op) : rc;
}

static void reset_slot(tatp_file *file, size_t slot)
{
    tatp_exchange_reset(file->exchange[slot]);
    tatp_plans_reset(file->plans, slot);
    tatp_schedule_forget(file->schedule, slot);
}

static void reset_all_slots(tatp_file *file)
{
    for (size_t slot = 0; slot < TATP_SLOTS; slot++)
        reset_slot(file, slot);
    file->kept_bytes = 0;
}

static void count_kept_bytes(tatp_file *file)
{
    file->kept_bytes = 0;
    for (size_t slot = 0; slot < TATP_SLOTS; slot++)
        file->kept_bytes +=
            tatp_plans_bytes(file->plans, slot) + tatp_exchange_bytes(file->exchange[slot]);
}

/* Makes a plan in place of the one in the slot, and prepares an exchange. rc: this rank's status so
 * far. The error is that of all ranks. */
static int plan_op(tatp_op *op, int rc)
{
    reset_slot(op->file, op->slot);
    if (op->hi > 0)
        rc = make_plan(op, rc);
    if (op->hi > 0 && OMPI_SUCCESS == rc)
        rc = prepare_exchange(op);
    count_kept_bytes(op->file);
    return rc;
}

/* An operation with a new plan, or without one. rc and the error: as plan_op. */
static int run_op(tatp_op *op, int rc)
{
    if (!op->independent)
        rc = plan_op(op, rc);
    if (op->hi > 0 && (OMPI_SUCCESS == rc || op->independent))
        rc = transfer_data(op, rc);
    op->time = (tatp_times){0};
    op->makes_plan = false;
    op->record_is_long = false;
    return rc;
}

/* ---- one call ---- */

struct tatp_call {
    tatp_file *file;
    bool write;
    int error; /* of the arguments */
    access_list memory, accesses;
    access_list
        *layer; /* `layers` ordered lists; &accesses if that is ordered; NULL: not expanded */
    size_t layers;
    tatp_position position;
    int64_t bytes;
    tatp_access access;
    int64_t moved;
    tatp_datarep *datarep; /* or NULL */
    tatp_request *request; /* of a non-blocking call */
};

/* NULL: there was no memory for it. */
static tatp_file *file_of(const ompio_file_t *fh)
{
    return ((const mca_fcoll_tatp_module_t *)fh->f_fcoll)->file;
}

/* OMPIO opens a file for more than it was asked for, so that the system would not object. */
static int check_mode(const ompio_file_t *fh, bool write)
{
    if (write && (fh->f_amode & MPI_MODE_RDONLY))
        return MPI_ERR_READ_ONLY;
    if (!write && (fh->f_amode & MPI_MODE_WRONLY))
        return MPI_ERR_ACCESS;
    return OMPI_SUCCESS;
}

/* What the call accesses in memory, and where in the view it begins; moves the file pointer past
 * it. Local; the error is kept. */
static void fill_call(tatp_call *call, ompio_file_t *fh, bool write, const void *buf, size_t count,
                      struct ompi_datatype_t *datatype, bool convert)
{
    call->file = file_of(fh);
    call->write = write;
    int rc = check_mode(fh, write);
    if (OMPI_SUCCESS == rc && convert)
        rc = tatp_datarep_begin(fh, write, buf, count, datatype, &call->memory, &call->datarep);
    else if (OMPI_SUCCESS == rc)
        rc = tatp_memory_layout(fh, buf, count, datatype, &call->memory);
    if (OMPI_SUCCESS == rc)
        rc = tatp_view_position(call->file->view, fh, &call->position);
    if (OMPI_SUCCESS == rc) {
        call->bytes = COMPAT_VIEW(fh)->f_view_size > 0 ? call->memory.bytes : 0;
        tatp_view_advance(fh, call->bytes);
    }
    call->error = rc;
}

/* What it accesses in the file, as ordered layers. Local. */
static int expand_call(tatp_call *call)
{
    if (NULL != call->layer)
        return OMPI_SUCCESS;
    int rc = tatp_view_access(call->file->view, call->position, call->bytes, &call->accesses);
    if (OMPI_SUCCESS != rc)
        return rc;
    if (!access_is_ordered(&call->accesses))
        return tatp_from_errno(access_layers(&call->accesses, &call->layer, &call->layers));
    call->layer = &call->accesses;
    call->layers = 1;
    return OMPI_SUCCESS;
}

static void release_call(tatp_call *call)
{
    if (call->layer != &call->accesses) {
        for (size_t i = 0; i < call->layers; i++)
            access_release(&call->layer[i]);
        free(call->layer);
    }
    access_release(&call->memory);
    access_release(&call->accesses);
    tatp_datarep_free(call->datarep);
}

/* The accessed range of a further layer over all ranks; hi is 0 if no rank has data. */
static int agree_range(tatp_op *op)
{
    int64_t value[] = {-access_lower(op->accesses), access_upper(op->accesses)};
    int rc = tatp_agree_max(op->file->comm, value, 2);
    op->lo = -value[0];
    op->hi = value[1];
    return rc;
}

static void remember_plan(const tatp_op *op, const tatp_access *access)
{
    const tatp_plan_view plan = tatp_plan_get(tatp_plans_at(op->file->plans, op->slot));
    tatp_schedule_remember(op->file->schedule, op->slot, access, plan.id, plan.period);
}

/* Runs an operation for each layer; the range of the first is agreed. */
static int run_layers(tatp_call *call, tatp_op *op, int64_t layers)
{
    static const access_list nothing;
    int rc = expand_call(call);
    bool is_planned = !op->independent;
    op->accesses = OMPI_SUCCESS == rc && call->layers > 0 ? call->layer : &nothing;
    rc = run_op(op, rc);
    if (OMPI_SUCCESS == rc && 1 == layers && op->hi > 0 && is_planned)
        remember_plan(op, &call->access);
    for (int64_t i = 1; i < layers && OMPI_SUCCESS == rc; i++) {
        op->accesses = (size_t)i < call->layers ? &call->layer[i] : &nothing;
        rc = agree_range(op);
        if (OMPI_SUCCESS == rc)
            rc = run_op(op, rc);
    }
    return rc;
}

/* Whether the recorder reads the list of an access that an earlier one describes: unless the plan
 * of the last operation is the only one that may be reused. */
static bool needs_list(const tatp_file *file, const tatp_access *access)
{
    return file->records &&
           (tatp_record_wants_list(file->record) || tatp_schedule_count(file->schedule) > 1 ||
            TATP_SLOTS == file->last_slot ||
            !tatp_schedule_matches(file->schedule, file->last_slot, access));
}

/* What this rank needs before the first agreement: its access, and buffers for each plan that may
 * be reused. */
static int prepare_call(tatp_call *call)
{
    tatp_file *file = call->file;
    tatp_access *access = &call->access;
    take_new_hints(file);
    *access = (tatp_access){
        .view = tatp_view_id(file->view),
        .offset = call->position.offset,
        .used = call->position.used,
        .bytes = call->bytes,
        .atomic = file->io.fh->f_atomicity,
        .settings = file->digest,
        .lock_unit = file->lock_unit,
        .record_is_long = tatp_record_is_long(file->record),
    };
    int rc = call->error;
    if (OMPI_SUCCESS != rc)
        return rc;
    if (!tatp_schedule_recall(file->schedule, access) || needs_list(file, access))
        rc = expand_call(call);
    if (OMPI_SUCCESS == rc && !access->is_described)
        tatp_access_describe(access, call->layer, call->layers);
    for (size_t slot = 0; slot < TATP_SLOTS && OMPI_SUCCESS == rc; slot++)
        if (tatp_schedule_matches(file->schedule, slot, access))
            rc = tatp_exchange_acquire(file->exchange[slot]);
    return rc;
}

/* Where a plan is reused, its trial chooses the way; not of a non-blocking call, whose time is that
 * of the program as well. */
static void choose_by_trial(const tatp_call *call, tatp_op *op)
{
    op->independent = merges_nothing(op);
    if (!op->may_be_independent || op->independent || NULL != call->request)
        return;
    op->trial = tatp_schedule_trial(op->file->schedule, op->slot, op->write);
    op->independent = TRIAL_AGGREGATORS != trial_next(op->trial);
}

static int reuse_plan(tatp_call *call, tatp_op *op, const tatp_agreement *agreement)
{
    tatp_file *file = call->file;
    tatp_plan_view plan = tatp_plan_get(tatp_plans_at(file->plans, agreement->slot));
    double begin = MPI_Wtime();
    op->slot = agreement->slot;
    op->repeats = op->slot == file->last_slot;
    op->lo = plan.lo;
    op->hi = plan.hi;
    op->shift = agreement->shift;
    choose_by_trial(call, op);
    int rc = op->independent ? expand_call(call) : OMPI_SUCCESS;
    op->accesses = call->layer;
    remember_plan(op, &call->access);
    rc = transfer_data(op, rc);
    if (OMPI_SUCCESS == rc && NULL != op->trial)
        tatp_schedule_time(file->schedule, op->slot, op->write, op->independent, op->end - begin);
    return rc;
}

static int run_anew(tatp_call *call, tatp_op *op, const tatp_agreement *agreement)
{
    tatp_file *file = call->file;
    if (agreement->flush)
        reset_all_slots(file);
    op->slot = tatp_schedule_oldest(file->schedule);
    op->lo = agreement->lo;
    op->hi = agreement->hi;
    return run_layers(call, op, agreement->layers);
}

static int64_t aggregation_of(const tatp_plan_settings *settings, bool write)
{
    return write ? settings->write_aggregation : settings->read_aggregation;
}

/* Whether aggregators are left to aggregation_pays. */
static bool chooses_way(const tatp_plan_settings *settings, bool write)
{
    return AGGREGATION_AUTOMATIC == aggregation_of(settings, write) &&
           0 == settings->division.aggregators;
}

/* Whether each rank accesses the file itself: as hints demand, or because aggregators do not pay.
 * In atomic mode the order of ranks decides, which only an aggregator can keep. */
static bool is_independent(const tatp_file *file, bool write, bool atomic,
                           const aggregation_access *access)
{
    const tatp_plan_settings *settings = &file->settings;
    if (atomic)
        return false;
    return AGGREGATION_NEVER == aggregation_of(settings, write) ||
           (chooses_way(settings, write) && !aggregation_pays(access, write));
}

/* Whether this rank expects a call without aggregators, as its own access and the last call let it,
 * and may write before the others are known to do the same. */
static bool expects_independent(const tatp_call *call)
{
    const tatp_file *file = call->file;
    const tatp_access *access = &call->access;
    return file->was_independent[call->write] && !file->misjudged && 1 == access->layers &&
           !(call->write && file->lock_unit > 0) &&
           is_independent(file, call->write, access->atomic, &access->aggregation);
}

/* Transfers this rank's data before the first agreement, if that will be the way: where all ranks
 * do, one agreement is all that the call needs. Otherwise the call goes on as if nothing had
 * happened, and transfers them again. */
static int transfer_early(tatp_call *call, tatp_op *op)
{
    call->access.is_done = 0 == call->access.hi;
    if (!expects_independent(call))
        return OMPI_SUCCESS;
    int rc = expand_call(call);
    op->accesses = call->layer;
    if (OMPI_SUCCESS == rc)
        rc = run_independent(op, &(bool){false});
    call->access.is_done = OMPI_SUCCESS == rc;
    return rc;
}

static void choose_way(tatp_call *call, const tatp_agreement *agreement, tatp_op *op)
{
    tatp_file *file = call->file;
    bool was_early = call->access.is_done && call->access.hi > 0;
    op->atomic = agreement->atomic;
    op->record_is_long = agreement->record_is_long;
    op->independent = is_independent(file, call->write, op->atomic, &agreement->aggregation);
    op->is_done = op->independent && agreement->is_done;
    bool shares_locks = call->write && aggregation_shares_locks(&agreement->aggregation);
    op->may_be_independent = !op->atomic && 1 == agreement->layers && !shares_locks &&
                             chooses_way(&file->settings, call->write);
    file->was_independent[call->write] = op->independent;
    file->misjudged = file->misjudged || (was_early && !op->independent);
}

static int run_ops(tatp_call *call)
{
    tatp_file *file = call->file;
    tatp_op op = {.file = file, .write = call->write, .memory = &call->memory};
    tatp_agreement agreement;
    double start = MPI_Wtime();
    (void)tatp_message_bytes(file->comm);
    int rc = prepare_call(call);
    if (OMPI_SUCCESS == rc)
        rc = transfer_early(call, &op);
    rc = tatp_schedule_agree(file->schedule, file->comm, &call->access, file->kept_bytes, rc,
                             &agreement);
    if (OMPI_SUCCESS == rc)
        rc = renew_settings(file, agreement.settings_differ, &agreement.reuse);
    if (OMPI_SUCCESS == rc)
        choose_way(call, &agreement, &op);
    op.time.st1 = MPI_Wtime() - start - op.time.st5;
    bool reuse = agreement.reuse && !op.independent;
    if (OMPI_SUCCESS == rc)
        rc = reuse ? reuse_plan(call, &op, &agreement) : run_anew(call, &op, &agreement);
    if (OMPI_SUCCESS == rc)
        publish_hints(file, &file->settings);
    tatp_exchange_release(file->memory, file->comm);
    call->moved = op.moved;
    return rc;
}

/* The same error on every rank, or success and status->_ucount. */
static int run_call(tatp_call *call, ompi_status_public_t *status)
{
    int rc = call->file->error;
    if (OMPI_SUCCESS == rc)
        rc = run_ops(call);
    if (OMPI_SUCCESS == rc && NULL != call->datarep)
        rc = tatp_datarep_end(call->datarep, call->moved);
    if (MPI_STATUS_IGNORE != status)
        status->_ucount = OMPI_SUCCESS == rc ? (size_t)call->moved : 0;
    return rc;
}

/* OMPIO waits for a split call, and keeps its request after an error. */
void tatp_split_release(ompio_file_t *fh)
{
    if (!fh->f_split_coll_in_use && NULL != fh->f_split_coll_req &&
        MPI_REQUEST_NULL != fh->f_split_coll_req)
        (void)ompi_request_free(&fh->f_split_coll_req);
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, size_t count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    tatp_call call = {.write = write};
    if (NULL == file_of(fh))
        return tatp_error_class(OMPI_ERR_OUT_OF_RESOURCE);
    tatp_requests_finish(file_of(fh)->comm);
    tatp_split_release(fh);
    fill_call(&call, fh, write, buf, count, datatype, false);
    int rc = run_call(&call, status);
    release_call(&call);
    return rc;
}

/* ---- non-blocking calls ---- */

static int run_request_call(void *call, ompi_status_public_t *status)
{
    return run_call(call, status);
}

static void release_request_call(void *call)
{
    release_call(call);
    free(call);
}

/* NULL: no memory. */
static tatp_call *new_request_call(void)
{
    tatp_call *call = calloc(1, sizeof *call);
    if (NULL == call)
        return NULL;
    call->request = tatp_request_new(run_request_call, release_request_call, call);
    if (NULL == call->request) {
        free(call);
        return NULL;
    }
    return call;
}

static void free_request_call(tatp_call *call)
{
    if (NULL != call)
        tatp_request_free(call->request);
}

/* A rank has more calls in flight than memory. Because the others wait for its part, it takes part
 * at once, with that error, on which all ranks agree before data move between them. */
static int fail_without_request(tatp_file *file, bool write)
{
    tatp_call call = {.file = file, .write = write, .error = OMPI_ERR_OUT_OF_RESOURCE};
    return tatp_request_run(file->comm, run_request_call, &call);
}

int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, size_t count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    tatp_file *file = file_of(fh);
    tatp_split_release(fh); /* the request may be that of the handle */
    *request = &ompi_request_empty;
    if (NULL == file)
        return tatp_error_class(OMPI_ERR_OUT_OF_RESOURCE);
    tatp_call *call = NULL != file->spare ? file->spare : new_request_call();
    if (NULL == call)
        return fail_without_request(file, write);
    fill_call(call, fh, write, buf, count, datatype, tatp_datarep_is_needed(fh, datatype));
    file->spare = new_request_call();
    tatp_request_start(file->comm, fh->f_fh, call->request, request);
    return OMPI_SUCCESS;
}
