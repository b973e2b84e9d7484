/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology-aware two-phase collective I/O: what the files of this component share. */
#ifndef MCA_FCOLL_TATP_H
#define MCA_FCOLL_TATP_H

#include "ompi_config.h"

#include <stdatomic.h>
#include <stdio.h>

#include "mpi.h"
#include "opal/mca/mca.h"
#include "opal/threads/mutex.h"
#include "opal/util/show_help.h"
#include "ompi/mca/fcoll/base/base.h"
#include "ompi/mca/fcoll/fcoll.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/rte/rte.h"

#include "access/access.h"
#include "access/domain.h"
#include "plan/plan.h"

static inline int64_t tatp_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tatp_round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Tags on f_comm, which is private to the file. Phases that could meet have different ones. */
enum tatp_tag {
    TATP_TAG_REQUESTS = 7001,
    TATP_TAG_DATA,
    TATP_TAG_SHARED,
    TATP_TAG_ROWS,
    TATP_TAG_NODE_ROWS,
    TATP_TAG_UNITS,
    TATP_TAG_NODE_UNITS,
    TATP_TAG_RECORD,
    TATP_TAG_STATS
};

/* How the accessed range is divided; the names are in fcoll_tatp_domains.c. */
enum tatp_domains {
    TATP_DOMAINS_AUTO,
    TATP_DOMAINS_EVEN,
    TATP_DOMAINS_STRIPE,
    TATP_DOMAINS_FITTED
};

/* Bytes; file systems hold a stripe's size in 32 bits. A stripe for each rank is below 2^63. */
#define TATP_LARGEST_STRIPE (INT64_C(1) << 32)

typedef struct mca_fcoll_tatp_component_t {
    mca_fcoll_base_component_t super;
    int priority;
    char *strategy_name;
    char *objective_name;
    char *solver_name;
    char *topology_name;
    char *ibnetdiscover;       /* program; empty: none may be run */
    int ibnetdiscover_timeout; /* seconds */
    int num_aggregators;       /* 0: one for each node */
    long link_rate,
        access_rate; /* MB/s of a node's link, and of one process to the file; 0: not known */
    long cycle_buffer_size; /* bytes; 0: OMPIO's bytes_per_agg */
    long message_size;      /* bytes */
    char *domains_name;
    long unit_size;   /* of fitted domains, bytes; 0: to be chosen */
    long stripe_size; /* bytes; 0: what the file system says */
    int stripe_count; /* 0: what the file system says */
    bool shared_memory;
    char *record_file;
    char *record_weight_name;
    char *stats_file;
    const plan_strategy *strategy;
    const plan_objective_name *objective;
    const lap_solver *solver;
    int domains;                      /* an enum tatp_domains; -1: no such name */
    int record_weight;                /* an access_weight; -1: no such name */
    opal_mutex_t lock;                /* guards what follows: threads may work on several files */
    struct tatp_module *modules;      /* of open files */
    struct tatp_module *idle_modules; /* the latest first */
    struct tatp_buffers *idle_buffers;
    struct tatp_segment *idle_segments;
    bool discovered;     /* ibnetdiscover has been run */
    topo_fabric *fabric; /* what it said, or NULL */
} mca_fcoll_tatp_component_t;

OMPI_MODULE_DECLSPEC extern mca_fcoll_tatp_component_t mca_fcoll_tatp_component;

/* Windows that a rank has under way at a time, in each of its roles. Four hide the time between a
 * message's announcement and its bytes; more gain nothing. */
#define TATP_DEPTH 4

/* Bytes of a data message at most, where nothing else is asked for. Open MPI's TCP sends up to 64
 * KiB at once; it announces larger ones and waits for the receiver, which may be busy, while the
 * link is idle. */
#define TATP_MESSAGE (63 << 10)
/* What may be asked for: smaller ones would be more requests than data, and a length is an int. */
#define TATP_LEAST_MESSAGE (1 << 10)
#define TATP_LARGEST_MESSAGE (1 << 30)

