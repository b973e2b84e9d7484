/* SPDX-License-Identifier: BSD-3-Clause */
/* Dijkstra's method over partial lists. A person's list is scanned first; its whole row of costs is
 * read only when the search reaches the list's bound. */
#include "lap/paths.h"

#include "base/heap.h"
#include "lap/select.h"
#include "lap/vector.h"

#include <errno.h>
#include <string.h>

/* Runs of blocks per listed pair from which a bound is selected: more runs give a closer bound. */
enum { RUNS_PER_PAIR = 4 };

/* Renewing a list costs as much as reading so many blocks, besides the row, and half of it once
 * more. Lists are not lengthened beyond one pair for every so many blocks, which have a bound. */
enum { RENEWAL_BLOCKS = 24, BLOCKS_PER_PAIR = 3 };

/* In a sparse problem, lists are read as long as at most one step in this number renews one. */
enum { STEPS_PER_RENEWAL = 8 };

/* Lists have at most one of so many pairs of a dense row, and of those that a person has in a
 * sparse problem in the mean, where reading all takes less time than a list. More so where a part
 * of at least one in SPARE_PART of the objects stays free, as few pairs are then read twice. */
enum { LONG_ROW = 2, LONG_LIST = 3, LONG_LIST_MUCH_FREE = 8, SPARE_PART = 16 };

/* Lists are judged by the last searches, which settled at least one object for so many persons;
 * after an auction, when the first searches renew most lists, so many for each. */
enum { PERSONS_PER_SAMPLE = 4, SAMPLE_AFTER_AUCTION = 4 };

/* ---- set-up ---- */

static int allocate_lists(struct paths *p, size_t width)
{
    struct state *s = p->s;
    size_t entries;
    if (__builtin_mul_overflow(s->persons, 2 * width, &entries))
        return -ENOMEM;
    p->width = width;
    p->capacity = 2 * width;
    p->cost = base_arena_alloc(&s->arena, entries, sizeof *p->cost);
    p->object = base_arena_alloc(&s->arena, entries, sizeof *p->object);
    p->key = base_arena_alloc(&s->arena, p->capacity + blocks_of(s), sizeof *p->key);
    return s->arena.failed ? -ENOMEM : 0;
}

static int init_partial_lists(struct paths *p, size_t width)
{
    struct state *s = p->s;
    p->length = base_arena_alloc(&s->arena, s->persons, sizeof *p->length);
    p->bound = base_arena_alloc(&s->arena, s->persons, sizeof *p->bound);
    p->least = base_arena_alloc(&s->arena, blocks_of(s), sizeof *p->least);
    if (s->arena.failed || allocate_lists(p, width) != 0)
        return -ENOMEM;
    for (size_t j = 0; j < s->persons; j++)
        p->bound[j] = COST_MIN;
    return 0;
}

/* Whether lists of that many pairs are worth it. */
static bool has_long_rows(const struct state *s, size_t width)
{
    if (s->start == NULL)
        return width > 0 && width < s->objects / LONG_ROW;
    bool much_is_free = s->objects - s->persons >= s->objects / SPARE_PART;
    size_t listed = width * (much_is_free ? LONG_LIST_MUCH_FREE : LONG_LIST);
    return s->persons > 0 && listed < s->start[first_filler(s)] / s->persons;
}

int TYPED(paths_init)(struct paths *p, struct state *s, size_t width)
{
    size_t ids = s->objects + s->persons;
    *p = (struct paths){.s = s};
    p->dist = base_arena_alloc(&s->arena, s->objects, sizeof *p->dist);
    p->base = base_arena_alloc(&s->arena, s->persons, sizeof *p->base);
    p->touched = base_arena_alloc(&s->arena, s->objects, sizeof *p->touched);
    p->heap = base_arena_alloc(&s->arena, ids, sizeof *p->heap);
    p->position = base_arena_alloc(&s->arena, ids, sizeof *p->position);
    p->queue = base_arena_alloc(&s->arena, s->objects, sizeof *p->queue);
    if (s->arena.failed)
        return -ENOMEM;
    int rc = has_long_rows(s, width) ? init_partial_lists(p, width) : 0;
    p->by_rows = lacks_lists(p);
    return rc;
}

