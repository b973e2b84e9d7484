/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/text.h"

/* The latest runs by one mapping that are compared. */
#define MOST_COMPARED 16
#define MOST_LINE 1024

static const char first_line[] = "runs of a program, format 1";
static const char *const words[CACHE_MARKS] = {"placed", "dropped"};

/* ---- mappings ---- */

/* Nodes count by their first rank, so that names and numbers of nodes do not matter. */
int cache_mapping(const size_t *node_of_rank, size_t ranks, size_t nodes, uint64_t *mapping)
{
    size_t *first = base_alloc(nodes, sizeof *first);
    uint64_t digest = 0;

    if (first == NULL)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        first[n] = SIZE_MAX;
    for (size_t r = 0; r < ranks; r++) {
        size_t *f = &first[node_of_rank[r]];
        *f = *f == SIZE_MAX ? r : *f;
        digest = base_digest(digest, *f);
    }
    free(first);
    *mapping = base_mix(digest);
    return 0;
}

/* ---- contents ---- */

void cache_runs_describe(cache_runs *runs, const char *program, char *const *argument, size_t ranks)
{
    size_t used = 0;

    runs->ranks = ranks;
    base_escape(runs->program, sizeof runs->program, program);
    runs->arguments[0] = '\0';
    for (size_t i = 1; argument[0] != NULL && argument[i] != NULL; i++) {
        if (used + 2 >= sizeof runs->arguments)
            return;
        if (i > 1)
            runs->arguments[used++] = ' ';
        base_escape(runs->arguments + used, sizeof runs->arguments - used, argument[i]);
        used += strlen(runs->arguments + used);
    }
}

void cache_runs_add(cache_runs *runs, const cache_sample *sample)
{
    if (runs->samples == CACHE_MOST_SAMPLES)
        memmove(runs->sample, runs->sample + 1, --runs->samples * sizeof *sample);
    runs->sample[runs->samples++] = *sample;
}

bool cache_runs_has_mark(const cache_runs *runs, cache_mark mark, uint64_t mapping)
{
    for (size_t i = 0; i < runs->marks[mark]; i++)
        if (runs->mapping[mark][i] == mapping)
            return true;
    return false;
}

void cache_runs_set_mark(cache_runs *runs, cache_mark mark, uint64_t mapping)
{
    uint64_t *list = runs->mapping[mark];
    size_t *count = &runs->marks[mark];

    if (cache_runs_has_mark(runs, mark, mapping))
        return;
    if (*count == CACHE_MOST_MAPPINGS)
        memmove(list, list + 1, --*count * sizeof *list);
    list[(*count)++] = mapping;
}

/* ---- text ---- */

static bool copy_text(const char *line, const char *key, char text[CACHE_TEXT_SIZE])
{
    size_t length = strlen(key);

    if (strncmp(line, key, length) != 0)
        return false;
    base_escape(text, CACHE_TEXT_SIZE, line + length);
    return true;
}

static void parse_line(cache_runs *runs, const char *line)
{
    cache_sample sample;
    uint64_t mapping;
    char word[16];

    if (copy_text(line, "program ", runs->program) ||
        copy_text(line, "arguments ", runs->arguments) ||
        sscanf(line, "ranks %zu", &runs->ranks) == 1)
        return;
    if (sscanf(line, "run %" SCNx64 " %" SCNd64 " %" SCNd64, &sample.mapping, &sample.calls,
               &sample.nanoseconds) == 3) {
        if (sample.calls > 0 && sample.nanoseconds >= 0)
            cache_runs_add(runs, &sample);
        return;
    }
    if (sscanf(line, "%15s %" SCNx64, word, &mapping) != 2)
        return;
    for (int m = 0; m < CACHE_MARKS; m++)
        if (strcmp(word, words[m]) == 0)
            cache_runs_set_mark(runs, (cache_mark)m, mapping);
}

