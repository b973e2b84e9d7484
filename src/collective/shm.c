/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycle buffers that all ranks of a node map: a contributor copies its data directly between the
 * user's buffer and the window, without a message.
 *
 * A file has one segment on each node, and its next call a new one where that is too small. It
 * lives across calls, and files of the same ranks, because its first touch costs more than its use.
 * It never has a name in a file system: the leader's peers open its descriptor through /proc, and
 * the kernel frees it with the last mapping, so that a process that is killed at any moment leaves
 * nothing behind. Where it cannot be had, as where ranks do not see each other's processes,
 * messages give the same results. */
#define _GNU_SOURCE /* memfd_create */
#include "collective/exchange_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

struct coll_segment {
    int users; /* exchanges, and the file */
    int fd;    /* of a new one, while the leader's peers map it; else -1 */
    char *base;
    size_t size, locals;
    size_t pairs; /* bundles that it has flags for */
    dev_t device; /* what identifies it */
    ino_t inode;
};

/* What the leader tells its peers of its segment, all 0 if there is none: where it is, as /proc
 * names the leader's process, unless the others should have it (DESCRIPTOR is -1), and the object's
 * identity, because another rank's /proc may have another process of that number. */
enum { SIZE, PAIRS, BUNDLES, PROCESS, DESCRIPTOR, DEVICE, INODE, OFFER_VALUES };

/* What a segment has to hold. */
typedef struct segment_needs {
    size_t pairs; /* bundles that have flags */
    size_t bytes; /* behind the flags; 0: no segment is needed */
} segment_needs;

/* ---- the flags of a segment ---- */

/* A segment has the flags first, those of aggregators and bundles for each exchange, so that no
 * exchange writes data over another one's flags; then the windows, which the exchanges use in turn.
 */

static size_t round_to_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t flags_bytes(size_t locals, size_t pairs)
{
    return round_to_pages((locals + pairs) * COLL_SLOTS * EXCHANGE_DEPTH * sizeof(exchange_flags));
}

static char *segment_data(const coll_segment *segment)
{
    return segment->base + flags_bytes(segment->locals, segment->pairs);
}

static size_t data_bytes(const coll_segment *segment)
{
    return segment->size - flags_bytes(segment->locals, segment->pairs);
}

/* ---- segments ---- */

void coll_segment_release(coll_segment *segment)
{
    if (segment == NULL || --segment->users > 0)
        return;
    munmap(segment->base, segment->size);
    free(segment);
}

static coll_segment *use_segment(coll_segment *segment)
{
    segment->users++;
    return segment;
}

/* Maps the object of a descriptor, for one user. NULL: no memory. */
static coll_segment *map_segment(const coll_group *group, int fd, size_t pairs, size_t size)
{
    struct stat status;
    coll_segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL || fstat(fd, &status) != 0) {
        free(segment);
        return NULL;
    }
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        free(segment);
        return NULL;
    }
    *segment = (coll_segment){
        1, -1, base, size, (size_t)group->locals, pairs, status.st_dev, status.st_ino};
    return segment;
}

/* ---- the leader's part ---- */

/* Memory without a name; allocated now, not at the first touch, where a lack of it would be a
 * signal. Returns a descriptor, or -1. */
static int create_object(size_t size)
{
    int rc, fd = memfd_create("tatp", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    do {
        rc = posix_fallocate(fd, 0, (off_t)size);
    } while (EINTR == rc);
    if (rc == 0)
        return fd;
    close(fd);
    return -1;
}

/* NULL: it cannot be had. */
static coll_segment *create_segment(const coll_group *group, const segment_needs *needs)
{
    size_t size = needs->bytes + flags_bytes((size_t)group->locals, needs->pairs);
    int fd = create_object(size);
    if (fd < 0)
        return NULL;
    coll_segment *segment = map_segment(group, fd, needs->pairs, size);
    if (segment == NULL)
        close(fd);
    else
        segment->fd = fd;
    return segment;
}

/* The file's segment, or a new one for it and what it holds; NULL: none is needed or can be had.
 * What could not be shared is not tried again. */
static coll_segment *find_segment(const coll_exchange_memory *memory, const coll_group *group,
                                  const segment_needs *needs)
{
    coll_segment *own = memory->segment;
    if (needs->bytes == 0 || needs->bytes >= memory->refused_bytes)
        return NULL;
    if (own == NULL)
        return create_segment(group, needs);
    size_t bytes = data_bytes(own);
    if (own->pairs >= needs->pairs && bytes >= needs->bytes)
        return use_segment(own);
    const segment_needs both = {needs->pairs > own->pairs ? needs->pairs : own->pairs,
                                needs->bytes > bytes ? needs->bytes : bytes};
    return create_segment(group, &both);
}

/* /proc may be that of another namespace of processes than getpid is. */
static void describe_segment(const coll_segment *segment, size_t bundles, int64_t *offer)
{
    char self[24] = "";
    if (readlink("/proc/self", self, sizeof self - 1) < 0)
        return;
    offer[SIZE] = (int64_t)segment->size;
    offer[PAIRS] = (int64_t)segment->pairs;
    offer[BUNDLES] = (int64_t)bundles;
    offer[PROCESS] = strtoll(self, NULL, 10);
    offer[DESCRIPTOR] = segment->fd;
    offer[DEVICE] = (int64_t)segment->device;
    offer[INODE] = (int64_t)segment->inode;
}

/* ---- a peer's part ---- */

static bool is_offered(const int64_t *offer, dev_t device, ino_t inode)
{
    return offer[DEVICE] == (int64_t)device && offer[INODE] == (int64_t)inode;
}

/* Looks before it opens: a foreign process may have anything there. Returns a descriptor, or -1. */
static int open_object(const int64_t *offer)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)offer[PROCESS],
             (long long)offer[DESCRIPTOR]);
    if (stat(path, &status) != 0 || !is_offered(offer, status.st_dev, status.st_ino))
        return -1;
    return open(path, O_RDWR | O_CLOEXEC);
}