/* The memory of one call's cycles. It is kept from call to call and from file to file, because
 * the first touch of fresh memory costs more than copying into it. Only ever grows. */
typedef struct tatp_buffer {
    char *data;
    size_t size;
} tatp_buffer;

typedef struct tatp_buffers {
    struct tatp_buffers *next;      /* of those that wait in the component */
    tatp_buffer window[TATP_DEPTH]; /* cycle buffers of an aggregator */
    tatp_buffer inbox[TATP_DEPTH];  /* packed data between an aggregator and its contributors */
    tatp_buffer outbox[TATP_DEPTH]; /* the same on the contributor's side */
} tatp_buffers;

#define TATP_ANSWER_WORDS 4
/* What each rank says of a call for the statistics. */
#define TATP_TOLD_WORDS 8
/* A long answer is told by pieces of so many words. */
#define TATP_ANSWER_PIECE 1024

/* How many domains there is room for is known for at most 1, 2, 4, ... 2^15 on each node; few nodes
 * have as many ranks. */
#define TATP_ROOMS 16

/* Who sits where. */
typedef struct tatp_nodes {
    size_t nodes;             /* number of nodes of the communicator; 0: not known */
    size_t seats;             /* aggregators that the nodes have room for */
    size_t leaders;           /* ranks that are the lowest of their node, as they see it */
    int64_t room[TATP_ROOMS]; /* domains that the nodes have room for with up to 1 << k on each */
    bool agreed;              /* all ranks have heard, or failed together */
    int error;                /* why it cannot be known: told once, and kept for later calls */
    int64_t *answer; /* rank 0's decision, TATP_ANSWER_WORDS and two per rank, or TATP_ANSWER_PIECE
                        if that is more */
    /* The rest is known on rank 0 of the file's communicator only. */
    size_t *node_of_rank;  /* per rank of the communicator, nodes numbered by their lowest rank */
    size_t *ranks_on_node; /* per node */
    char **host;           /* per node, its name */
    topo topology;
    bool distances_open; /* the topology is flat until the job's environment was asked */
    int64_t *told;       /* TATP_TOLD_WORDS per rank, what each says of a call for the statistics */
    int *count, *start;  /* per rank, for gathering: taken once, so that it cannot fail later */
} tatp_nodes;

/* Seconds of the five stages of two-phase I/O as the TATP paper counts them. */
typedef struct tatp_times {
    double st1; /* view, accessed range */
    double st2; /* file domains and their assignment */
    double st3; /* which parts of whose accesses lie in which domain */
    double st4; /* shuffle */
    double st5; /* file access */
} tatp_times;

/* What the plan decided. `hop_bytes`... are set on rank 0 only. */
typedef struct tatp_decision {
    int *aggregator; /* aggregator[j] is the rank that serves domain j */
    double hop_bytes, hop_bytes_otp;
    int64_t crossing_bytes;
    int64_t parts; /* into which a window falls at an aggregator with most of its data from other
                      nodes */
} tatp_decision;

/* A part of another rank's access, at the aggregator that serves it (positions in its domain). */
typedef struct tatp_contributor {
    int rank;
    access_list list;
} tatp_contributor;

/* Memory that the ranks of a node share, see fcoll_tatp_shared.c. */
typedef struct tatp_segment tatp_segment;

/* Where the ranks of a node meet over one window of an aggregator among them. A window's name is a
 * number above 0 that a schedule never gives twice. */
typedef struct tatp_flags {
    _Atomic int64_t granted; /* writing: the aggregator waits for the bytes of this window */
    _Atomic int64_t ready;   /* reading: the bytes of this window are there */
    _Atomic int64_t done;    /* ranks that have copied theirs */
    int64_t valid;           /* reading: positions from here on are beyond the end of file */
    char padding[32];        /* a cache line each */
} tatp_flags;

typedef struct tatp_window {
    tatp_flags *flags;
    char *data;
} tatp_window;

