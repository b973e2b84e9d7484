/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycle buffers that all ranks of a node map: a contributor copies its data directly between the
 * user's buffer and the window, without a message.
 *
 * A segment belongs to a group of ranks on one node and lives across calls and files, because its
 * first touch costs more than its use. It never has a name in a file system: the leader's peers
 * open its descriptor through /proc, and the kernel frees it with the last mapping, so that a
 * process that is killed at any moment leaves nothing behind. Where it cannot be had, as where
 * ranks do not see each other's processes, messages give the same results. */
#include "fcoll_tatp_exchange_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ompi/compat/compat.h"

#define PAGE 4096
/* Segments without a user that a process keeps; the one that was used least recently is freed. */
#define MOST_IDLE 4

struct tatp_segment {
    struct tatp_segment *next; /* of those that are kept */
    int users;                 /* exchanges and files; 0: kept */
    uint64_t id;               /* the leader's number for it */
    char *base;
    size_t size;
    size_t pairs; /* loads that it has flags for */
    int peers;
    ompi_process_name_t *peer; /* the group, ascending by rank of the file it was made for */
};

/* The leader's message to its peers. */
typedef struct segment_offer {
    uint64_t id; /* 0: none can be had */
    int64_t size;
    int64_t is_new; /* to be opened; else known by id */
    int64_t pairs;  /* loads that it has flags for ... */
    int64_t loads;  /* ... and that the call uses */
    /* The new one: the leader's process, as /proc names it, and its descriptor. The object's
     * identity, because another rank's /proc may have another process of that number. */
    int64_t process, descriptor;
    uint64_t device, inode;
} segment_offer;

/* What comes of an offer, which the leader decides. */
enum offer_result { OFFER_REFUSED, OFFER_ACCEPTED, OFFER_REPEATED };

/* What a segment has to hold. */
typedef struct segment_needs {
    size_t pairs; /* loads that have flags */
    size_t bytes; /* behind the flags */
} segment_needs;

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static tatp_segment *idle_segments; /* the latest first */

/* ---- the flags of a segment ---- */

/* A segment has the flags first, those of aggregators and loads for each exchange, so that no
 * exchange writes data over another one's flags; then the windows, which the exchanges use in turn.
 */

static size_t round_to_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t flags_bytes(int locals, size_t pairs)
{
    return round_to_pages(((size_t)locals + pairs) * TATP_EXCHANGES * EXCHANGE_DEPTH *
                          sizeof(exchange_flags));
}

/* SIZE_MAX: too large. */
static size_t segment_bytes(int locals, const segment_needs *needs)
{
    size_t bytes;
    bool fits = !__builtin_add_overflow(needs->bytes, flags_bytes(locals, needs->pairs), &bytes);
    return fits ? bytes : SIZE_MAX;
}

/* ---- segments ---- */

static void free_segment(tatp_segment *segment)
{
    if (NULL == segment)
        return;
    if (NULL != segment->base)
        munmap(segment->base, segment->size);
    free(segment->peer);
    free(segment);
}

/* Of the ranks of this node; not mapped. NULL: no memory. */
static tatp_segment *new_segment(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                 uint64_t id, size_t pairs, size_t size)
{
    tatp_segment *segment = calloc(1, sizeof *segment);
    if (NULL == segment)
        return NULL;
    const int *local = tatp_comm_local_ranks(comm, &segment->peers);
    segment->users = 1;
    segment->id = id;
    segment->pairs = pairs;
    segment->size = size;
    segment->peer = calloc((size_t)segment->peers, sizeof *segment->peer);
    if (NULL == segment->peer) {
        free(segment);
        return NULL;
    }
    for (int i = 0; i < segment->peers; i++)
        segment->peer[i] = memory->process[local[i]];
    return segment;
}

static bool has_same_peers(const tatp_exchange_memory *memory, const tatp_comm *comm,
                           const tatp_segment *segment)
{
    int locals;
    const int *local = tatp_comm_local_ranks(comm, &locals);
    if (segment->peers != locals)
        return false;
    for (int i = 0; i < segment->peers; i++) {
        const ompi_process_name_t *name = &memory->process[local[i]];
        if (name->jobid != segment->peer[i].jobid || name->vpid != segment->peer[i].vpid)
            return false;
    }
    return true;
}

