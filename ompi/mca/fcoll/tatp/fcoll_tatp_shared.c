/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycle buffers that all ranks of a node see: there a contributor copies its bytes straight between
 * the user's buffer and the window, and no message is needed.
 *
 * A segment belongs to a group of ranks on one node, lives across calls and files (its first touch
 * costs more than its use), and has no name once every rank of the group has mapped it, so that a
 * killed job leaves nothing behind. Where it cannot be had, the private path gives the same
 * results. */
#include "fcoll_tatp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/rte/rte.h"
#include "ompi/proc/proc.h"

#define PAGE 4096
#define NAME_BYTES 64

struct tatp_segment {
    struct tatp_segment *next; /* of those that wait in the component */
    uint64_t id;               /* the leader's number for it */
    char *base;
    size_t size;
    int peers;
    ompi_process_name_t *peer; /* the group, ascending by rank of the file it was made for */
};

/* The leader's word to its peers. */
typedef struct offer {
    uint64_t id;
    int64_t size;
    int64_t fresh; /* to be opened by name, or known by id */
    char name[NAME_BYTES];
} offer;

/* ---- the ranks of this node ---- */

/* Open MPI has an object for each process of this node, so that a rank without one is elsewhere. */
static bool on_this_node(ompio_file_t *fh, int rank)
{
    const ompi_proc_t *proc = ompi_group_get_proc_ptr(fh->f_comm->c_local_group, rank, false);
    return rank == fh->f_rank || (NULL != proc && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags));
}

int tatp_find_local(ompio_file_t *fh, tatp_module *module)
{
    int count = 0;
    if (NULL != module->local)
        return OMPI_SUCCESS;
    for (int r = 0; r < fh->f_size; r++)
        count += on_this_node(fh, r);
    module->local = malloc((size_t)count * sizeof *module->local);
    if (NULL == module->local)
        return OMPI_ERR_OUT_OF_RESOURCE;
    module->locals = 0;
    for (int r = 0; r < fh->f_size; r++)
        if (on_this_node(fh, r))
            module->local[module->locals++] = r;
    return OMPI_SUCCESS;
}

bool tatp_is_local(const tatp_module *module, int rank)
{
    int low = 0, high = module->locals;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (module->local[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->locals && module->local[low] == rank;
}

/* ---- segments ---- */

static void destroy(tatp_segment *segment)
{
    if (NULL == segment)
        return;
    if (NULL != segment->base)
        munmap(segment->base, segment->size);
    free(segment->peer);
    free(segment);
}

static tatp_segment *new_segment(const tatp_module *module, size_t size)
{
    tatp_segment *segment = calloc(1, sizeof *segment);
    if (NULL == segment)
        return NULL;
    segment->size = size;
    segment->peers = module->locals;
    segment->peer = calloc((size_t)module->locals, sizeof *segment->peer);
    if (NULL == segment->peer) {
        destroy(segment);
        return NULL;
    }
    for (int i = 0; i < module->locals; i++)
        segment->peer[i] = module->group[module->local[i]];
    return segment;
}

static bool same_peers(const tatp_module *module, const tatp_segment *segment)
{
    if (segment->peers != module->locals)
        return false;
    for (int i = 0; i < segment->peers; i++) {
        const ompi_process_name_t *name = &module->group[module->local[i]];
        if (name->jobid != segment->peer[i].jobid || name->vpid != segment->peer[i].vpid)
            return false;
    }
    return true;
}

static bool fits(const tatp_segment *segment, uint64_t id, size_t size)
{
    return id != 0 ? segment->id == id : segment->size >= size;
}

/* The segment of that id, or (0) one of that size at least: the module's own, or one that waits,
 * taken out of the list; or NULL. */
static tatp_segment *find_segment(tatp_module *module, uint64_t id, size_t size)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    tatp_segment *found = NULL;
    if (NULL != module->segment && fits(module->segment, id, size)) {
        found = module->segment;
        module->segment = NULL;
        return found;
    }
    OPAL_THREAD_LOCK(&c->lock);
    for (tatp_segment **at = &c->idle_segments; NULL != *at; at = &(*at)->next) {
        if (fits(*at, id, size) && same_peers(module, *at)) {
            found = *at;
            *at = found->next;
            break;
        }
    }
    OPAL_THREAD_UNLOCK(&c->lock);
    return found;
}

void tatp_segment_put_back(tatp_segment *segment)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    if (NULL == segment)
        return;
    OPAL_THREAD_LOCK(&c->lock);
    segment->next = c->idle_segments;
    c->idle_segments = segment;
    OPAL_THREAD_UNLOCK(&c->lock);
}