/* A call, from its arguments to its end; see fcoll_tatp_collective.c. */
typedef struct tatp_call tatp_call;
/* One that does not block, see fcoll_tatp_operation.c. */
typedef struct tatp_operation tatp_operation;
/* The data's way by a schedule, see fcoll_tatp_cycles.c. */
typedef struct tatp_cycles tatp_cycles;

/* Where in its view a rank begins: the copy of the view, and bytes used of it. */
typedef struct tatp_start {
    int64_t offset, used;
} tatp_start;

/* Fitted domains: the u-th unit that reaches into the range is in domain of[u]. */
typedef struct tatp_units {
    bool columns; /* unit u is all stripes s of the file with s % count == u */
    int64_t base,
        unit; /* else they are counted from byte `base` of the file; bytes of one, or of a stripe */
    size_t count;
    size_t *of;
} tatp_units;

/* Who accesses what and who serves it. A call whose accesses are those of the call before, or the
 * same everywhere in the file moved by one distance, takes its schedule over. */
typedef struct tatp_schedule {
    bool reusable;
    int64_t id;             /* rank 0's number for it: the same on all ranks, never given twice */
    uint64_t view;          /* module->view when it was made */
    tatp_start start;       /* of this rank */
    int64_t bytes;          /* of this rank */
    int64_t own_lo, own_hi; /* range of this rank */
    int64_t lo, hi;         /* accessed range over all ranks; hi is 0 when there is none */
    int64_t cycle;          /* positions in a window */
    int64_t period;         /* bytes: it serves accesses moved by a multiple of this */
    bool fitted;            /* `domains` are made of `units` */
    tatp_units units;
    file_domains domains;
    domain_share *share; /* this rank's part of each domain it touches */
    size_t shares;
    tatp_decision decision;
    bool aggregates; /* this rank serves domain `domain` */
    size_t domain;
    size_t expected;               /* contributors of its domain, as rank 0 counted them */
    tatp_contributor *contributor; /* ascending by rank, this rank among them */
    size_t contributors;
    bool shared;          /* the aggregators of this node have their windows in the segment */
    matrix requests;      /* rank 0: C, until the statistics have told it; mostly empty */
    matrix even_requests; /* that of the domains in whose place it has fitted ones */
    matrix blocks;        /* those of `requests`, where the strategy goes by them */
    int told;             /* calls by it that are in the statistics */
    tatp_cycles *cycles;
} tatp_schedule;

/* What a file was opened with, as far as schedules depend on it. */
typedef struct tatp_settings {
    int64_t aggregators; /* asked for, as far as the targets allow; 0: to be chosen */
    int64_t cycle;       /* an aggregator's cycle buffer at most, bytes: its TATP_DEPTH windows */
    int64_t message;     /* a data message at most, bytes */
    int64_t stripe;      /* of the file system, bytes; 0: not known */
    int64_t targets;     /* that take stripes in turn (the stripe count); 0: not known */
    const plan_strategy *strategy;
    const plan_objective_name *objective;
    const lap_solver *solver;
    int64_t domains; /* an enum tatp_domains */
    int64_t unit;    /* of fitted domains, bytes; 0: to be chosen */
} tatp_settings;

/* One for each open file; f_fcoll points at `super`. When the file is closed it waits for the next
 * file of the same ranks: what it knows of them, and the last schedule, are good for that too. */
typedef struct tatp_module {
    mca_fcoll_base_module_t super;
    struct tatp_module *next;   /* the component's tables, see fcoll_tatp_module.c */
    ompio_file_t *fh;           /* NULL: it waits */
    ompi_process_name_t *group; /* the ranks of the communicator */
    int ranks;
    tatp_settings settings;
    uint64_t view; /* counts the different views that were set */
    bool period_known;
    access_list period; /* the decoded view, one period, offsets relative to f_offset */
    int64_t extent;     /* from one period to the next */
    tatp_nodes where;
    int *local; /* the ranks of this node, ascending */
    int locals;
    tatp_segment *segment;      /* what they share, or NULL */
    size_t refused_bytes;       /* so much could not be shared; SIZE_MAX: nothing was refused yet */
    tatp_schedule schedule;     /* of the last call */
    tatp_operation *operations; /* calls that do not block, in the order in which they were made */
    tatp_operation *running;    /* the first of them, while it has the processor */
    tatp_operation *spare;      /* for the next: other ranks wait for it even without memory */
    struct tatp_module *next_busy;
    struct tatp_recording *recording;
} tatp_module;