/* ---- lists ---- */

/* A list that is being made. */
struct list {
    cost_t *cost, *key;
    size_t *object, length;
    cost_t bound;
};

/* Insertion sort by key; stable. */
INLINED void sort_list(struct list *list)
{
    for (size_t i = 1; i < list->length; i++) {
        cost_t cost = list->cost[i], key = list->key[i];
        size_t object = list->object[i], k = i;
        for (; k > 0 && list->key[k - 1] > key; k--) {
            list->key[k] = list->key[k - 1];
            list->cost[k] = list->cost[k - 1];
            list->object[k] = list->object[k - 1];
        }
        list->key[k] = key;
        list->cost[k] = cost;
        list->object[k] = object;
    }
}

FOR_EACH_PROCESSOR
static void find_least_of_blocks(struct paths *p, const cost_t *cost)
{
    const struct state *s = p->s;
    cost_t key[BLOCK];
    size_t whole = s->objects / BLOCK, first = whole * BLOCK;
    for (size_t b = 0; b < whole; b++)
        p->least[b] = reduce_block(cost + b * BLOCK, s->price + b * BLOCK, key, BLOCK);
    if (first < s->objects)
        p->least[whole] = reduce_block(cost + first, s->price + first, key, s->objects - first);
}

/* A bound on the reduced costs of at least `width` pairs: one in each of as many runs of blocks. */
static cost_t bound_of_blocks(struct paths *p)
{
    size_t blocks = blocks_of(p->s), run = blocks / (RUNS_PER_PAIR * p->width), runs = 0;
    for (size_t b = 0; b < blocks; runs++) {
        p->key[runs] = COST_MAX;
        for (size_t end = b + (run > 0 ? run : 1); b < end && b < blocks; b++)
            p->key[runs] = lesser(p->least[b], p->key[runs]);
    }
    return runs < p->width ? COST_MAX : next_above(select_least(p->key, runs, p->width - 1));
}

/* p->key[k]: the least reduced cost of the pairs at place k of all blocks. */
FOR_EACH_PROCESSOR
static void find_least_of_places(struct paths *p, const cost_t *cost)
{
    const cost_t *price = p->s->price;
    size_t whole = p->s->objects - p->s->objects % BLOCK;
    cost_t least[BLOCK];
    for (size_t k = 0; k < BLOCK; k++)
        least[k] = COST_MAX;
    for (size_t first = 0; first < whole; first += BLOCK)
        for (size_t k = 0; k < BLOCK; k++)
            least[k] = lesser(reduced(cost[first + k], price[first + k]), least[k]);
    for (size_t i = whole; i < p->s->objects; i++)
        least[i - whole] = lesser(reduced(cost[i], price[i]), least[i - whole]);
    for (size_t k = 0; k < BLOCK; k++)
        p->key[k] = least[k];
}

/* The same in a short row, whose blocks are too few: one pair at each place. */
static cost_t bound_of_places(struct paths *p, const cost_t *cost)
{
    find_least_of_places(p, cost);
    return next_above(select_least(p->key, BLOCK, p->width - 1));
}

/* The same, taken from the previous list. */
static cost_t bound_of_previous(struct paths *p, size_t person)
{
    struct pairs list = list_of(p, person);
    if (list.count < p->width)
        return COST_MAX;
    for (size_t k = 0; k < list.count; k++)
        p->key[k] = reduced(list.cost[k], p->s->price[list.object[k]]);
    return next_above(select_least(p->key, list.count, p->width - 1));
}

/* Adds a pair if it is below the bound; a list that is full keeps its best `width` pairs. */
INLINED void list_pair(struct paths *p, cost_t cost, cost_t key, size_t object, struct list *list)
{
    if (key >= list->bound)
        return;
    if (list->length == p->capacity) {
        sort_list(list);
        list->length = p->width;
        list->bound = list->key[p->width - 1];
        if (key >= list->bound)
            return;
    }
    list->key[list->length] = key;
    list->cost[list->length] = cost;
    list->object[list->length++] = object;
}

