/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a placement while nodes may exceed their slots, and then moves ranks on until none does.
 * Where no slot is free, every gain between two nodes takes a swap; this way the slots may come
 * from any other node. Source of the paths: Sanders and Schulz, "Think locally, act globally:
 * highly balanced graph partitioning", SEA 2013. */
#include <errno.h>
#include <string.h>

#include "base/heap.h"
#include "setmatch/candidates.h"

/* Ranks beyond its slots that a node may have: LEAST_BEYOND, and one of as many slots. */
enum { LEAST_BEYOND = 1, SLOTS_PER_BEYOND = 24 };

/* A path is searched for in at most so many nodes, and all paths in SETTLED_PER_RANK nodes for each
 * rank; but each in LEAST_SETTLED at least. From each node so many moves are considered. */
enum { MOST_SETTLED = 1000, LEAST_SETTLED = 16, SETTLED_PER_RANK = 8, MOST_EXITS = 24 };

/* Each arc is read so many times in the mean, at most: by moves beyond the slots, and in all. Few
 * graphs come to that, such as stars, whose centre is looked at whenever a neighbour moves. */
enum { MOST_READS_BEYOND = 8, MOST_READS = 16 };

/* The rank that loses least by a move to another node. */
struct exit_move {
    int64_t loss;
    vertex rank, to;
};

/* The moves from a node that lose least, the least loss first. */
struct exits {
    struct exit_move move[MOST_EXITS];
    size_t count;
    bool known;
};

/* The least loss of a path from a node with too many ranks, and its last step. */
struct step {
    size_t search; /* the last search that reached the node */
    int64_t loss;
    size_t from;     /* the node before */
    vertex rank;     /* moves from there */
    size_t position; /* in the heap; SIZE_MAX: settled */
};

struct relaxation {
    struct base_arena arena;
    const affinity *g;
    const site *site;
    size_t *node;            /* by rank */
    size_t *kept;            /* the placement before */
    size_t *slots, *count;   /* by node: no more slots than ranks; ranks */
    vertex *first;           /* by node: its ranks, a list that ends with NO_VERTEX */
    vertex *next, *previous; /* by rank */
    vertex *queue;           /* ranks to look at, a ring */
    bool *queued;            /* by rank */
    int64_t *weight;         /* by node: arcs of one rank to it; 0 between uses */
    size_t *near, nears;     /* nodes to which that rank has arcs */
    struct exits *exits;     /* by node */
    struct exit_move *least; /* by node: of those from one node; rank NO_VERTEX between uses */
    size_t *reached;         /* these nodes */
    struct step *step;       /* by node */
    size_t *heap, waiting;   /* nodes, the least loss first */
    size_t search, free;     /* number of the search; no node before `free` has a free slot */
    size_t work, read;       /* ranks, and arcs */
    int64_t gained;
};

static bool precedes(const struct relaxation *r, size_t a, size_t b)
{
    const struct step *x = &r->step[a], *y = &r->step[b];
    return x->loss != y->loss ? x->loss < y->loss : a < b;
}

#define NODE_PLACED(r, n, at) ((void)((r)->step[n].position = (at)))
BASE_HEAP(nodes, size_t, struct relaxation *, precedes, NODE_PLACED);

static int init_relaxation(struct relaxation *r, const affinity *g, const site *s, size_t *node)
{
    size_t ranks = g->vertices, nodes = s->listed;
    *r = (struct relaxation){.g = g, .site = s, .node = node};
    r->kept = base_arena_alloc(&r->arena, ranks, sizeof *r->kept);
    r->slots = base_arena_alloc(&r->arena, nodes, sizeof *r->slots);
    r->count = base_arena_alloc(&r->arena, nodes, sizeof *r->count);
    r->first = base_arena_alloc(&r->arena, nodes, sizeof *r->first);
    r->next = base_arena_alloc(&r->arena, ranks, sizeof *r->next);
    r->previous = base_arena_alloc(&r->arena, ranks, sizeof *r->previous);
    r->queue = base_arena_alloc(&r->arena, ranks, sizeof *r->queue);
    r->queued = base_arena_alloc(&r->arena, ranks, sizeof *r->queued);
    r->weight = base_arena_alloc(&r->arena, nodes, sizeof *r->weight);
    r->near = base_arena_alloc(&r->arena, nodes, sizeof *r->near);
    r->exits = base_arena_alloc(&r->arena, nodes, sizeof *r->exits);
    r->least = base_arena_alloc(&r->arena, nodes, sizeof *r->least);
    r->reached = base_arena_alloc(&r->arena, nodes, sizeof *r->reached);
    r->step = base_arena_alloc(&r->arena, nodes, sizeof *r->step);
    r->heap = base_arena_alloc(&r->arena, nodes, sizeof *r->heap);
    return r->arena.failed ? -ENOMEM : 0;
}

/* ---- moves ---- */