/* One pass of a collective call: everything between "who accesses what" and the last agreement. */
typedef struct tatp_pass {
    ompio_file_t *fh;
    tatp_module *module;
    bool write;
    const access_list *memory; /* stream -> addresses */
    const access_list *file;   /* stream -> file, ordered */
    tatp_schedule *schedule;
    bool again;       /* by a schedule that has served before */
    int64_t shift;    /* what the schedule calls offset o of the file is o + shift */
    int64_t moved;    /* bytes of this rank's buffer that were written or read */
    int64_t messages; /* with data, sent by this rank */
    int64_t metadata; /* bytes that this rank sent so that others know what it accesses */
    tatp_times time;
} tatp_pass;

/* ---- fcoll_tatp_module.c ---- */
int mca_fcoll_tatp_init_query(bool enable_progress_threads, bool enable_mpi_threads);
mca_fcoll_base_module_t *mca_fcoll_tatp_file_query(struct ompio_file_t *fh, int *priority);
int mca_fcoll_tatp_file_unquery(struct ompio_file_t *fh);
/* Frees all modules, those of files that were never closed through this component among them. */
void tatp_modules_release(void);

/* ---- fcoll_tatp_buffers.c ---- */
/* Buffers that nobody else uses, or NULL without memory; to be put back. */
tatp_buffers *tatp_buffers_take(void);
void tatp_buffers_put_back(tatp_buffers *buffers);
/* Frees all that wait. */
void tatp_buffers_release(void);
/* Grows a buffer to at least `size` bytes; its contents are lost. OMPI_ERR_OUT_OF_RESOURCE. */
int tatp_buffer_reserve(tatp_buffer *buffer, size_t size);

/* ---- fcoll_tatp_file_write_all.c, fcoll_tatp_file_read_all.c, ...iwrite_all.c, ...iread_all.c
 * ---- */
int mca_fcoll_tatp_file_write_all(struct ompio_file_t *fh, const void *buf, int count,
                                  struct ompi_datatype_t *datatype, ompi_status_public_t *status);
int mca_fcoll_tatp_file_read_all(struct ompio_file_t *fh, void *buf, int count,
                                 struct ompi_datatype_t *datatype, ompi_status_public_t *status);
int mca_fcoll_tatp_file_iwrite_all(struct ompio_file_t *fh, const void *buf, int count,
                                   struct ompi_datatype_t *datatype, ompi_request_t **request);
int mca_fcoll_tatp_file_iread_all(struct ompio_file_t *fh, void *buf, int count,
                                  struct ompi_datatype_t *datatype, ompi_request_t **request);

/* ---- fcoll_tatp_view.c ---- */
/* Where the next access begins; brings the module's idea of the view up to date. Local. */
int tatp_view_start(ompio_file_t *fh, tatp_module *module, tatp_start *start);
/* Moves the file pointer past `bytes` bytes of the view, as OMPIO does. */
void tatp_view_advance(ompio_file_t *fh, int64_t bytes);
/* `bytes` bytes of the view from `start` on, appended to `list`. Local. */
int tatp_view_access(const tatp_module *module, tatp_start start, int64_t bytes, access_list *list);
/* The layout of a user's buffer. Local. */
int tatp_memory_layout(ompio_file_t *fh, const void *buf, size_t count,
                       struct ompi_datatype_t *datatype, access_list *memory);

/* ---- fcoll_tatp_collective.c ---- */
/* The whole call, for both directions: view, then a pass for each layer of the accesses. */
int tatp_collective(ompio_file_t *fh, bool write, const void *buf, int count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status);
/* The same without waiting; the call's error is its request's. */
int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, int count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request);
/* Runs a call to its end. The same error on every rank, or success and status->_ucount. */
int tatp_call_run(tatp_call *call, ompi_status_public_t *status);
tatp_call *tatp_call_new(void);
void tatp_call_free(tatp_call *call);