/* Adds the marked pairs of a block. */
INLINED void list_marked(struct paths *p, const cost_t *cost, const cost_t *key, size_t first,
                         uint32_t marked, struct list *list)
{
    for (; marked != 0; marked &= marked - 1) {
        size_t k = (size_t)__builtin_ctz(marked);
        list_pair(p, cost[first + k], key[k], first + k, list);
    }
}

/* Adds the pairs of a block that are below the bound, beginning at `place` in it. */
INLINED void list_block(struct paths *p, const cost_t *cost, size_t b, size_t place,
                        struct list *list)
{
    size_t first = b * BLOCK;
    cost_t key[BLOCK];
    reduce_block_of(p->s, cost, first, key);
    uint32_t near = mask_below(key, list->bound), later = near >> place << place;
    list_marked(p, cost, key, first, later, list);
    list_marked(p, cost, key, first, near & ~later, list);
}

/* From p->least. In a short row persons begin within a block, too, as there are few blocks. */
FOR_EACH_PROCESSOR
static void list_from_blocks(struct paths *p, size_t person, struct list *list)
{
    const cost_t *cost = row_of(p->s, person);
    size_t blocks = blocks_of(p->s), own = person * p->s->objects / p->s->persons;
    bool is_short = blocks < BLOCK;
    size_t b = own / BLOCK, place = is_short ? own % BLOCK : 0;
    list->bound = is_short ? bound_of_places(p, cost)
                           : lesser(bound_of_blocks(p), bound_of_previous(p, person));
    for (size_t read = 0; read < blocks; read++, b = b + 1 < blocks ? b + 1 : 0)
        if (p->least[b] < list->bound)
            list_block(p, cost, b, place, list);
}

/* A bound on the reduced costs of at least `width` pairs, each the least of every `capacity`th. */
static cost_t bound_of_pairs(struct paths *p, struct pairs pairs)
{
    const cost_t *price = p->s->price;
    if (pairs.count <= p->capacity)
        return COST_MAX;
    for (size_t c = 0; c < p->capacity; c++)
        p->key[c] = COST_MAX;
    for (size_t first = 0; first < pairs.count; first += p->capacity)
        for (size_t c = 0; c < p->capacity && first + c < pairs.count; c++)
            p->key[c] = lesser(reduced(pairs.cost[first + c], price[object_at(pairs, first + c)]),
                               p->key[c]);
    return next_above(select_least(p->key, p->capacity, p->width - 1));
}

static void list_from_pairs(struct paths *p, size_t person, struct list *list)
{
    struct pairs pairs = pairs_of(p->s, person);
    size_t k = person * pairs.count / p->s->persons;
    list->bound = bound_of_pairs(p, pairs);
    for (size_t read = 0; read < pairs.count; read++, k = k + 1 < pairs.count ? k + 1 : 0) {
        size_t object = object_at(pairs, k);
        list_pair(p, pairs.cost[k], reduced(pairs.cost[k], p->s->price[object]), object, list);
    }
}

/* Each person begins elsewhere, so that of equal pairs not all list the same. */
static void make_list(struct paths *p, size_t person)
{
    size_t first = person * p->capacity;
    struct list list = {p->cost + first, p->key, p->object + first, 0, COST_MAX};
    if (p->s->start != NULL)
        list_from_pairs(p, person, &list);
    else
        list_from_blocks(p, person, &list);
    p->length[person] = list.length;
    p->bound[person] = list.bound;
}

void TYPED(rebuild_list)(struct paths *p, size_t person)
{
    if (p->s->start == NULL)
        find_least_of_blocks(p, row_of(p->s, person));
    make_list(p, person);
}

/* ---- the heap ---- */

#define NODE_PLACED(p, node, at) ((void)((p)->position[(node).id] = (at) + 1))
BASE_HEAP(nodes, struct node, struct paths *, NODE_PRECEDES, NODE_PLACED);

/* Adds a node, or lowers its key. */
static void push_node(struct paths *p, struct node node)
{
    size_t position = p->position[node.id];
    p->recent.pushed++;
    nodes_up(p, p->heap, position > 0 ? position - 1 : p->heaped++, node);
}

static struct node pop_node(struct paths *p)
{
    struct node top = p->heap[0];
    p->position[top.id] = 0;
    if (--p->heaped > 0)
        nodes_down(p, p->heap, p->heaped, 0, p->heap[p->heaped]);
    return top;
}

