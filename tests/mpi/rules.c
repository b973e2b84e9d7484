/* SPDX-License-Identifier: BSD-3-Clause */
/* rules: see rules.h. Each rule is read off the bytes and the stripes; how the component divides a
 * file is not known here. */
#include "rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, MOST_TARGETS = 64, NOBODY = -1 };

static char text[200];

static const char *broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/* --- bytes --- */

/* Written are the wanted bytes, each once; read are at least the wanted ones. */
static const char *check_bytes(const struct wanted *call, const struct logged *log, size_t count)
{
    unsigned char *times = calloc((size_t)call->size + 1, 1);
    const char *rule = times == NULL ? "no memory" : NULL;
    for (size_t i = 0; i < count && rule == NULL; i++) {
        if (log[i].write != call->write)
            rule = broken("a read where bytes were to be written, or the other way");
        for (int64_t b = log[i].offset; b < log[i].offset + log[i].length && rule == NULL; b++)
            if (b >= call->size || (call->write && times[b] > 0))
                rule = broken("byte %" PRId64 " is beyond what was wanted, or accessed twice", b);
            else
                times[b] = 1;
    }
    for (int64_t b = 0; b < call->size && rule == NULL; b++) {
        if (call->write ? call->wanted[b] != times[b] : call->wanted[b] > times[b])
            rule = broken("byte %" PRId64 ": wanted %d times, accessed %d times", b,
                          call->wanted[b], times[b]);
    }
    free(times);
    return rule;
}

static bool is_wanted(const struct wanted *call, int64_t byte)
{
    return byte >= 0 && byte < call->size && call->wanted[byte];
}

/* A window that can hold a stripe holds whole ones: an access begins or ends within a stripe only
 * where nothing is wanted on the other side. */
static const char *check_windows(const struct striping *s, const struct wanted *call,
                                 const struct logged *log, size_t count)
{
    for (size_t i = 0; i < count && s->cycle >= s->stripe; i++) {
        int64_t begin = log[i].offset, end = begin + log[i].length;
        if (begin % s->stripe != 0 && is_wanted(call, begin - 1))
            return broken("an access begins at %" PRId64 ", within a stripe", begin);
        if (end % s->stripe != 0 && is_wanted(call, end))
            return broken("an access ends at %" PRId64 ", within a stripe", end);
    }
    return NULL;
}

/* --- stripes --- */

/* rank_of[s]: who accesses stripe s, or NOBODY. */
static const char *find_owners(const struct striping *s, const struct logged *log, size_t count,
                               int *rank_of, int64_t stripes)
{
    for (int64_t i = 0; i < stripes; i++)
        rank_of[i] = NOBODY;
    for (size_t i = 0; i < count; i++) {
        int64_t last = (log[i].offset + log[i].length - 1) / s->stripe;
        for (int64_t at = log[i].offset / s->stripe; at <= last; at++) {
            if (rank_of[at] != NOBODY && rank_of[at] != log[i].rank)
                return broken("ranks %d and %" PRId64 " access stripe %" PRId64, rank_of[at],
                              log[i].rank, at);
            rank_of[at] = (int)log[i].rank;
        }
    }
    return NULL;
}

static const char *check_contiguous(const int *rank_of, int64_t stripes)
{
    bool met[MOST_RANKS] = {false};
    int last = NOBODY;
    for (int64_t s = 0; s < stripes; s++) {
        if (rank_of[s] == NOBODY || rank_of[s] == last)
            continue;
        last = rank_of[s];
        if (met[last])
            return broken("rank %d has stripe %" PRId64 " apart from its others", last, s);
        met[last] = true;
    }
    return NULL;
}

static int count_ranks(const int *rank_of, int64_t stripes)
{
    bool met[MOST_RANKS] = {false};
    int ranks = 0;
    for (int64_t s = 0; s < stripes; s++) {
        if (rank_of[s] == NOBODY)
            continue;
        ranks += !met[rank_of[s]];
        met[rank_of[s]] = true;
    }
    return ranks;
}

static bool divides_or_is_multiple(int aggregators, int targets)
{
    return targets == 0 || targets % aggregators == 0 || aggregators % targets == 0;
}

/* The nearest number below the one that was asked for. */
static int allowed(const struct striping *s)
{
    int n = s->aggregators;
    while (!divides_or_is_multiple(n, s->targets))
        n--;
    return n;
}

/* Each target has as few ranks, and each rank as few targets, as their numbers permit. */
static const char *check_targets(const struct striping *s, const int *rank_of, int64_t stripes,
                                 int most)
{
    static bool met[MOST_TARGETS][MOST_RANKS];
    int ranks[MOST_TARGETS] = {0}, targets[MOST_RANKS] = {0};
    memset(met, 0, sizeof met);
    for (int64_t i = 0; i < stripes; i++) {
        int target = (int)(i % s->targets), rank = rank_of[i];
        if (rank == NOBODY || met[target][rank])
            continue;
        met[target][rank] = true;
        ranks[target]++;
        targets[rank]++;
    }
    int most_ranks = most > s->targets ? most / s->targets : 1,
        most_targets = s->targets > most ? s->targets / most : 1;
    for (int t = 0; t < s->targets; t++)
        if (ranks[t] > most_ranks)
            return broken("%d ranks access target %d, not %d", ranks[t], t, most_ranks);
    for (int r = 0; r < s->ranks; r++)
        if (targets[r] > most_targets)
            return broken("rank %d accesses %d targets, not %d", r, targets[r], most_targets);
    return NULL;
}

static bool all_stripes(const struct wanted *call, int64_t stripe)
{
    for (int64_t b = 0; b < call->size; b++)
        if (!call->wanted[b])
            return false;
    return call->size / stripe > MOST_RANKS;
}

static const char *check_stripes(const struct striping *s, const struct wanted *call,
                                 const int *rank_of, int64_t stripes)
{
    int ranks = count_ranks(rank_of, stripes), most = s->aggregators > 0 ? allowed(s) : ranks;
    if (ranks > most)
        return broken("%d ranks access the file, not %d", ranks, most);
    if (s->fitted)
        return NULL;
    if (all_stripes(call, s->stripe) && s->aggregators > 0 && ranks != most)
        return broken("%d of %d aggregators access the file", ranks, most);
    if (all_stripes(call, s->stripe) && !divides_or_is_multiple(ranks, s->targets))
        return broken("%d ranks access %d targets", ranks, s->targets);
    if (!s->dealt)
        return check_contiguous(rank_of, stripes);
    /* Of a few stripes, chosen aggregators may have none. */
    if (s->aggregators == 0 && !all_stripes(call, s->stripe))
        return NULL;
    return check_targets(s, rank_of, stripes, most);
}

const char *broken_rule(const struct striping *s, const struct wanted *call,
                        const struct logged *log, size_t count)
{
    int64_t stripes = (call->size + s->stripe - 1) / s->stripe;
    int *rank_of = calloc((size_t)stripes + 1, sizeof *rank_of);
    const char *rule = rank_of == NULL ? "no memory" : check_bytes(call, log, count);
    if (rule == NULL && !call->alone)
        rule = check_windows(s, call, log, count);
    if (rule == NULL && !call->alone)
        rule = find_owners(s, log, count, rank_of, stripes);
    if (rule == NULL && !call->alone)
        rule = check_stripes(s, call, rank_of, stripes);
    free(rank_of);
    return rule;
}