void tatp_schedule_release(tatp_schedule *schedule);

/* ---- fcoll_tatp_agree.c ---- */
/* An OMPI or MPI error code as a positive MPI error class; 0 for success. */
int tatp_error_class(int rc);
/* A negative errno value of src/ as an OMPI error code. */
int tatp_from_errno(int rc);
/* The largest of each value over all ranks, in place. Collective. */
int tatp_agree_max(ompio_file_t *fh, int64_t *value, int count);
/* The same error on every rank: each gives its own rc, all get the largest error class.
 * Collective. */
int tatp_agree_error(ompio_file_t *fh, int rc);

/* ---- fcoll_tatp_topology.c ---- */
/* Fills module->where once per file. Collective; every rank gets the same result. */
int tatp_where(ompio_file_t *fh, tatp_module *module);
void tatp_where_release(tatp_nodes *where);

/* ---- fcoll_tatp_distances.c ---- */
/* On rank 0, with the nodes known: hops from where the user says. An error has been told. */
int tatp_distances_begin(tatp_nodes *where);
/* Whether this rank speaks for its node, and the job's environment tells it the way there. Local.
 */
bool tatp_has_address(const ompio_file_t *fh, const tatp_module *module);
/* Hops from the environment of all nodes. Collective; what rank 0 cannot use it tells, and that is
 * no error. */
int tatp_ask_addresses(ompio_file_t *fh, tatp_module *module);
/* On rank 0: when nothing has told the hops, from the network itself if that is allowed. Cannot
 * fail. */
void tatp_distances_end(tatp_nodes *where);

/* ---- fcoll_tatp_ibnetdiscover.c ---- */
/* What ibnetdiscover says of the network, asked once a process; NULL when it may not be run, or
 * says nothing that can be used, which is told. The component's. */
const topo_fabric *tatp_discover(void);
/* A fabric that does not serve this job. */
void tatp_discover_refuse(const matrix_error *error);
void tatp_discover_release(void);

/* A message of a length that only its sender knew. */
typedef struct tatp_words {
    int from;
    int64_t *word; /* the receiver's to free */
    size_t count;
} tatp_words;

/* ---- fcoll_tatp_gather.c ---- */
/* Every rank's words on rank 0: rank r's are (*all)[where->start[r]] and where->count[r] - 1 more;
 * the caller frees *all, which is NULL elsewhere. `rc` is what this rank brings along: an error
 * anywhere ends it for all ranks, before the words are sent. Collective. */
int tatp_gather(ompio_file_t *fh, const tatp_nodes *where, const int64_t *words, size_t count,
                int rc, int64_t **all);

/* What each rank has goes to the lowest rank of its node, and from there to rank 0, as words. */
typedef struct tatp_by_node {
    enum tatp_tag to_lowest, to_root;
    /* At the lowest rank of a node: what a rank of the node has, its own among them; then what the
     * node has, in words that are freed for it. */
    int (*add_rank)(void *sum, const tatp_words *words);
    int (*sum_up)(void *sum, tatp_words *words);
    /* At rank 0: what a node has. */
    int (*add_node)(void *sum, const tatp_words *words);
} tatp_by_node;

/* `own` has any number of words but one. `rc` is what this rank brings along: an error anywhere
 * becomes rank 0's. Nobody waits for anything but what is sent whatever happens. */
int tatp_gather_by_node(tatp_pass *pass, const tatp_by_node *way, void *sum, const tatp_words *own,
                        int rc);

/* ---- fcoll_tatp_settings.c ---- */
/* The same on all ranks. */
tatp_settings tatp_read_settings(ompio_file_t *fh);
/* The largest number up to `wanted` (at least 1) that divides `targets` or is a multiple of it;
 * any when there are none. */