static void join_node(struct relaxation *r, vertex v, size_t n)
{
    r->node[v] = n;
    r->count[n]++;
    r->previous[v] = NO_VERTEX;
    r->next[v] = r->first[n];
    if (r->next[v] != NO_VERTEX)
        r->previous[r->next[v]] = v;
    r->first[n] = v;
}

static void leave_node(struct relaxation *r, vertex v)
{
    size_t n = r->node[v];
    r->count[n]--;
    if (r->previous[v] != NO_VERTEX)
        r->next[r->previous[v]] = r->next[v];
    else
        r->first[n] = r->next[v];
    if (r->next[v] != NO_VERTEX)
        r->previous[r->next[v]] = r->previous[v];
}

static void list_all(struct relaxation *r)
{
    size_t ranks = r->g->vertices;
    for (size_t n = 0; n < r->site->listed; n++) {
        r->slots[n] = r->site->slots[n] < ranks ? r->site->slots[n] : ranks;
        r->first[n] = NO_VERTEX;
        r->least[n].rank = NO_VERTEX;
    }
    for (size_t v = ranks; v-- > 0;)
        join_node(r, (vertex)v, r->node[v]);
    memcpy(r->kept, r->node, ranks * sizeof *r->kept);
}

/* Sums the arcs of v by node. */
static void weigh_nodes(struct relaxation *r, vertex v)
{
    const affinity *g = r->g;
    r->nears = 0;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        size_t n = r->node[g->other[i]];
        if (r->weight[n] == 0)
            r->near[r->nears++] = n;
        r->weight[n] += g->weight[i];
    }
    r->work++;
    r->read += g->start[v + 1] - g->start[v];
}

static bool has_read(const struct relaxation *r, size_t times)
{
    return r->read / times > r->g->start[r->g->vertices] + r->g->vertices;
}

static void forget_nodes(struct relaxation *r)
{
    for (size_t k = 0; k < r->nears; k++)
        r->weight[r->near[k]] = 0;
}

static void move_rank(struct relaxation *r, vertex v, size_t to)
{
    weigh_nodes(r, v);
    r->gained += r->weight[to] - r->weight[r->node[v]];
    for (size_t k = 0; k < r->nears; k++)
        r->exits[r->near[k]].known = false;
    r->exits[r->node[v]].known = r->exits[to].known = false;
    forget_nodes(r);
    leave_node(r, v);
    join_node(r, v, to);
}

/* ---- beyond the slots ---- */

static bool may_join(const struct relaxation *r, size_t n)
{
    size_t beyond = LEAST_BEYOND + r->slots[n] / SLOTS_PER_BEYOND;
    return r->slots[n] > 0 && r->count[n] < r->slots[n] + beyond;
}

/* The node on which v gains most; without a gain, one with fewer ranks. Its own: none. */
static size_t best_node(const struct relaxation *r, vertex v)
{
    size_t own = r->node[v], best = own;
    int64_t most = 0;
    for (size_t k = 0; k < r->nears; k++) {
        size_t n = r->near[k];
        int64_t gain = r->weight[n] - r->weight[own];
        bool even = gain == 0 && best == own && r->count[n] + 1 < r->count[own];
        if (n != own && (gain > most || even) && may_join(r, n)) {
            best = n;
            most = gain;
        }
    }
    return best;
}

/* Moves ranks as long as that gains. Who moved, and its neighbours, are looked at again. */
static void relax(struct relaxation *r)
{
    const affinity *g = r->g;
    size_t ranks = g->vertices, waiting = ranks, tail = 0;
    for (size_t v = 0; v < ranks; v++) {
        r->queue[v] = (vertex)v;
        r->queued[v] = true;
    }
    for (size_t head = 0; waiting > 0 && !has_read(r, MOST_READS_BEYOND); waiting--) {
        vertex v = r->queue[head];
        head = head + 1 < ranks ? head + 1 : 0;
        r->queued[v] = false;
        weigh_nodes(r, v);
        size_t to = best_node(r, v);
        forget_nodes(r);
        if (to == r->node[v])
            continue;
        move_rank(r, v, to);
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
            vertex u = g->other[i];
            if (r->queued[u])
                continue;
            r->queued[u] = true;
            r->queue[tail] = u;
            tail = tail + 1 < ranks ? tail + 1 : 0;
            waiting++;
        }
    }
}

/* ---- and back ---- */

/* Notes the moves of v, which is on node n. */
static void consider_moves(struct relaxation *r, size_t n, vertex v, size_t *reached)
{
    weigh_nodes(r, v);
    for (size_t k = 0; k < r->nears; k++) {
        size_t to = r->near[k];
        struct exit_move *least = &r->least[to];
        int64_t loss = r->weight[n] - r->weight[to];
        if (to == n || r->slots[to] == 0 || (least->rank != NO_VERTEX && least->loss <= loss))
            continue;
        if (least->rank == NO_VERTEX)
            r->reached[(*reached)++] = to;
        *least = (struct exit_move){loss, v, (vertex)to};
    }
    forget_nodes(r);
}