static bool is_suitable(const tatp_segment *segment, uint64_t id, const segment_needs *needs)
{
    if (0 != id)
        return segment->id == id;
    return segment->pairs >= needs->pairs &&
           segment->size - flags_bytes(segment->peers, segment->pairs) >= needs->bytes;
}

/* The segment of that id, or (0) one that suffices: the file's, or one that is kept. NULL: there is
 * none. */
static tatp_segment *acquire_segment(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                     uint64_t id, const segment_needs *needs)
{
    tatp_segment *found = memory->segment;
    if (NULL != found && is_suitable(found, id, needs)) {
        found->users++;
        return found;
    }
    found = NULL;
    OPAL_THREAD_LOCK(&lock);
    for (tatp_segment **at = &idle_segments; NULL != *at; at = &(*at)->next) {
        if (!is_suitable(*at, id, needs) || !has_same_peers(memory, comm, *at))
            continue;
        found = *at;
        *at = found->next;
        found->users = 1;
        break;
    }
    OPAL_THREAD_UNLOCK(&lock);
    return found;
}

/* Takes the segment that was used least recently out of a full list; NULL: it is not full. */
static tatp_segment *take_oldest_idle(void)
{
    tatp_segment **at = &idle_segments;
    for (int n = 0; n < MOST_IDLE && NULL != *at; n++)
        at = &(*at)->next;
    tatp_segment *oldest = *at;
    *at = NULL;
    return oldest;
}

void tatp_segment_release(tatp_segment *segment)
{
    if (NULL == segment || --segment->users > 0)
        return;
    OPAL_THREAD_LOCK(&lock);
    segment->next = idle_segments;
    idle_segments = segment;
    tatp_segment *oldest = take_oldest_idle();
    OPAL_THREAD_UNLOCK(&lock);
    free_segment(oldest);
}

/* Some rank of the node does not have it: it is not offered again for this file. */
static void discard_segment(tatp_exchange_memory *memory, tatp_segment *segment)
{
    if (NULL == segment)
        return;
    if (memory->segment == segment) {
        memory->segment = NULL;
        segment->users--;
    }
    if (--segment->users == 0)
        free_segment(segment);
}

void tatp_segments_free(void)
{
    while (NULL != idle_segments) {
        tatp_segment *segment = idle_segments;
        idle_segments = segment->next;
        free_segment(segment);
    }
}

/* ---- the object of a segment ---- */

static bool map_segment(tatp_segment *segment, int fd)
{
    void *base = mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == base)
        return false;
    segment->base = base;
    return true;
}

/* Memory without a name; allocated now, not at the first touch, where a lack of it would be a
 * signal. Returns a descriptor, or -1. */
static int create_object(size_t size)
{
    int rc, fd = memfd_create("fcoll_tatp", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    do {
        rc = posix_fallocate(fd, 0, (off_t)size);
    } while (EINTR == rc);
    if (0 == rc)
        return fd;
    close(fd);
    return -1;
}

/* Whether peers can find the object. /proc may be that of another namespace of processes than
 * getpid is. */
static bool describe_object(int fd, segment_offer *offer)
{
    char self[24] = "";
    struct stat status;
    if (readlink("/proc/self", self, sizeof self - 1) < 0 || 0 != fstat(fd, &status))
        return false;
    offer->process = strtoll(self, NULL, 10);
    offer->descriptor = fd;
    offer->device = (uint64_t)status.st_dev;
    offer->inode = (uint64_t)status.st_ino;
    return true;
}

static bool is_offered(const segment_offer *offer, const struct stat *status)
{
    return offer->device == (uint64_t)status->st_dev && offer->inode == (uint64_t)status->st_ino;
}

/* Looks before it opens: a foreign process may have anything there. Returns a descriptor, or -1. */
static int open_object(const segment_offer *offer)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)offer->process,
             (long long)offer->descriptor);
    if (0 != stat(path, &status) || !is_offered(offer, &status))
        return -1;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (0 == fstat(fd, &status) && is_offered(offer, &status))
        return fd;
    close(fd);
    return -1;
}