int64_t tatp_allowed_aggregators(int64_t wanted, int64_t targets);

/* ---- fcoll_tatp_domains.c ---- */
/* Indexed by enum tatp_domains; the last has no name. */
typedef struct tatp_domains_name {
    const char *name, *note;
} tatp_domains_name;
extern const tatp_domains_name tatp_domains_names[];
/* Whether stripes of a storage target go together. */
bool tatp_deals_stripes(const tatp_settings *settings);
/* How many domains the schedule's range is divided into, at most the number of ranks. */
size_t tatp_domain_count(const tatp_module *module, const tatp_schedule *schedule);
/* Divides the schedule's range: domains and period. Local, and the same on all ranks. */
int tatp_divide(const tatp_module *module, tatp_schedule *schedule);
/* Bytes of a window, once it is known who serves the domains. */
int64_t tatp_window_size(const tatp_module *module, const tatp_schedule *schedule);
/* Windows of the largest domain. */
int64_t tatp_window_count(const tatp_schedule *schedule);

/* ---- fcoll_tatp_rows.c ---- */
/* C, as far as a decision needs it, on rank 0. */
typedef struct tatp_rows {
    matrix requests;    /* ranks x domains: bytes, of ranks that may serve the domain */
    matrix blocks;      /* the same in contiguous blocks; empty unless the strategy goes by them */
    matrix node_bytes;  /* nodes x domains, of all ranks of the node */
    matrix node_blocks; /* empty, as above */
    matrix node_ranks;  /* of the node's ranks, those that access the domain */
} tatp_rows;
/* `rc` is what this rank brings along; an error anywhere becomes rank 0's. Collective. */
int tatp_gather_rows(tatp_pass *pass, int rc, tatp_rows *rows);
void tatp_rows_release(tatp_rows *rows);

/* ---- fcoll_tatp_plan.c ---- */
/* Gathers on rank 0 what is needed of C, decides there and tells all. `rc` is what this rank brings
 * along: an error anywhere becomes everyone's. *may_fit: fitted domains could be better.
 * Collective. */
int tatp_decide(tatp_pass *pass, int rc, bool *may_fit);

/* ---- fcoll_tatp_fitted.c ---- */
/* On rank 0: whether units could serve better than the even domains for which that was decided. */
bool tatp_may_fit(const tatp_module *module, const tatp_schedule *schedule,
                  const tatp_decision *even);
/* Decides on rank 0 which units go to which of the schedule's domains and their aggregators; or,
 * where that gains nothing, leaves units->unit 0. Collective; an error is everyone's, but for what
 * *local is set to, which has to be agreed upon. The caller frees units->of. */
int tatp_fit(tatp_pass *pass, tatp_units *units, int *local);

/* ---- fcoll_tatp_message.c ---- */
/* Takes in a message of that tag if there is one: *found, also when it could not be kept. */
int tatp_poll_words(ompio_file_t *fh, enum tatp_tag tag, tatp_words *message, int *found);
/* Sends words (any number but one), or where there are none or `rc` is an error, a single one: its
 * class. */
int tatp_send_words(tatp_pass *pass, const tatp_words *words, int rc, int peer, enum tatp_tag tag);
/* Waits for such a message from anyone. Its error is the result. */
int tatp_receive_words(ompio_file_t *fh, enum tatp_tag tag, tatp_words *message);
/* A message of no length, which needs no memory, from a rank that has none for more: its peer waits
 * for it, and the error, which is returned, is agreed upon later. */
int tatp_send_nothing(const tatp_pass *pass, int peer, enum tatp_tag tag);
/* What becomes of each message of a tag. `take` may keep the words, and then sets message->word to
 * NULL. */
typedef struct tatp_arrivals {
    enum tatp_tag tag;
    int (*take)(void *to, tatp_words *message);
    void *to;
} tatp_arrivals;
/* Goes on until as many messages as are missing have come and all sends are through, whatever
 * happens. The first error is the result; `rc` is one that there is already. */