/* Keeps a move among those that lose least; of equal ones, those that were found first. */
static void keep_exit(struct exits *e, struct exit_move move)
{
    size_t at = e->count;
    if (e->count < MOST_EXITS)
        e->count++;
    else if (move.loss >= e->move[--at].loss)
        return;
    for (; at > 0 && e->move[at - 1].loss > move.loss; at--)
        e->move[at] = e->move[at - 1];
    e->move[at] = move;
}

static const struct exits *list_exits(struct relaxation *r, size_t n)
{
    struct exits *e = &r->exits[n];
    size_t reached = 0;
    if (e->known)
        return e;
    for (vertex v = r->first[n]; v != NO_VERTEX; v = r->next[v])
        consider_moves(r, n, v, &reached);
    e->count = 0;
    for (size_t k = 0; k < reached; k++) {
        keep_exit(e, r->least[r->reached[k]]);
        r->least[r->reached[k]].rank = NO_VERTEX;
    }
    e->known = true;
    return e;
}

/* Takes the path over node `from` if it loses less than those before. */
static void reach_node(struct relaxation *r, size_t from, const struct exit_move *move)
{
    struct step *s = &r->step[move->to];
    int64_t loss = r->step[from].loss + (move->loss > 0 ? move->loss : 0);
    bool is_new = s->search != r->search;
    if (!is_new && (s->position == SIZE_MAX || loss >= s->loss))
        return;
    size_t at = is_new ? r->waiting++ : s->position;
    *s = (struct step){r->search, loss, from, move->rank, at};
    nodes_up(r, r->heap, at, move->to);
}

static size_t settle_node(struct relaxation *r)
{
    size_t n = r->heap[0];
    r->step[n].position = SIZE_MAX;
    if (--r->waiting > 0)
        nodes_down(r, r->heap, r->waiting, 0, r->heap[r->waiting]);
    return n;
}

/* The node with a free slot to which the path from `n` loses least, by Dijkstra's method; SIZE_MAX:
 * none is near. Moves of a path are taken to lose as much as each alone. */
static size_t find_free_slot(struct relaxation *r, size_t n, size_t most_settled)
{
    r->waiting = 1;
    r->step[n] = (struct step){.search = ++r->search, .from = n};
    r->heap[0] = n;
    for (size_t settled = 0; r->waiting > 0 && settled < most_settled; settled++) {
        size_t from = settle_node(r);
        if (r->count[from] < r->slots[from])
            return from;
        const struct exits *e = list_exits(r, from);
        for (size_t k = 0; k < e->count; k++)
            reach_node(r, from, &e->move[k]);
        r->work++;
    }
    return SIZE_MAX;
}

/* From its end, so that no node on the path has more ranks than before. */
static void follow_path(struct relaxation *r, size_t from, size_t to)
{
    for (size_t n = to; n != from; n = r->step[n].from)
        move_rank(r, r->step[n].rank, n);
}

/* Any rank goes to any free slot. */
static void move_far(struct relaxation *r, size_t n)
{
    while (r->count[r->free] >= r->slots[r->free])
        r->free++;
    move_rank(r, r->first[n], r->free);
}

static size_t limit_of_search(const struct relaxation *r)
{
    size_t excess = 1;
    for (size_t n = 0; n < r->site->listed; n++)
        excess += r->count[n] > r->slots[n] ? r->count[n] - r->slots[n] : 0;
    size_t limit = SETTLED_PER_RANK * r->g->vertices / excess;
    limit = limit > LEAST_SETTLED ? limit : LEAST_SETTLED;
    return limit < MOST_SETTLED ? limit : MOST_SETTLED;
}

static void restore_slots(struct relaxation *r)
{
    size_t most_settled = limit_of_search(r);
    r->free = 0;
    for (size_t n = 0; n < r->site->listed; n++)
        while (r->count[n] > r->slots[n]) {
            size_t to = has_read(r, MOST_READS) ? SIZE_MAX : find_free_slot(r, n, most_settled);
            if (to != SIZE_MAX)
                follow_path(r, n, to);
            else
                move_far(r, n);
        }
}

int refine_relaxed(const affinity *ranks, const site *s, size_t *node, size_t *work,
                   int64_t *gained)
{
    struct relaxation r;
    int rc = init_relaxation(&r, ranks, s, node);
    *gained = 0;
    if (rc == 0) {
        list_all(&r);
        relax(&r);
        restore_slots(&r);
        if (r.gained > 0)
            *gained = r.gained;
        else
            memcpy(node, r.kept, ranks->vertices * sizeof *node);
        *work += r.work;
    }
    base_arena_release(&r.arena);
    return rc;
}