/* ---- agreement among the ranks of a node ---- */

/* *fd: for the peers, to be closed when they have answered. */
static tatp_segment *create_segment(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                    const segment_needs *needs, size_t size, segment_offer *offer,
                                    int *fd)
{
    static _Atomic uint64_t ids;
    tatp_segment *segment = new_segment(memory, comm, ++ids, needs->pairs, size);
    if (NULL == segment)
        return NULL;
    *fd = create_object(size);
    offer->is_new = *fd >= 0 && describe_object(*fd, offer) && map_segment(segment, *fd);
    if (offer->is_new)
        return segment;
    free_segment(segment);
    return NULL;
}

/* The leader's segment: one that exists, or a new one; NULL: none is needed or can be had. */
static tatp_segment *offer_segment(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                   const segment_needs *needs, segment_offer *offer, int *fd)
{
    int locals;
    (void)tatp_comm_local_ranks(comm, &locals);
    size_t size = segment_bytes(locals, needs);
    tatp_segment *segment = needs->bytes > 0 ? acquire_segment(memory, comm, 0, needs) : NULL;
    memset(offer, 0, sizeof *offer);
    offer->loads = (int64_t)needs->pairs;
    if (NULL == segment && needs->bytes > 0 && size < memory->refused_bytes)
        segment = create_segment(memory, comm, needs, size, offer, fd);
    if (NULL != segment) {
        offer->id = segment->id;
        offer->size = (int64_t)segment->size;
        offer->pairs = (int64_t)segment->pairs;
    }
    return segment;
}

static void keep_first(int *first, int rc)
{
    if (OMPI_SUCCESS == *first)
        *first = rc;
}

/* A kept segment that a peer no longer has does not rule out another one, and one with loads does
 * not rule out one without. */
static bool may_offer_again(const segment_offer *offer)
{
    return 0 != offer->id && (!offer->is_new || offer->loads > 0);
}

/* The leader asks its peers whether they can map the segment, and sends them the result. A
 * peer that cannot be asked cannot. */
static int confirm_offer(tatp_comm *comm, const segment_offer *offer, enum offer_result *result)
{
    int locals, first = OMPI_SUCCESS;
    const int *local = tatp_comm_local_ranks(comm, &locals);
    bool all = 0 != offer->id;
    for (int i = 1; i < locals; i++)
        keep_first(&first, tatp_send(comm, offer, sizeof *offer, local[i], TATP_TAG_LOADS));
    for (int i = 1; i < locals; i++) {
        char one = false;
        keep_first(&first, tatp_receive(comm, &one, sizeof one, local[i], TATP_TAG_LOADS));
        all = all && one;
    }
    *result = all ? OFFER_ACCEPTED : may_offer_again(offer) ? OFFER_REPEATED : OFFER_REFUSED;
    if (OMPI_SUCCESS != first)
        *result = OFFER_REFUSED;
    char reply = (char)*result;
    for (int i = 1; i < locals; i++)
        keep_first(&first, tatp_send(comm, &reply, sizeof reply, local[i], TATP_TAG_LOADS));
    return first;
}

/* ---- windows ---- */

/* Of an aggregator: no more than there are cycles, because memory that is touched first takes time.
 */
static size_t count_windows(const tatp_exchange_layout *layout)
{
    return layout->num_cycles < EXCHANGE_DEPTH ? (size_t)layout->num_cycles : EXCHANGE_DEPTH;
}

/* SIZE_MAX: too large. */
static size_t windows_bytes(size_t aggregators, const tatp_exchange_layout *layout)
{
    size_t bytes;
    bool fits = !__builtin_mul_overflow(round_to_pages((size_t)layout->cycle_size),
                                        count_windows(layout) * aggregators, &bytes);
    return fits ? bytes : SIZE_MAX;
}

/* Behind the flags: the windows, or (while an exchange is prepared) the table of the loads. */
static segment_needs find_needs(size_t windows, tatp_loads *loads)
{
    segment_needs needs = {tatp_loads_pairs(loads), windows};
    size_t table;
    if (0 == needs.pairs)
        return needs;
    (void)tatp_loads_table(loads, &table);
    if (__builtin_add_overflow(windows, tatp_loads_bytes(loads), &needs.bytes))
        needs.bytes = SIZE_MAX;
    if (needs.bytes < table)
        needs.bytes = table;
    return needs;
}

