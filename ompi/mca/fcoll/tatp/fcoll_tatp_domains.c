/* SPDX-License-Identifier: BSD-3-Clause */
/* How the accessed range is divided among aggregators, and each part into windows.
 *
 * A file system with stripes locks them: two aggregators that write to one stripe wait for each
 * other. So where stripes are known no stripe is in two domains, and windows end where stripes
 * do. With the number of storage targets known as well, the stripes of a target go to as few
 * aggregators as can be (Liao, Choudhary: file domain partitioning, SC 2008). */
#include "fcoll_tatp.h"

#define PAGE 4096
/* Bytes. A window that is larger than the messages need would leave the processor's cache between
 * the copy and the file access. */
#define LEAST_WINDOW (256 << 10)

const tatp_domains_name tatp_domains_names[] = {
    {"auto", "stripe where the stripe size and more than one storage target are known, else fitted "
             "where that saves more than 5 % of the hop-bytes, else even"},
    {"even", "contiguous domains of equal size"},
    {"stripe", "the stripes of a storage target go to one aggregator"},
    {"fitted",
     "pieces of the file go to an aggregator on a node that accesses them, equally many to "
     "each"},
    {NULL, NULL},
};

bool tatp_deals_stripes(const tatp_settings *settings)
{
    switch (settings->domains) {
    case TATP_DOMAINS_AUTO:
    case TATP_DOMAINS_FITTED: return settings->targets > 1;
    case TATP_DOMAINS_STRIPE: return settings->targets > 0;
    default: return false;
    }
}

static int64_t stripes_of(int64_t stripe, int64_t lo, int64_t hi)
{
    return (hi - 1) / stripe - lo / stripe + 1;
}

size_t tatp_domain_count(const tatp_module *module, const tatp_schedule *schedule)
{
    const tatp_settings *settings = &module->settings;
    int64_t lo = schedule->lo, hi = schedule->hi;
    if (settings->aggregators > 0)
        return (size_t)settings->aggregators;
    int64_t count = tatp_least((int64_t)module->where.seats, (hi - lo) / DOMAIN_WORTHWHILE + 1);
    if (settings->stripe > 0)
        count = tatp_least(count, stripes_of(settings->stripe, lo, hi));
    return (size_t)tatp_allowed_aggregators(count, settings->targets);
}

static int64_t largest_domain(const file_domains *domains)
{
    int64_t largest = 1;
    for (size_t j = 0; j < domains->count; j++)
        if (domains->size[j] > largest)
            largest = domains->size[j];
    return largest;
}

int64_t tatp_window_count(const tatp_schedule *schedule)
{
    return (largest_domain(&schedule->domains) - 1) / schedule->cycle + 1;
}

/* What a window may be at most: its part of the buffer, or a stripe where the whole buffer is none
 * too small for one. */
static int64_t largest_window(const tatp_settings *settings)
{
    int64_t part = settings->cycle / TATP_DEPTH;
    if (settings->stripe > part && settings->stripe <= settings->cycle)
        return settings->stripe;
    return part > 0 ? part : 1;
}

/* So large that equal parts would be a whole message each, because smaller ones cost more than
 * their bytes, as far as the buffer goes. Windows are of one size, so that the last is not a small
 * remainder. Where a window can hold a stripe it holds whole ones, unless one window that is
 * smaller holds all. */
int64_t tatp_window_size(const tatp_module *module, const tatp_schedule *schedule)
{
    const tatp_settings *settings = &module->settings;
    int64_t largest = largest_domain(&schedule->domains), stripe = settings->stripe;
    int64_t most = largest_window(settings), wanted = schedule->decision.parts * settings->message;
    bool whole_stripes = stripe > 0 && stripe <= most;
    most = tatp_least(wanted > LEAST_WINDOW ? wanted : LEAST_WINDOW, most);
    if (whole_stripes)
        most = most > stripe ? most - most % stripe : stripe;
    int64_t windows = (largest - 1) / most + 1, window = (largest - 1) / windows + 1;
    if (whole_stripes)
        return windows == 1 && window <= stripe ? window : tatp_round_up(window, stripe);
    return tatp_least(window > PAGE ? tatp_round_up(window, PAGE) : window, most);
}

/* By units whose domains are known. */
static int divide_fitted(const tatp_settings *settings, tatp_schedule *schedule, size_t count)
{
    const tatp_units *units = &schedule->units;
    int64_t lo = schedule->lo, hi = schedule->hi;
    if (units->columns) {
        schedule->period = units->unit * (int64_t)units->count;
        return domains_striped(&schedule->domains, lo, hi, units->unit, units->of, units->count,
                               count);
    }
    schedule->period = settings->stripe > 0 ? units->unit : 1;
    return domains_from_units(&schedule->domains, lo, hi, units->base, units->unit, units->of,
                              count);
}

int tatp_divide(const tatp_module *module, tatp_schedule *schedule)
{
    const tatp_settings *settings = &module->settings;
    int64_t lo = schedule->lo, hi = schedule->hi;
    size_t count = tatp_domain_count(module, schedule);
    int rc;
    if (schedule->fitted) {
        rc = divide_fitted(settings, schedule, count);
    } else if (tatp_deals_stripes(settings)) {
        schedule->period = settings->stripe * (int64_t)count;
        rc = domains_striped(&schedule->domains, lo, hi, settings->stripe, NULL, 0, count);
    } else {
        schedule->period = settings->stripe > 0 ? settings->stripe : 1;
        rc = domains_even(&schedule->domains, lo, hi, count,
                          domains_alignment(hi - lo, count, settings->stripe));
    }
    return tatp_from_errno(rc);
}
