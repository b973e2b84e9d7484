/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that all ranks of a node map: a contributor copies its data directly between the user's
 * buffer and a window there, without a message.
 *
 * A file has one segment on each node, and its next call a new one where that is too small. It
 * lives across calls, and files of the same ranks, because its first touch costs more than its use.
 * It never has a name in a file system: the leader's peers open its descriptor through /proc, and
 * the kernel frees it with the last mapping, so that a process that is killed at any moment leaves
 * nothing behind. Where it cannot be had, as where ranks do not see each other's processes,
 * messages give the same results.
 *
 * The flags come first, those of each place for each exchange, so that no exchange writes data over
 * another one's flags; then the data, which the exchanges use in turn. */
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
    size_t size, places;
    dev_t device; /* what identifies it */
    ino_t inode;
};

/* What the leader tells its peers of its segment, all 0 if there is none: where it is, as /proc
 * names the leader's process, unless the others should have it (DESCRIPTOR is -1), and the object's
 * identity, because another rank's /proc may have another process of that number. */
enum { SIZE, PLACES, ROWS, PROCESS, DESCRIPTOR, DEVICE, INODE, OFFER_VALUES };

static size_t flags_bytes(size_t places)
{
    size_t bytes = places * COLL_SLOTS * sizeof(exchange_flags);
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static char *segment_data(const coll_segment *segment)
{
    return segment->base + flags_bytes(segment->places);
}

static size_t data_bytes(const coll_segment *segment)
{
    return segment->size - flags_bytes(segment->places);
}

exchange_windows coll_segment_windows(const coll_segment *segment, size_t index,
                                      const coll_row *row)
{
    exchange_flags *flags = (exchange_flags *)(void *)segment->base;
    return (exchange_windows){flags + index * segment->places + row->place,
                              segment_data(segment) + row->offset, row->stride};
}

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

/* Maps the object of a descriptor, for one user. NULL if memory is exhausted. */
static coll_segment *map_segment(int fd, size_t places, size_t size)
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
    *segment = (coll_segment){1, -1, base, size, places, status.st_dev, status.st_ino};
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

/* NULL if it cannot be had. */
static coll_segment *create_segment(size_t places, size_t bytes)
{
    size_t size = flags_bytes(places) + bytes;
    int fd = create_object(size);
    if (fd < 0)
        return NULL;
    coll_segment *segment = map_segment(fd, places, size);
    if (segment == NULL)
        close(fd);
    else
        segment->fd = fd;
    return segment;
}

/* The file's segment, or a new one for it and what it holds; NULL if none is needed or can be had.
 * What could not be shared is not tried again. */
static coll_segment *find_segment(const coll_exchange_memory *memory, const coll_table *table)
{
    coll_segment *own = memory->segment;
    size_t places = table->places, bytes = table->bytes;
    if (bytes == 0 || bytes >= memory->refused_bytes)
        return NULL;
    if (own == NULL)
        return create_segment(places, bytes);
    if (own->places >= places && data_bytes(own) >= bytes)
        return use_segment(own);
    return create_segment(own->places > places ? own->places : places,
                          data_bytes(own) > bytes ? data_bytes(own) : bytes);
}

/* The leader alone decides whether its segment is suitable: only it knows what is needed. /proc may
 * be that of another namespace of processes than getpid is. */
static coll_segment *offer_segment(const coll_exchange_memory *memory, const coll_table *table,
                                   int64_t *offer)
{
    char self[24] = "";
    coll_segment *segment = find_segment(memory, table);
    if (segment == NULL || readlink("/proc/self", self, sizeof self - 1) < 0)
        return segment;
    offer[SIZE] = (int64_t)segment->size;
    offer[PLACES] = (int64_t)segment->places;
    offer[ROWS] = (int64_t)table->rows;
    offer[PROCESS] = strtoll(self, NULL, 10);
    offer[DESCRIPTOR] = segment->fd;
    offer[DEVICE] = (int64_t)segment->device;
    offer[INODE] = (int64_t)segment->inode;
    memcpy(segment_data(segment), table->row, table->rows * sizeof *table->row);
    return segment;
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
 * of an earlier file that happens to be idle. NULL if the leader's cannot be had. */
static coll_segment *accept_segment(const coll_exchange_memory *memory, const int64_t *offer)
{
    coll_segment *own = memory->segment;
    if (offer[SIZE] == 0)
        return NULL;
    if (own != NULL && is_offered(offer, own->device, own->inode))
        return use_segment(own);
    int fd = offer[DESCRIPTOR] >= 0 ? open_object(offer) : -1;
    if (fd < 0)
        return NULL;
    coll_segment *segment = map_segment(fd, (size_t)offer[PLACES], (size_t)offer[SIZE]);
    close(fd);
    if (segment == NULL || is_offered(offer, segment->device, segment->inode))
        return segment;
    coll_segment_release(segment);
    return NULL;
}

/* ---- both ---- */

/* *segment: NULL unless all ranks of the node have it, which is no longer offered then. */
static int share_once(const coll_exchange_memory *memory, coll_group *group,
                      const coll_table *table, int64_t *offer, coll_segment **segment)
{
    coll_segment *own = NULL;
    bool leads = group->is_leader;
    memset(offer, 0, OFFER_VALUES * sizeof *offer);
    if (leads)
        own = offer_segment(memory, table, offer);
    int rc = coll_node_bcast(group, offer, OFFER_VALUES);
    if (rc == 0 && !leads)
        own = accept_segment(memory, offer);
    int64_t lacks = own == NULL;
    int agreed = coll_node_max(group, &lacks, 1);
    rc = rc != 0 ? rc : agreed;
    if (own != NULL && own->fd >= 0) {
        close(own->fd);
        own->fd = -1;
    }
    if (rc == 0 && !lacks)
        *segment = own;
    else
        coll_segment_release(own);
    return rc;
}

static void keep_segment(coll_exchange_memory *memory, coll_segment *segment)
{
    coll_segment_release(memory->segment);
    memory->segment = segment;
}

/* Where a rank does not have the segment that the leader kept, all get a new one. */
int coll_segment_share(coll_exchange_memory *memory, coll_group *group, coll_table *table,
                       coll_segment **segment)
{
    int64_t offer[OFFER_VALUES];
    int rc = share_once(memory, group, table, offer, segment);
    if (rc == 0 && *segment == NULL && offer[DESCRIPTOR] < 0) {
        keep_segment(memory, NULL);
        rc = share_once(memory, group, table, offer, segment);
    }
    if (*segment != NULL) {
        keep_segment(memory, use_segment(*segment));
        table->row = (const coll_row *)(const void *)segment_data(*segment);
        table->rows = (size_t)offer[ROWS];
        return rc;
    }
    if (table->bytes > 0 && table->bytes < memory->refused_bytes)
        memory->refused_bytes = table->bytes;
    *table = (coll_table){0};
    return rc;
}