/* ---- the search ---- */

/* `person` reaches the object at that length; lengths of at least the limit are useless. Rounding
 * may make a length slightly less than the radius. */
static inline void offer_object(struct paths *p, size_t object, cost_t length, size_t person)
{
    const struct state *s = p->s;
    length = length > p->radius ? length : p->radius;
    if (length >= p->limit || length >= p->dist[object])
        return;
    if (p->dist[object] == COST_MAX)
        p->touched[p->reached++] = object;
    p->dist[object] = length;
    s->from[object] = person;
    if (is_open(s, object)) {
        p->limit = length;
        p->nearest = object;
    } else if (length <= p->radius && p->position[object] == 0) {
        p->queue[p->queue_end++] = object;
    } else {
        push_node(p, (struct node){length, object});
    }
}

/* The pairs of each share that shorten a path are found without branches, which would be
 * mispredicted, then offered. */
static void scan_pairs(struct paths *p, struct pairs pairs, size_t person, cost_t base)
{
    enum { SHARE = 32 }; /* pairs */
    const cost_t *price = p->s->price;
    for (size_t first = 0; first < pairs.count; first += SHARE) {
        cost_t shorter[SHARE];
        size_t objects[SHARE], found = 0;
        size_t end = pairs.count - first < SHARE ? pairs.count : first + SHARE;
        for (size_t k = first; k < end; k++) {
            size_t object = object_at(pairs, k);
            shorter[found] = reduced(pairs.cost[k], price[object] + base);
            objects[found] = object;
            found += (shorter[found] < p->limit) & (shorter[found] < p->dist[object]);
        }
        for (size_t k = 0; k < found; k++)
            offer_object(p, objects[k], shorter[k], person);
    }
}

static void scan_list(struct paths *p, size_t person, cost_t base)
{
    if (p->by_rows) {
        scan_pairs(p, pairs_of(p->s, person), person, base);
        return;
    }
    if (p->bound != NULL && p->bound[person] == COST_MIN) /* bids may read rows only */
        TYPED(rebuild_list)(p, person);
    scan_pairs(p, list_of(p, person), person, base);
    if (p->bound != NULL && p->bound[person] < COST_MAX && p->bound[person] - base < p->limit) {
        p->base[person] = base;
        push_node(p, (struct node){p->bound[person] - base, p->s->objects + person});
    }
}

/* Vectors first, then calls: baseline code that is called from code for newer processors is slow
 * while the upper halves of registers are in use. */
static void scan_blocks(struct paths *p, size_t person, cost_t base)
{
    const struct state *s = p->s;
    const cost_t *cost = row_of(s, person);
    find_least_of_blocks(p, cost);
    for (size_t b = 0; b < blocks_of(s); b++) {
        if (p->least[b] == COST_MAX || p->least[b] - base >= p->limit)
            continue;
        size_t end = s->objects - b * BLOCK < BLOCK ? s->objects : (b + 1) * BLOCK;
        for (size_t i = b * BLOCK; i < end; i++)
            if (cost[i] < COST_MAX)
                offer_object(p, i, cost[i] - s->price[i] - base, person);
    }
}

/* Scans all pairs, and rebuilds the list for later. */
static void scan_row(struct paths *p, size_t person)
{
    p->scanned++;
    p->recent.scanned++;
    if (p->s->start != NULL)
        scan_pairs(p, pairs_of(p->s, person), person, p->base[person]);
    else
        scan_blocks(p, person, p->base[person]);
    make_list(p, person);
}

static void offer_members(struct paths *p, size_t object, cost_t at)
{
    const struct state *s = p->s;
    size_t g = s->group[object];
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (!is_free(s, member))
            offer_object(p, member, at - s->dual[member], NONE);
    }
}

static void reach_object(struct paths *p, size_t object, cost_t at)
{
    struct state *s = p->s;
    p->dist[object] = COST_MIN;
    if (!is_free(s, object)) {
        p->settled++;
        p->recent.settled++;
        settle(s, object, at);
        size_t person = s->person_of[object];
        if (!is_scanned(s, person))
            scan_list(p, person, person_dual(s, object) - at);
    } else if (!s->is_entered[s->group[object]]) {
        TYPED(enter_group)(s, object, at);
        offer_members(p, object, at);
    }
}