int tatp_finish_exchange(tatp_pass *pass, const tatp_arrivals *arrivals, size_t missing,
                         ompi_request_t **request, size_t sends, int rc);

/* ---- fcoll_tatp_requests.c ---- */
/* Sends this rank's shares to their aggregators and receives the contributors of its own domain.
 * Collective; a failure is local and has to be agreed upon. */
int tatp_exchange_requests(tatp_pass *pass);

/* ---- fcoll_tatp_shared.c ---- */
/* Fills module->local. Local. */
int tatp_find_local(ompio_file_t *fh, tatp_module *module);
bool tatp_is_local(const tatp_module *module, int rank);
/* Sees to it that the windows of the schedule's aggregators are shared on each node, or not.
 * Collective over the ranks of a node, none of which may be missing; cannot fail. */
void tatp_share_windows(tatp_pass *pass);
/* The TATP_DEPTH windows of an aggregator of this node, of a schedule that is shared. */
void tatp_find_windows(const tatp_pass *pass, int aggregator, tatp_window *window);
/* Keeps a segment for the next file of the same ranks. */
void tatp_segment_put_back(tatp_segment *segment);
/* Frees all that wait. */
void tatp_segments_release(void);

/* ---- fcoll_tatp_cycles.c ---- */
/* Everything that the cycles of a schedule need, for this call and later ones, and the memory of
 * this call. Local. */
int tatp_cycles_prepare(tatp_pass *pass);
/* The memory of a call, and its return. Local. */
int tatp_cycles_reserve(tatp_cycles *cycles);
void tatp_cycles_put_back(tatp_cycles *cycles);
/* Moves the data. Never leaves early: an error is carried to the end and returned. Local result. */
int tatp_cycles_run(tatp_pass *pass);
void tatp_cycles_free(tatp_cycles *cycles);

/* ---- fcoll_tatp_operation.c ---- */
/* All that a call takes that does not block; NULL without memory. */
tatp_operation *tatp_operation_new(void);
/* Frees all but the request, which the user may still hold; NULL is none. */
void tatp_operation_free(tatp_operation *operation);
/* Its call, to be described. */
tatp_call *tatp_operation_call(tatp_operation *operation);
/* Puts it at the end of its file's queue. */
void tatp_operation_start(ompio_file_t *fh, tatp_operation *operation, ompi_request_t **request);
/* Leaves the operation's stack until `awaited` is complete, or (NULL) for a moment. */
void tatp_operation_pause(tatp_operation *operation, ompi_request_t *awaited);
/* Waits until no operation of the file is left. */
void tatp_operations_finish(const tatp_module *module);
/* Frees what is kept for later operations. */
void tatp_operations_release(void);

/* ---- fcoll_tatp_wait.c ---- */
/* As ompi_request_wait; after an error the request is freed too. */
int tatp_wait(ompio_file_t *fh, ompi_request_t **request, ompi_status_public_t *status);
/* For somebody who looks around for what he waits for: lets all others go on for a moment. */
void tatp_give_way(ompio_file_t *fh);
/* Collective operations of the file's communicator, in place or with rank 0 as their root. */
int tatp_allreduce(ompio_file_t *fh, void *value, int count, struct ompi_datatype_t *type,
                   struct ompi_op_t *op);
int tatp_bcast(ompio_file_t *fh, int64_t *value, int count);
int tatp_gather_equal(ompio_file_t *fh, const void *own, int count, struct ompi_datatype_t *type,
                      void *all);
int tatp_gather_words(ompio_file_t *fh, const int64_t *own, int words, int64_t *all,
                      const int *count, const int *start);
/* Messages within the file's communicator. */
int tatp_send(ompio_file_t *fh, const void *data, size_t bytes, int peer, enum tatp_tag tag);
int tatp_receive(ompio_file_t *fh, void *data, size_t bytes, int peer, enum tatp_tag tag);

