/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycle buffers that all ranks of a node map: a contributor copies its data directly between the
 * user's buffer and the window, without a message.
 *
 * A segment belongs to a group of ranks on one node and lives across calls and files, because its
 * first touch costs more than its use. It has no name once every rank of the group has mapped it,
 * so that a killed job leaves nothing behind. Where it cannot be had, messages give the same
 * results. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fcoll_tatp_exchange_internal.h"
#include "ompi/compat/compat.h"
#include "ompi/compat/compat.h"

#define PAGE 4096
#define NAME_BYTES 64

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
    int64_t is_new; /* to be opened by name; else known by id */
    int64_t pairs;  /* it has flags for so many loads ... */
    int64_t loads;  /* ... of which the call uses so many */
    char name[NAME_BYTES];
} segment_offer;

/* What a segment has to hold. */
typedef struct segment_needs {
    size_t pairs; /* flags for so many loads */
    size_t bytes; /* behind the flags */
} segment_needs;

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static tatp_segment *idle_segments;

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
    for (tatp_segment **at = &idle_segments; NULL != *at && NULL == found; at = &(*at)->next) {
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

void tatp_segment_release(tatp_segment *segment)
{
    if (NULL == segment || --segment->users > 0)
        return;
    OPAL_THREAD_LOCK(&lock);
    segment->next = idle_segments;
    idle_segments = segment;
    OPAL_THREAD_UNLOCK(&lock);
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

/* Maps the named object; `create` makes it and allocates its memory now, not at the first touch,
 * where a full /dev/shm would be a signal. */
static bool map_segment(tatp_segment *segment, const char *name, bool create)
{
    int fd = shm_open(name, create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
    if (fd < 0)
        return false;
    bool is_usable = !create || 0 == posix_fallocate(fd, 0, (off_t)segment->size);
    void *base = is_usable ? mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                           : MAP_FAILED;
    close(fd);
    if (MAP_FAILED == base) {
        if (create)
            shm_unlink(name);
        return false;
    }
    segment->base = base;
    return true;
}

/* ---- agreement among the ranks of a node ---- */

static tatp_segment *create_segment(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                    const segment_needs *needs, size_t size, segment_offer *offer)
{
    static _Atomic uint64_t ids;
    uint64_t id = ++ids;
    tatp_segment *segment = new_segment(memory, comm, id, needs->pairs, size);
    if (NULL == segment)
        return NULL;
    snprintf(offer->name, sizeof offer->name, "/tatp.%ld.%llu", (long)getpid(),
             (unsigned long long)id);
    offer->is_new = map_segment(segment, offer->name, true);
    if (offer->is_new)
        return segment;
    free_segment(segment);
    return NULL;
}

/* The leader's segment: one that exists, or a new one; NULL: none is needed or can be had. */
static tatp_segment *offer_segment(const tatp_exchange_memory *memory, const tatp_comm *comm,
                                   const segment_needs *needs, segment_offer *offer)
{
    int locals;
    (void)tatp_comm_local_ranks(comm, &locals);
    size_t size = segment_bytes(locals, needs);
    tatp_segment *segment = needs->bytes > 0 ? acquire_segment(memory, comm, 0, needs) : NULL;
    memset(offer, 0, sizeof *offer);
    offer->loads = (int64_t)needs->pairs;
    if (NULL == segment && needs->bytes > 0 && size < memory->refused_bytes)
        segment = create_segment(memory, comm, needs, size, offer);
    if (NULL != segment) {
        offer->id = segment->id;
        offer->size = (int64_t)segment->size;
        offer->pairs = (int64_t)segment->pairs;
    }
    return segment;
}

/* The leader asks its peers whether they can map the segment, and tells them whether all can; then
 * the name is removed. */
static bool confirm_offer(tatp_comm *comm, const segment_offer *offer)
{
    int locals;
    const int *local = tatp_comm_local_ranks(comm, &locals);
    char all = 0 != offer->id, one;
    for (int i = 1; i < locals; i++)
        tatp_send(comm, offer, sizeof *offer, local[i], TATP_TAG_SHARED);
    for (int i = 1; i < locals; i++) {
        tatp_receive(comm, &one, sizeof one, local[i], TATP_TAG_SHARED);
        all = all && one;
    }
    if (offer->is_new)
        shm_unlink(offer->name);
    for (int i = 1; i < locals; i++)
        tatp_send(comm, &all, sizeof all, local[i], TATP_TAG_SHARED);
    return all;
}

static bool is_kept(const segment_offer *offer)
{
    return 0 != offer->id && !offer->is_new;
}

/* A kept segment that a peer no longer has does not rule out another one, and one with loads does
 * not rule out one without. */
static bool is_offer_repeated(const segment_offer *offer, bool all)
{
    return !all && (is_kept(offer) || offer->loads > 0);
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

/* The leader alone decides whether a kept segment is suitable: only it knows what loads need, and
 * the ranks of a group may have opened different files before. */
static tatp_segment *share_as_leader(tatp_exchange_memory *memory, tatp_comm *comm, size_t windows,
                                     tatp_loads *loads)
{
    tatp_segment *segment;
    segment_offer offer;
    bool all;
    do {
        const segment_needs needs = find_needs(windows, loads);
        size_t table;
        segment = offer_segment(memory, comm, &needs, &offer);
        if (NULL != segment && needs.pairs > 0) {
            const void *parts = tatp_loads_table(loads, &table);
            memcpy(segment_data(segment), parts, table);
        }
        all = confirm_offer(comm, &offer);
        if (!all)
            discard_segment(memory, segment);
        if (!all && !is_kept(&offer)) {
            note_refusal(memory, comm, &needs);
            tatp_loads_drop(loads);
        }
    } while (is_offer_repeated(&offer, all));
    return all ? segment : NULL;
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
    if (NULL == segment || map_segment(segment, offer->name, false))
        return segment;
    free_segment(segment);
    return NULL;
}

static tatp_segment *share_as_peer(tatp_exchange_memory *memory, tatp_comm *comm,
                                   const tatp_exchange_layout *layout, tatp_loads *loads)
{
    int locals, leader = tatp_comm_local_ranks(comm, &locals)[0];
    tatp_segment *segment;
    segment_offer offer;
    char all;
    do {
        tatp_receive(comm, &offer, sizeof offer, leader, TATP_TAG_SHARED);
        segment = accept_offer(memory, comm, loads, &offer);
        char one = NULL != segment;
        tatp_send(comm, &one, sizeof one, leader, TATP_TAG_SHARED);
        tatp_receive(comm, &all, sizeof all, leader, TATP_TAG_SHARED);
        if (!all)
            discard_segment(memory, segment);
    } while (is_offer_repeated(&offer, all));
    if (all && offer.loads > 0)
        tatp_loads_adopt(loads, segment_data(segment), layout);
    return all ? segment : NULL;
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

/* Finds the loads of this node, as its leader; the others get them with the segment. NULL: no
 * memory. */
static tatp_loads *find_loads(tatp_comm *comm, const tatp_exchange_layout *layout)
{
    tatp_loads *loads = tatp_loads_new(comm, layout);
    tatp_loads_gather(loads, comm, layout);
    if (NULL != loads && tatp_comm_is_leader(comm))
        tatp_loads_decide(loads, layout);
    return loads;
}

/* The ranks of a node may keep different segments for a file: with several threads each takes the
 * state of an earlier file that happens to be idle. So they confirm one each time. */
tatp_segment *tatp_share_windows(tatp_exchange_memory *memory, tatp_comm *comm,
                                 const tatp_exchange_layout *layout, tatp_loads **loads)
{
    int locals;
    size_t aggregators = count_local_aggregators(comm, layout, -1);
    bool wanted = tatp_loads_wanted(comm, layout);
    (void)tatp_comm_local_ranks(comm, &locals);
    if (!layout->use_shared_memory || locals < 2 || (0 == aggregators && !wanted))
        return NULL;
    size_t windows = windows_bytes(aggregators, layout);
    *loads = wanted ? find_loads(comm, layout) : NULL;
    tatp_segment *segment = tatp_comm_is_leader(comm)
                                ? share_as_leader(memory, comm, windows, *loads)
                                : share_as_peer(memory, comm, layout, *loads);
    tatp_segment_release(memory->segment);
    memory->segment = segment;
    if (NULL != segment)
        segment->users++;
    return segment;
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