static char *segment_data(const tatp_segment *segment)
{
    return segment->base + flags_bytes(segment->peers, segment->pairs);
}

/* What could not be shared is not tried again. */
static void note_refusal(tatp_exchange_memory *memory, const tatp_comm *comm,
                         const segment_needs *needs)
{
    int locals;
    (void)tatp_comm_local_ranks(comm, &locals);
    size_t size = segment_bytes(locals, needs);
    if (needs->bytes > 0 && size < memory->refused_bytes)
        memory->refused_bytes = size;
}

/* One offer of the leader. *segment: NULL unless it is accepted. */
static int offer_once(tatp_exchange_memory *memory, tatp_comm *comm, size_t windows,
                      tatp_loads *loads, tatp_segment **segment, enum offer_result *result)
{
    const segment_needs needs = find_needs(windows, loads);
    segment_offer offer;
    int fd = -1;
    tatp_segment *offered = offer_segment(memory, comm, &needs, &offer, &fd);
    if (NULL != offered && needs.pairs > 0) {
        size_t bytes;
        const void *table = tatp_loads_table(loads, &bytes);
        memcpy(segment_data(offered), table, bytes);
    }
    int rc = confirm_offer(comm, &offer, result);
    if (fd >= 0)
        close(fd);
    *segment = OFFER_ACCEPTED == *result ? offered : NULL;
    if (OFFER_ACCEPTED == *result)
        return rc;
    discard_segment(memory, offered);
    if (OFFER_REFUSED == *result || offer.is_new) {
        note_refusal(memory, comm, &needs);
        tatp_loads_drop(loads);
    }
    return rc;
}

/* The leader alone decides whether a kept segment is suitable: only it knows what loads need, and
 * the ranks of a group may have opened different files before. */
static int share_as_leader(tatp_exchange_memory *memory, tatp_comm *comm, size_t windows,
                           tatp_loads *loads, tatp_segment **segment)
{
    enum offer_result result;
    int rc;
    do {
        rc = offer_once(memory, comm, windows, loads, segment, &result);
    } while (OFFER_REPEATED == result);
    return rc;
}

static tatp_segment *accept_offer(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                  const tatp_loads *loads, const segment_offer *offer)
{
    if (0 == offer->id || (offer->loads > 0 && NULL == loads))
        return NULL;
    if (!offer->is_new)
        return acquire_segment(memory, comm, offer->id, NULL);
    tatp_segment *segment =
        new_segment(memory, comm, offer->id, (size_t)offer->pairs, (size_t)offer->size);
    int fd = NULL != segment ? open_object(offer) : -1;
    bool is_mapped = fd >= 0 && map_segment(segment, fd);
    if (fd >= 0)
        close(fd);
    if (is_mapped)
        return segment;
    free_segment(segment);
    return NULL;
}

/* *segment: as offer_once. */
static int accept_once(tatp_exchange_memory *memory, tatp_comm *comm, const tatp_loads *loads,
                       segment_offer *offer, tatp_segment **segment, enum offer_result *result)
{
    int locals, leader = tatp_comm_local_ranks(comm, &locals)[0];
    char reply = OFFER_REFUSED;
    *offer = (segment_offer){0};
    int rc = tatp_receive(comm, offer, sizeof *offer, leader, TATP_TAG_LOADS);
    tatp_segment *offered = OMPI_SUCCESS == rc ? accept_offer(memory, comm, loads, offer) : NULL;
    char one = NULL != offered;
    keep_first(&rc, tatp_send(comm, &one, sizeof one, leader, TATP_TAG_LOADS));
    keep_first(&rc, tatp_receive(comm, &reply, sizeof reply, leader, TATP_TAG_LOADS));
    *result = OMPI_SUCCESS == rc ? (enum offer_result)reply : OFFER_REFUSED;
    *segment = OFFER_ACCEPTED == *result ? offered : NULL;
    if (OFFER_ACCEPTED != *result)
        discard_segment(memory, offered);
    return rc;
}

