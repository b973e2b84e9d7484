/* SPDX-License-Identifier: BSD-3-Clause */
/* Every order of steps and events of a small exchange, without a fault and with one in each call.
 *
 * An exchange is repeated from its beginning, each time with the next choice at the last place that
 * has one left. Most orders come to where an earlier one was: all ranks were told the same, and the
 * network has the same messages. There they end, so that the number of orders is about that of
 * different states. A step is not interrupted here. */
#include "orders.h"

#include <stdlib.h>

/* That a small exchange has at most: requests, each of which takes the network up to three events,
 * and orders without a fault. */
enum { REQUESTS = 6, MOST_ORDERS = 5000 };

typedef struct choice {
    size_t taken, of;
} choice;

struct sim_orders {
    choice *choice;
    size_t depth, length, capacity; /* of the present order: made so far, and to be repeated */
    uint64_t *known;                /* digests of states; 0 is an empty place */
    size_t states, room;
};

/* ---- choices ---- */

size_t sim_choose(simulation *sim, size_t count)
{
    sim_orders *o = sim->orders;
    if (o->depth == o->length) {
        if (o->length == o->capacity) {
            o->capacity = o->capacity * 2 + 64;
            o->choice = realloc(o->choice, o->capacity * sizeof *o->choice);
        }
        o->choice[o->length++] = (choice){0, count};
    }
    if (o->choice[o->depth].of != count)
        sim_fail(sim, "the same choices lead to other states");
    return o->choice[o->depth++].taken;
}

static bool begin_next_order(sim_orders *o)
{
    while (o->length > 0 && o->choice[o->length - 1].taken + 1 >= o->choice[o->length - 1].of)
        o->length--;
    if (o->length > 0)
        o->choice[o->length - 1].taken++;
    return o->length > 0;
}

/* ---- states ---- */

static uint64_t digest_state(const simulation *sim)
{
    uint64_t digest = sim_network_digest(sim);
    for (int i = 0; i < sim->ranks; i++) {
        const sim_rank *r = &sim->rank[i];
        digest = sim_mix(sim_mix(digest, r->seen), r->begun | r->dirty << 1 | r->finished << 2);
    }
    for (int node = 0; node < sim->nodes; node++)
        digest = sim_mix(digest, sim_flags_digest(sim, node));
    return digest != 0 ? digest : 1;
}

static uint64_t *find_state(const sim_orders *o, uint64_t digest)
{
    size_t i = digest % o->room;
    while (o->known[i] != 0 && o->known[i] != digest)
        i = (i + 1) % o->room;
    return &o->known[i];
}

static void grow_states(sim_orders *o)
{
    sim_orders larger = {.room = o->room * 4 + 1021};
    larger.known = calloc(larger.room, sizeof *larger.known);
    for (size_t i = 0; i < o->room; i++)
        if (o->known[i] != 0)
            *find_state(&larger, o->known[i]) = o->known[i];
    free(o->known);
    o->known = larger.known;
    o->room = larger.room;
}

bool sim_is_known(simulation *sim)
{
    sim_orders *o = sim->orders;
    if (o->depth < o->length)
        return false; /* this part is a repetition */
    if (o->states * 2 >= o->room)
        grow_states(o);
    uint64_t digest = digest_state(sim), *at = find_state(o, digest);
    if (*at != 0)
        return true;
    *at = digest;
    o->states++;
    return false;
}

/* ---- all orders ---- */

/* fault: NULL: none. */
static simulation *draw_exchange(uint64_t seed, const sim_fault *fault, sim_orders *orders)
{
    simulation *sim = calloc(1, sizeof *sim);
    sim->seed = sim->state = seed;
    sim->small = true;
    sim_draw(sim);
    sim->agreed = true;
    sim->fault_rate = sim->short_share = sim->interruptions = 0;
    sim->gone_after = sim->victim = -1;
    sim->faults = fault != NULL;
    if (fault != NULL)
        sim->fault[0] = *fault;
    sim->order = ORDER_OLDEST; /* of what is left when all have finished */
    sim->delayed = -1;
    sim->orders = orders;
    orders->depth = 0;
    return sim;
}

static int64_t count_requests(const simulation *sim)
{
    int64_t count = 0;
    for (int i = 0; i < sim->ranks; i++)
        count += sim->rank[i].requests;
    return count;
}

/* Repeats the present order. */
static void explain_order(uint64_t seed, const sim_fault *fault, sim_orders *orders)
{
    static const char *const kinds[] = {"isend", "irecv", "test", "write", "read"};
    orders->states = orders->room = 0;
    free(orders->known);
    orders->known = NULL;
    simulation *sim = draw_exchange(seed, fault, orders);
    sim->traces = true;
    printf("# orders of exchange %" PRIu64, seed);
    if (fault != NULL)
        printf(", with an error of %s %" PRId64 " of rank %d", kinds[fault->kind], fault->nth,
               fault->rank);
    printf("\n");
    sim_print_parameters(sim);
    sim_run(sim);
    sim_print_trace(sim);
    sim_free(sim);
}

/* *fired: the fault was in some of them. Without a fault: *ranks, 0 for an exchange that is too
 * large. */
static bool try_all(uint64_t seed, const sim_fault *fault, sim_tally *tally, bool *fired,
                    int *ranks)
{
    sim_orders orders = {.room = 0};
    uint64_t tried = 0;
    bool good = true;
    *fired = false;
    do {
        simulation *sim = draw_exchange(seed, fault, &orders);
        sim_run(sim);
        good = sim->failure == NULL;
        *fired |= sim->fired > 0;
        tried++;
        bool too_large = count_requests(sim) > REQUESTS || (fault == NULL && tried > MOST_ORDERS);
        *ranks = good && too_large ? 0 : sim->ranks;
        sim_free(sim);
    } while (good && *ranks > 0 && begin_next_order(&orders));
    tally->orders += *ranks > 0 ? tried : 0;
    tally->states += *ranks > 0 ? orders.states : 0;
    if (!good)
        explain_order(seed, fault, &orders);
    free(orders.choice);
    free(orders.known);
    return good;
}

/* From the first call of a kind to the one that is in no order. */
static bool try_faults(uint64_t seed, int rank, enum fault_kind kind, sim_tally *tally)
{
    bool fired = true, good = true;
    int ranks;
    for (sim_fault fault = {kind, rank, 0}; good && fired; fault.nth++) {
        good = try_all(seed, &fault, tally, &fired, &ranks);
        tally->faults += fired;
    }
    return good;
}

bool sim_try_orders(uint64_t seed, sim_tally *tally)
{
    bool fired;
    int ranks;
    bool good = try_all(seed, NULL, tally, &fired, &ranks);
    tally->exchanges += ranks > 0;
    for (int i = 0; i < ranks * FAULT_KINDS && good; i++)
        good = try_faults(seed, i / FAULT_KINDS, (enum fault_kind)(i % FAULT_KINDS), tally);
    return good;
}