/* dist is initialised by the first search: many problems with few persons need none. */
static void begin_paths_search(struct paths *p)
{
    for (size_t i = 0; !p->ready && i < p->s->objects; i++)
        p->dist[i] = COST_MAX;
    p->ready = true;
    TYPED(reset_search)(p->s);
    for (size_t k = 0; k < p->reached; k++)
        p->dist[p->touched[k]] = COST_MAX;
    for (size_t k = 0; k < p->heaped; k++)
        p->position[p->heap[k].id] = 0;
    p->reached = p->heaped = 0;
    p->queue_first = p->queue_end = 0;
    p->radius = COST_MIN;
    p->limit = COST_MAX;
    p->nearest = NONE;
}

/* Settles the nearest node. A person's bound may be less than the radius. */
static void settle_nearest(struct paths *p)
{
    if (p->queue_first < p->queue_end) {
        reach_object(p, p->queue[p->queue_first++], p->radius);
        return;
    }
    struct node next = pop_node(p);
    p->radius = next.key > p->radius ? next.key : p->radius;
    if (next.id < p->s->objects)
        reach_object(p, next.id, p->radius);
    else
        scan_row(p, next.id - p->s->objects);
}

static void find_path(struct paths *p, size_t start)
{
    begin_paths_search(p);
    scan_list(p, start, 0);
    while (p->limit > p->radius &&
           (p->queue_first < p->queue_end || (p->heaped > 0 && p->heap[0].key < p->limit)))
        settle_nearest(p);
}

/* ---- how long lists are, and whether they serve ---- */

bool TYPED(may_lengthen)(const struct paths *p)
{
    return p->s->start == NULL && p->bound != NULL && p->width * BLOCKS_PER_PAIR <= blocks_of(p->s);
}

int TYPED(lengthen_lists)(struct paths *p)
{
    const struct paths before = *p;
    int rc = allocate_lists(p, 2 * p->width);
    for (size_t j = 0; j < p->s->persons && rc == 0; j++) {
        struct pairs list = list_of(&before, j);
        memcpy(p->cost + j * p->capacity, list.cost, list.count * sizeof *p->cost);
        memcpy(p->object + j * p->capacity, list.object, list.count * sizeof *p->object);
    }
    p->recent = (struct steps){0};
    return rc;
}

/* What the renewal of lists cost in the last searches, in blocks of a row that are read. */
static size_t cost_of_renewals(const struct paths *p)
{
    return p->recent.scanned * (RENEWAL_BLOCKS + blocks_of(p->s) * 3 / 2);
}

/* After an auction, lists are lengthened where renewing them costs more than scanning them.
 * Searches are over rows where these cost less than renewals and the heap; those of a sparse
 * problem over all pairs of a person, but not after auctions, whose prices make lists last. */
static int judge_lists(struct paths *p)
{
    size_t persons = p->s->persons, blocks = blocks_of(p->s), settled = p->recent.settled;
    size_t sample = p->auctioned ? persons * SAMPLE_AFTER_AUCTION : persons / PERSONS_PER_SAMPLE;
    if (settled <= sample)
        return 0;
    if (p->s->start != NULL) {
        p->by_rows = !p->auctioned && p->recent.scanned > settled / STEPS_PER_RENEWAL;
        return 0;
    }
    if (p->auctioned && cost_of_renewals(p) > settled * p->width && TYPED(may_lengthen)(p))
        return TYPED(lengthen_lists)(p);
    p->by_rows = cost_of_renewals(p) + p->recent.pushed > settled * blocks;
    if (settled > persons) {
        p->recent.settled /= 2;
        p->recent.scanned /= 2;
        p->recent.pushed /= 2;
    }
    return 0;
}

int TYPED(augment)(struct paths *p, size_t person)
{
    find_path(p, person);
    if (p->nearest == NONE)
        return LAP_INFEASIBLE;
    TYPED(change_duals)(p->s, p->limit);
    TYPED(flip_path)(p->s, p->nearest);
    return p->bound != NULL && !p->by_rows ? judge_lists(p) : 0;
}