static int share_as_peer(tatp_exchange_memory *memory, tatp_comm *comm,
                         const tatp_exchange_layout *layout, tatp_loads *loads,
                         tatp_segment **segment)
{
    enum offer_result result;
    segment_offer offer;
    int rc;
    do {
        rc = accept_once(memory, comm, loads, &offer, segment, &result);
    } while (OFFER_REPEATED == result);
    if (OFFER_ACCEPTED == result && offer.loads > 0)
        tatp_loads_adopt(loads, segment_data(*segment), layout);
    return rc;
}

/* The aggregators of this node before `aggregator`, in the order of their domains; all of them for
 * -1. */
static size_t count_local_aggregators(const tatp_comm *comm, const tatp_exchange_layout *layout,
                                      int aggregator)
{
    size_t count = 0;
    for (size_t j = 0; j < layout->domains->count; j++) {
        if (0 == layout->domains->size[j])
            continue;
        if (layout->aggregator[j] == aggregator)
            break;
        count += tatp_comm_is_local(comm, layout->aggregator[j]);
    }
    return count;
}

/* Finds the loads of this node, as its leader; the others get them with the segment. *loads: NULL
 * if there is no memory. */
static int find_loads(tatp_comm *comm, const tatp_exchange_layout *layout, tatp_loads **loads)
{
    *loads = tatp_loads_new(comm, layout);
    int rc = tatp_loads_gather(*loads, comm, layout);
    if (NULL != *loads && tatp_comm_is_leader(comm))
        tatp_loads_decide(*loads, layout);
    return rc;
}

/* The ranks of a node may keep different segments for a file: with several threads each takes the
 * state of an earlier file that happens to be idle. So they confirm one each time. */
int tatp_share_windows(tatp_exchange_memory *memory, tatp_comm *comm,
                       const tatp_exchange_layout *layout, tatp_loads **loads,
                       tatp_segment **segment)
{
    int locals, rc = OMPI_SUCCESS;
    size_t aggregators = count_local_aggregators(comm, layout, -1);
    bool wanted = tatp_loads_wanted(comm, layout);
    (void)tatp_comm_local_ranks(comm, &locals);
    if (!layout->use_shared_memory || locals < 2 || (0 == aggregators && !wanted))
        return OMPI_SUCCESS;
    if (wanted)
        rc = find_loads(comm, layout, loads);
    keep_first(&rc, tatp_comm_is_leader(comm)
                        ? share_as_leader(memory, comm, windows_bytes(aggregators, layout), *loads,
                                          segment)
                        : share_as_peer(memory, comm, layout, *loads, segment));
    tatp_segment_release(memory->segment);
    memory->segment = *segment;
    if (NULL != *segment)
        (*segment)->users++;
    return rc;
}

static exchange_flags *find_flags(const tatp_segment *segment, size_t index, size_t place)
{
    size_t places = (size_t)segment->peers + segment->pairs;
    return (exchange_flags *)(void *)segment->base + (index * places + place) * EXCHANGE_DEPTH;
}

void tatp_find_windows(const tatp_segment *segment, size_t index, const tatp_comm *comm,
                       const tatp_exchange_layout *layout, int aggregator, exchange_window *window)
{
    size_t place = count_local_aggregators(comm, layout, aggregator);
    exchange_flags *flags = find_flags(segment, index, place);
    char *data = segment_data(segment) + windows_bytes(place, layout);
    for (size_t i = 0; i < EXCHANGE_DEPTH; i++)
        window[i].flags = &flags[i];
    for (size_t i = 0; i < count_windows(layout); i++)
        window[i].data = data + i * round_to_pages((size_t)layout->cycle_size);
}

tatp_load_memory tatp_find_load_memory(const tatp_segment *segment, size_t index,
                                       const tatp_comm *comm, const tatp_exchange_layout *layout)
{
    size_t aggregators = count_local_aggregators(comm, layout, -1);
    return (tatp_load_memory){
        .flags = find_flags(segment, index, (size_t)segment->peers),
        .data = segment_data(segment) + windows_bytes(aggregators, layout),
    };
}