/* ---- fcoll_tatp_file.c ---- */
/* Writes positions [lo, end) of the pass's domain from `data`, which holds position lo first. */
int tatp_file_write(tatp_pass *pass, int64_t lo, int64_t end, char *data);
/* Reads them; *valid becomes the position of the first byte beyond the end of file, or `end`. */
int tatp_file_read(tatp_pass *pass, int64_t lo, int64_t end, char *data, int64_t *valid);

/* ---- fcoll_tatp_record.c ---- */
/* Whether this run is recorded. */
bool tatp_records(void);
/* Gives a module its recording. OMPI_ERR_OUT_OF_RESOURCE. */
int tatp_record_new(tatp_module *module);
/* A view of the file has been set, the first one or another. Collective. */
void tatp_record_begin(ompio_file_t *fh, tatp_module *module);
/* Whether a pass that repeats the last one has to be noted, not only counted. */
bool tatp_record_wants(const tatp_module *module);
/* Whether this rank has noted so much that the ranks should tell each other. */
bool tatp_record_is_long(const tatp_module *module);
/* A pass has been carried out. pass->file says what this rank accessed, unless the pass repeats the
 * last one and nobody wants to know. Local, but when some rank's notes are long: then collective.
 */
void tatp_record_pass(const tatp_pass *pass, bool is_long);
/* The component serves the file no more. Collective where that one is still open. */
void tatp_record_end(ompio_file_t *fh, tatp_module *module);
/* Frees the recording of a module. */
void tatp_record_free(tatp_module *module);

/* ---- fcoll_tatp_record_individual.c ---- */
/* The file-byte-transfer layer of a file, without the recorder's eye on it. */
const struct mca_fbtl_base_module_1_0_0_t *tatp_fbtl(const ompio_file_t *fh);

/* ---- fcoll_tatp_record_file.c ---- */
/* On rank 0 of a file: whether the record can be written where it should be; tells when not. */
int tatp_record_check(void);
/* On the rank that holds something: brings the record file up to date, now or, where that would
 * take more than a twentieth of the time, later, in MPI_Finalize at the latest. */
void tatp_record_flush(void);
/* What tells this run from any other. */
const char *tatp_run_id(void);

/* ---- fcoll_tatp_stats.c ---- */
/* Whether a line is written for each call. */
bool tatp_stats_wanted(void);
/* On rank 0: takes C over, for the line of the first call by this schedule, or leaves it. */
void tatp_stats_keep(tatp_schedule *schedule, tatp_rows *rows);
/* Appends one line about the call to the statistics file. Collective when statistics are on. */
int tatp_stats_report(const tatp_pass *pass);
/* The text as the inside of a JSON string. */
void tatp_put_text(FILE *out, const char *text);
/* Numbers with commas between, without brackets. */
void tatp_put_number(FILE *out, int64_t value);
void tatp_put_sizes(FILE *out, const size_t *value, size_t count);

/* ---- fcoll_tatp_stats_plan.c ---- */
/* On rank 0: the plan of the schedule as a JSON object; nothing where there is no memory for it. */
void tatp_put_plan(FILE *out, const tatp_pass *pass);

/* ---- fcoll_tatp_timeline.c ---- */
/* Sends this rank's time line to rank 0, where it is one of those that are told. */
int tatp_timeline_send(const tatp_pass *pass);
/* On rank 0: takes in all that are sent, and writes them as a JSON array, if `out` is not NULL. */
int tatp_timeline_put(FILE *out, const tatp_pass *pass);

/* ---- fcoll_tatp_component.c ---- */
/* What parameters name. For each file anew: a program may set them between files, as the benchmarks
 * do. The component is locked. */
void tatp_find_choices(void);
/* On rank 0 of a file: whether the parameters make sense; tells when not. */
int tatp_check_parameters(void);

/* ---- fcoll_tatp_help.c ---- */
#define TATP_HELP_FILE "help-fcoll-tatp.txt"
/* One message of the help file on standard error. For what one rank finds out for all: Open MPI's
 * own way through mpirun, which folds the same message of many ranks into one, now and then loses
 * a message of an application's process (4.1 with PMIx 4). */
void tatp_show_help(const char *topic, ...);

#endif