/* The file's segment if that is the leader's, too: with several threads each rank takes the state
 * of an earlier file that happens to be idle. NULL: the leader's cannot be had. */
static coll_segment *accept_segment(const coll_exchange_memory *memory, const coll_group *group,
                                    const int64_t *offer)
{
    coll_segment *own = memory->segment;
    if (offer[SIZE] == 0)
        return NULL;
    if (own != NULL && is_offered(offer, own->device, own->inode))
        return use_segment(own);
    int fd = offer[DESCRIPTOR] >= 0 ? open_object(offer) : -1;
    if (fd < 0)
        return NULL;
    coll_segment *segment = map_segment(group, fd, (size_t)offer[PAIRS], (size_t)offer[SIZE]);
    close(fd);
    if (segment == NULL || is_offered(offer, segment->device, segment->inode))
        return segment;
    coll_segment_release(segment);
    return NULL;
}

/* ---- windows ---- */

/* Of an aggregator: no more than there are cycles, because memory that is touched first takes time.
 */
static size_t count_windows(const domain_layout *layout)
{
    return layout->num_cycles < EXCHANGE_DEPTH ? (size_t)layout->num_cycles : EXCHANGE_DEPTH;
}

/* SIZE_MAX: too large. */
static size_t windows_bytes(size_t aggregators, const domain_layout *layout)
{
    size_t bytes;
    bool overflows = __builtin_mul_overflow(round_to_pages((size_t)layout->cycle_size),
                                            count_windows(layout) * aggregators, &bytes);
    return overflows || bytes > PTRDIFF_MAX ? SIZE_MAX : bytes;
}

/* Behind the flags: the windows, or (while an exchange is prepared) the table of the bundles. */
static segment_needs find_needs(size_t windows, coll_bundles *bundles)
{
    segment_needs needs = {coll_bundles_pairs(bundles), windows};
    size_t table;
    if (needs.pairs == 0 || SIZE_MAX == windows)
        return needs;
    (void)coll_bundles_table(bundles, &table);
    needs.bytes += coll_bundles_bytes(bundles);
    if (needs.bytes < table)
        needs.bytes = table;
    return needs;
}

/* The leader alone decides whether its segment is suitable: only it knows what bundles need.
 * Returns that, and the offer to its peers. */
static coll_segment *offer_segment(const coll_exchange_memory *memory, const coll_group *group,
                                   const segment_needs *needs, coll_bundles *bundles,
                                   int64_t *offer)
{
    coll_segment *segment = find_segment(memory, group, needs);
    if (segment == NULL)
        return NULL;
    describe_segment(segment, needs->pairs, offer);
    if (needs->pairs > 0) {
        size_t bytes;
        const void *table = coll_bundles_table(bundles, &bytes);
        memcpy(segment_data(segment), table, bytes);
    }
    return segment;
}

static void keep_first(int *first, int rc)
{
    if (*first == 0)
        *first = rc;
}

/* Whether all ranks of the node have the segment, which is no longer offered then. rc: this rank's
 * status so far. */
static bool is_shared(coll_group *group, coll_segment *segment, int *rc)
{
    int64_t lacks = segment == NULL;
    keep_first(rc, coll_node_max(group, &lacks, 1));
    if (segment != NULL && segment->fd >= 0) {
        close(segment->fd);
        segment->fd = -1;
    }
    return *rc == 0 && !lacks;
}