int cache_runs_parse(FILE *stream, cache_runs *runs)
{
    char *line = NULL;
    size_t capacity = 0, length = 0;
    int rc;

    *runs = (cache_runs){.ranks = 0};
    while ((rc = base_append_line(stream, MOST_LINE, &line, &capacity, &length)) > 0) {
        parse_line(runs, line);
        length = 0;
    }
    free(line);
    /* the rest of a damaged file is lost, not the run */
    return rc == -EMSGSIZE || rc == -EILSEQ ? 0 : rc;
}

int cache_runs_format(FILE *stream, const cache_runs *runs)
{
    fprintf(stream, "%s\nprogram %s\narguments %s\nranks %zu\n", first_line, runs->program,
            runs->arguments, runs->ranks);
    for (int m = 0; m < CACHE_MARKS; m++)
        for (size_t i = 0; i < runs->marks[m]; i++)
            fprintf(stream, "%s %" PRIx64 "\n", words[m], runs->mapping[m][i]);
    for (size_t i = 0; i < runs->samples; i++)
        fprintf(stream, "run %" PRIx64 " %" PRId64 " %" PRId64 "\n", runs->sample[i].mapping,
                runs->sample[i].calls, runs->sample[i].nanoseconds);
    return ferror(stream) ? -EIO : 0;
}

/* ---- comparison ---- */

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double call_time(const cache_sample *s)
{
    return 1e-9 * (double)s->nanoseconds / (double)s->calls;
}

/* Seconds of a call in the latest runs by the mapping, ascending. Returns their number. */
static size_t select_times(const cache_runs *runs, uint64_t mapping, double time[MOST_COMPARED])
{
    size_t count = 0;

    for (size_t i = runs->samples; i-- > 0 && count < MOST_COMPARED;)
        if (runs->sample[i].mapping == mapping)
            time[count++] = call_time(&runs->sample[i]);
    qsort(time, count, sizeof *time, compare_times);
    return count;
}

static double median_of(const double *time, size_t count)
{
    return count == 0 ? 0. : (time[(count - 1) / 2] + time[count / 2]) / 2;
}

cache_verdict cache_runs_judge(const cache_runs *runs, uint64_t placed, uint64_t stock,
                               cache_comparison *comparison)
{
    double time[MOST_COMPARED], stock_time[MOST_COMPARED];
    cache_comparison *c = comparison;

    c->runs = select_times(runs, placed, time);
    c->stock_runs = select_times(runs, stock, stock_time);
    c->seconds = median_of(time, c->runs);
    c->stock_seconds = median_of(stock_time, c->stock_runs);
    if (cache_runs_has_mark(runs, CACHE_DROPPED, placed))
        return CACHE_STAY_DROPPED;
    if (placed == stock || c->runs < CACHE_LEAST_RUNS || c->stock_runs == 0)
        return CACHE_PLACE;
    bool is_apart = time[c->runs / 4] > stock_time[c->stock_runs - 1 - c->stock_runs / 4];
    if (!is_apart || c->seconds <= (1 + CACHE_LEAST_LOSS) * c->stock_seconds)
        return CACHE_PLACE;
    return c->stock_runs < CACHE_LEAST_RUNS ? CACHE_MEASURE_STOCK : CACHE_DROP;
}

void cache_runs_compare(const cache_runs *runs, cache_comparison *comparison)
{
    double time[CACHE_MOST_SAMPLES], stock_time[CACHE_MOST_SAMPLES];
    cache_comparison c = {.runs = 0};

    for (size_t i = 0; i < runs->samples; i++) {
        const cache_sample *s = &runs->sample[i];
        if (cache_runs_has_mark(runs, CACHE_PLACED, s->mapping) ||
            cache_runs_has_mark(runs, CACHE_DROPPED, s->mapping))
            time[c.runs++] = call_time(s);
        else
            stock_time[c.stock_runs++] = call_time(s);
    }
    qsort(time, c.runs, sizeof *time, compare_times);
    qsort(stock_time, c.stock_runs, sizeof *stock_time, compare_times);
    c.seconds = median_of(time, c.runs);
    c.stock_seconds = median_of(stock_time, c.stock_runs);
    *comparison = c;
}