void tatp_segments_release(void)
{
    tatp_segment *segment;
    while (NULL != (segment = mca_fcoll_tatp_component.idle_segments)) {
        mca_fcoll_tatp_component.idle_segments = segment->next;
        destroy(segment);
    }
}

/* Maps the named object; `create` makes it and takes its memory now, not at the first touch, where
 * a full /dev/shm would be a signal. */
static bool map(tatp_segment *segment, const char *name, bool create)
{
    int fd = shm_open(name, create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
    if (fd < 0)
        return false;
    bool usable = !create || posix_fallocate(fd, 0, (off_t)segment->size) == 0;
    void *base =
        usable ? mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (base == MAP_FAILED) {
        if (create)
            shm_unlink(name);
        return false;
    }
    segment->base = base;
    return true;
}

/* ---- agreement among the ranks of a node ---- */

static int send_bytes(ompio_file_t *fh, const void *data, size_t bytes, int peer)
{
    return tatp_send(fh, data, bytes, peer, TATP_TAG_SHARED);
}

static int receive_bytes(ompio_file_t *fh, void *data, size_t bytes, int peer)
{
    return tatp_receive(fh, data, bytes, peer, TATP_TAG_SHARED);
}

static tatp_segment *create_segment(const tatp_module *module, size_t size, offer *o)
{
    static _Atomic uint64_t made;
    tatp_segment *segment = new_segment(module, size);
    if (NULL == segment)
        return NULL;
    segment->id = ++made;
    o->fresh = 1;
    snprintf(o->name, sizeof o->name, "/tatp.%ld.%llu", (long)getpid(),
             (unsigned long long)segment->id);
    if (map(segment, o->name, true))
        return segment;
    destroy(segment);
    return NULL;
}

/* The leader's segment: one that there is, or a new one; NULL when none can be had. */
static tatp_segment *make_offer(tatp_module *module, size_t size, offer *o)
{
    tatp_segment *segment = find_segment(module, 0, size);
    memset(o, 0, sizeof *o);
    if (NULL == segment && size < module->refused_bytes)
        segment = create_segment(module, size, o);
    if (NULL != segment) {
        o->id = segment->id;
        o->size = (int64_t)segment->size;
    }
    return segment;
}

/* The leader asks every peer and tells all of them whether all could; then the name goes. */
static bool ask_peers(ompio_file_t *fh, const tatp_module *module, const offer *o)
{
    char all = o->id != 0, one;
    for (int i = 1; i < module->locals; i++)
        send_bytes(fh, o, sizeof *o, module->local[i]);
    for (int i = 1; i < module->locals; i++) {
        receive_bytes(fh, &one, sizeof one, module->local[i]);
        all = all && one;
    }
    if (o->fresh)
        shm_unlink(o->name);
    for (int i = 1; i < module->locals; i++)
        send_bytes(fh, &all, sizeof all, module->local[i]);
    return all;
}

/* A segment that a peer has no more is no reason to do without one. */
static bool ask_again(const offer *o, bool all)
{
    return !all && o->id != 0 && !o->fresh;
}

static tatp_segment *lead(ompio_file_t *fh, tatp_module *module, size_t size)
{
    tatp_segment *segment;
    offer o;
    bool all;
    do {
        segment = make_offer(module, size, &o);
        all = ask_peers(fh, module, &o);
        if (!all)
            destroy(segment);
    } while (ask_again(&o, all));
    return all ? segment : NULL;
}

static tatp_segment *accept_offer(tatp_module *module, const offer *o)
{
    if (o->id == 0)
        return NULL;
    if (!o->fresh)
        return find_segment(module, o->id, 0);
    tatp_segment *segment = new_segment(module, (size_t)o->size);
    if (NULL == segment)
        return NULL;
    segment->id = o->id;
    if (map(segment, o->name, false))
        return segment;
    destroy(segment);
    return NULL;
}

static tatp_segment *follow(ompio_file_t *fh, tatp_module *module)
{
    tatp_segment *segment;
    int leader = module->local[0];
    offer o;
    char all;
    do {
        receive_bytes(fh, &o, sizeof o, leader);
        segment = accept_offer(module, &o);
        char one = NULL != segment;
        send_bytes(fh, &one, sizeof one, leader);
        receive_bytes(fh, &all, sizeof all, leader);
        if (!all)
            destroy(segment);
    } while (ask_again(&o, all));
    return all ? segment : NULL;
}

/* ---- windows ---- */

/* For each aggregator a page of flags, then its windows. */
static size_t segment_bytes(size_t aggregators, int64_t cycle)
{
    int64_t window;
    size_t bytes;
    if (__builtin_add_overflow(cycle, (int64_t)PAGE, &window) ||
        __builtin_mul_overflow((size_t)tatp_round_up(window, PAGE) * TATP_DEPTH, aggregators,
                               &bytes))
        return SIZE_MAX;
    return bytes;
}

static size_t count_local_aggregators(const tatp_pass *pass)
{
    const tatp_schedule *schedule = pass->schedule;
    size_t count = 0;
    for (size_t j = 0; j < schedule->domains.count; j++)
        count += schedule->domains.size[j] > 0 &&
                 tatp_is_local(pass->module, schedule->decision.aggregator[j]);
    return count;
}

/* The leader alone decides whether a segment that is there will do: modules of one group may have
 * had different pasts on different ranks. */
void tatp_share_windows(tatp_pass *pass)
{
    tatp_module *module = pass->module;
    size_t aggregators = count_local_aggregators(pass);
    size_t bytes = segment_bytes(aggregators, pass->schedule->cycle);
    pass->schedule->shared = false;
    if (!mca_fcoll_tatp_component.shared_memory || module->locals < 2 || aggregators == 0)
        return;
    tatp_segment *segment = module->local[0] == pass->fh->f_rank ? lead(pass->fh, module, bytes)
                                                                 : follow(pass->fh, module);
    if (NULL == segment && bytes < module->refused_bytes)
        module->refused_bytes = bytes;
    tatp_segment_put_back(module->segment);
    module->segment = segment;
    pass->schedule->shared = NULL != segment;
}

/* The place of an aggregator among those of its node. */
static size_t place_of(const tatp_pass *pass, int aggregator)
{
    const tatp_schedule *schedule = pass->schedule;
    size_t place = 0;
    for (size_t j = 0; j < schedule->domains.count; j++) {
        if (schedule->decision.aggregator[j] == aggregator && schedule->domains.size[j] > 0)
            return place;
        place += schedule->domains.size[j] > 0 &&
                 tatp_is_local(pass->module, schedule->decision.aggregator[j]);
    }
    return place;
}

void tatp_find_windows(const tatp_pass *pass, int aggregator, tatp_window *window)
{
    size_t size = (size_t)tatp_round_up(pass->schedule->cycle, PAGE);
    char *base = pass->module->segment->base +
                 place_of(pass, aggregator) * segment_bytes(1, pass->schedule->cycle);
    for (size_t i = 0; i < TATP_DEPTH; i++) {
        window[i].flags = (tatp_flags *)(void *)(base + i * sizeof(tatp_flags));
        window[i].data = base + PAGE + i * size;
    }
}