/* *segment: NULL unless all ranks of the node have it. needs: the leader's. */
static int share_once(const coll_exchange_memory *memory, coll_group *group,
                      const segment_needs *needs, coll_bundles *bundles, int64_t *offer,
                      coll_segment **segment)
{
    coll_segment *own = NULL;
    memset(offer, 0, OFFER_VALUES * sizeof *offer);
    if (coll_is_leader(group))
        own = offer_segment(memory, group, needs, bundles, offer);
    int rc = coll_node_bcast(group, offer, OFFER_VALUES);
    bool can_carry = offer[BUNDLES] == 0 || bundles != NULL;
    if (rc == 0 && !coll_is_leader(group) && can_carry)
        own = accept_segment(memory, group, offer);
    if (is_shared(group, own, &rc))
        *segment = own;
    else
        coll_segment_release(own);
    return rc;
}

static void forget_segment(coll_exchange_memory *memory)
{
    coll_segment_release(memory->segment);
    memory->segment = NULL;
}

/* windows: bytes of those of all aggregators. Where a rank does not have the segment that the
 * leader kept, all get a new one. */
static int share_segment(coll_exchange_memory *memory, coll_group *group,
                         const domain_layout *layout, size_t windows, coll_bundles *bundles,
                         coll_segment **segment)
{
    int64_t offer[OFFER_VALUES];
    const segment_needs needs = find_needs(windows, bundles);
    int rc = share_once(memory, group, &needs, bundles, offer, segment);
    if (rc == 0 && *segment == NULL && offer[DESCRIPTOR] < 0) {
        forget_segment(memory);
        rc = share_once(memory, group, &needs, bundles, offer, segment);
    }
    if (*segment == NULL) {
        coll_bundles_drop(bundles);
        if (needs.bytes > 0 && needs.bytes < memory->refused_bytes)
            memory->refused_bytes = needs.bytes;
        return rc;
    }
    if (!coll_is_leader(group) && offer[BUNDLES] > 0)
        coll_bundles_adopt(bundles, segment_data(*segment), layout);
    forget_segment(memory);
    memory->segment = use_segment(*segment);
    return rc;
}

/* The aggregators of this node before `aggregator`, in the order of their domains; all of them for
 * -1. */
static size_t count_local_aggregators(const coll_group *group, const domain_layout *layout,
                                      int aggregator)
{
    size_t count = 0;
    for (size_t j = 0; j < layout->domains->count; j++) {
        if (layout->domains->size[j] == 0)
            continue;
        if (layout->aggregator[j] == aggregator)
            break;
        count += coll_is_local(group, layout->aggregator[j]);
    }
    return count;
}

int coll_share_windows(coll_exchange_memory *memory, coll_group *group, const domain_layout *layout,
                       coll_bundles **bundles, coll_segment **segment)
{
    int rc = 0;
    size_t aggregators = count_local_aggregators(group, layout, -1);
    bool wanted = coll_bundles_wanted(group, layout);
    if (group->locals < 2 || (aggregators == 0 && !wanted))
        return 0;
    if (wanted)
        rc = coll_bundles_find(group, layout, bundles);
    keep_first(&rc, share_segment(memory, group, layout, windows_bytes(aggregators, layout),
                                  *bundles, segment));
    return rc;
}

static exchange_flags *find_flags(const coll_segment *segment, size_t index, size_t place)
{
    size_t places = segment->locals + segment->pairs;
    return (exchange_flags *)(void *)segment->base + (index * places + place) * EXCHANGE_DEPTH;
}

void coll_find_windows(const coll_segment *segment, size_t index, const coll_group *group,
                       const domain_layout *layout, int aggregator, exchange_window *window)
{
    size_t place = count_local_aggregators(group, layout, aggregator);
    exchange_flags *flags = find_flags(segment, index, place);
    char *data = segment_data(segment) + windows_bytes(place, layout);
    for (size_t i = 0; i < EXCHANGE_DEPTH; i++)
        window[i].flags = &flags[i];
    for (size_t i = 0; i < count_windows(layout); i++)
        window[i].data = data + i * round_to_pages((size_t)layout->cycle_size);
}

coll_bundle_memory coll_find_bundle_memory(const coll_segment *segment, size_t index,
                                           const coll_group *group, const domain_layout *layout)
{
    size_t aggregators = count_local_aggregators(group, layout, -1);
    return (coll_bundle_memory){
        .flags = find_flags(segment, index, segment->locals),
        .data = segment_data(segment) + windows_bytes(aggregators, layout),
    };
}
