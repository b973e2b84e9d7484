/* SPDX-License-Identifier: BSD-3-Clause */
/* Dividing an accessed range into file domains, and a domain into cycles. */
#include "plan/division.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

#define PAGE 4096
/* Bytes; a cycle of this size stays in the processor's cache. */
#define LEAST_CYCLE (256 << 10)
#define MOST_PARTS 16
/* Where the number of domains is chosen: what a node may have always, and a plan in all. */
#define PER_NODE 4
#define FEW_DOMAINS 256
#define MOST_COLUMNS 8192 /* of even domains, for memory */

static int64_t division_round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

const char *division_kind_name(division_kind kind)
{
    static const char *const names[] = {"none", "even", "stripe", "fitted"};
    return names[kind];
}

int64_t division_chosen_capacity(const size_t *ranks_on_node, size_t nodes)
{
    int64_t capacity = 0, used = 0;
    for (size_t n = 0; n < nodes; n++)
        used += ranks_on_node[n] > 0;
    for (size_t n = 0; n < nodes; n++) {
        int64_t ranks = (int64_t)ranks_on_node[n],
                most = access_least(ranks / 2, used > 0 ? FEW_DOMAINS / used : 0);
        capacity += access_least(ranks, most > PER_NODE ? most : PER_NODE);
    }
    return capacity;
}

int64_t division_allowed_aggregators(int64_t wanted, int64_t targets)
{
    if (targets == 0)
        return wanted;
    if (wanted >= targets)
        return wanted - wanted % targets;
    while (targets % wanted != 0)
        wanted--;
    return wanted;
}

bool division_is_striped(const division_settings *settings)
{
    int64_t least = settings->kind == DIVISION_STRIPE ? 1 : 2;
    return settings->kind != DIVISION_EVEN && settings->targets >= least;
}

bool division_may_widen(const division_settings *settings, int64_t lo, int64_t hi)
{
    int64_t stripe = settings->stripe;
    return stripe > 0 && hi < ACCESS_END - stripe &&
           (division_is_striped(settings) || (hi - lo) / stripe < MOST_COLUMNS);
}

size_t division_count(const division_settings *settings, int64_t lo, int64_t hi)
{
    int64_t stripe = settings->stripe;
    if (settings->aggregators > 0)
        return (size_t)settings->aggregators;
    int64_t nodes = settings->nodes > 0 ? settings->nodes : 1;
    int64_t count = access_least(settings->capacity, (hi - lo) / DOMAIN_WORTHWHILE);
    if (count >= nodes)
        count -= count % nodes;
    else
        count = access_least(nodes, (hi - lo - 1) / DOMAIN_SPREAD + 1);
    if (stripe > 0)
        count = access_least(count, (hi - 1) / stripe - lo / stripe + 1);
    return (size_t)division_allowed_aggregators(count, settings->targets);
}

/* Even domains of whole stripes, with a column for each. */
static int make_columns(int64_t stripe, int64_t lo, int64_t hi, size_t count, file_domains *domains)
{
    size_t first = (size_t)(lo / stripe), columns = (size_t)((hi - 1) / stripe) - first + 1;
    size_t *of = base_alloc(columns, sizeof *of);
    if (of == NULL)
        return -ENOMEM;
    for (size_t c = 0; c < columns; c++)
        of[(first + c) % columns] = c * count / columns;
    int rc = domains_striped(domains, &(domain_units){lo, hi, 0, stripe}, of, columns, count);
    free(of);
    return rc;
}

int division_make(const division_settings *settings, int64_t lo, int64_t hi, division *result)
{
    size_t count = division_count(settings, lo, hi);
    int64_t stripe = settings->stripe;
    if (division_is_striped(settings)) {
        result->period = stripe;
        return domains_striped(&result->domains, &(domain_units){lo, hi, 0, stripe}, NULL, 0,
                               count);
    }
    result->period = stripe > 0 ? stripe : 1;
    if (settings->margin > 0)
        return make_columns(stripe, lo, hi, count, &result->domains);
    return domains_even(&result->domains, lo, hi, count, domains_alignment(hi - lo, count, stripe));
}

void division_release(division *result)
{
    domains_release(&result->domains);
    result->period = 0;
}

/* ---- cycles ---- */

static int64_t largest_domain(const file_domains *domains)
{
    int64_t largest = 1;
    for (size_t j = 0; j < domains->count; j++)
        if (domains->size[j] > largest)
            largest = domains->size[j];
    return largest;
}

int64_t division_buffer(int64_t buffer, size_t domains, size_t nodes)
{
    int64_t on_node = (int64_t)(domains > 0 && nodes > 0 ? (domains - 1) / nodes + 1 : 1);
    return on_node > PER_NODE ? buffer / on_node * PER_NODE : buffer;
}

/* All cycles have one size, so that the last is not a small remainder. Where a cycle can hold a
 * stripe it holds whole ones, unless one smaller cycle holds the domain. */
int64_t division_cycle_size(const file_domains *domains, const division_cycles *cycles)
{
    int64_t largest = largest_domain(domains), stripe = cycles->stripe;
    int64_t most = cycles->buffer / cycles->in_flight, wanted = cycles->wanted;
    if (wanted == 0)
        wanted = access_least(cycles->parts, MOST_PARTS) * cycles->message;
    wanted = wanted > LEAST_CYCLE ? wanted : LEAST_CYCLE;
    bool whole_stripes = stripe > 0 && stripe <= most;
    most = most > 0 ? access_least(wanted > stripe ? wanted : stripe, most) : 1;
    if (whole_stripes)
        most -= most % stripe;
    int64_t count = (largest - 1) / most + 1, size = (largest - 1) / count + 1;
    if (whole_stripes)
        return count == 1 && size <= stripe ? size : division_round_up(size, stripe);
    return access_least(size > PAGE ? division_round_up(size, PAGE) : size, most);
}

int64_t division_num_cycles(const file_domains *domains, int64_t cycle_size)
{
    return (largest_domain(domains) - 1) / cycle_size + 1;
}
