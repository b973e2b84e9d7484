/* SPDX-License-Identifier: BSD-3-Clause */
/* What the file must contain: the events one after the other, each as if it were alone. */
#include "history.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "matrix/view_file.h"
#include "record/record_header.h"

/* The version of the file. */
struct version {
    bool is_there;
    int run, writer;
    int count[WRITERS][ADDITIONS];
};

struct model {
    const struct history *h;
    struct version file;
    int written[WRITERS];   /* additions that the writer has written */
    bool is_first[WRITERS]; /* when it wrote last, its run was not in the file */
    bool finished[WRITERS];
    bool has_written[RUNS];
};

/* A version that a writer puts in place. */
static const char *replace_version(struct model *m, const struct event *e)
{
    int run = m->h->writer[e->writer].run;
    struct version *v = &m->file;
    if (v->is_there && v->run != run &&
        (m->written[e->writer] > 0 || !(m->finished[v->writer] || m->h->writer[v->writer].killed)))
        return "two runs record at the same time";
    m->has_written[run] = true;
    m->is_first[e->writer] = !v->is_there || v->run != run;
    if (m->is_first[e->writer])
        *v = (struct version){.is_there = true, .run = run};
    v->writer = e->writer;
    for (int k = m->written[e->writer]; k < e->added; k++)
        if (++v->count[e->writer][k] > 1)
            return "an addition is there twice";
    m->written[e->writer] = e->added;
    return NULL;
}

static const char *check_end(const struct model *m, const struct event *e)
{
    if (m->written[e->writer] != e->added)
        return "an addition is lost";
    return e->is_first != m->is_first[e->writer] ? "it is told what was not there" : NULL;
}

static const char *check_refusal(const struct model *m, const struct event *e)
{
    for (int r = 0; r < RUNS; r++)
        if (m->has_written[r] && r != m->h->writer[e->writer].run)
            return NULL;
    return "a writer is refused, and there is no other run";
}

static const char *replay_event(struct model *m, const struct event *e)
{
    switch (e->kind) {
    case REPLACED: return replace_version(m, e);
    case ENDED: return check_end(m, e);
    case REFUSED: return check_refusal(m, e);
    default: m->finished[e->writer] = true; return NULL;
    }
}

/* ---- the file ---- */

static const char *compare_profile(const struct version *v, const view_file *f)
{
    int64_t found[WRITERS * ADDITIONS] = {0};
    int64_t sum = 0;
    for (size_t p = 0; p < f->patterns; p++)
        for (size_t bin = 0; bin < WRITERS * ADDITIONS; bin++)
            found[bin] += matrix_get(&f->bytes[p], 0, bin);
    for (int w = 0; w < WRITERS; w++)
        for (int k = 0; k < ADDITIONS; k++) {
            sum += v->count[w][k];
            if (found[w * ADDITIONS + k] != v->count[w][k])
                return "an addition is lost, or there twice";
        }
    return matrix_get(&f->view, 0, 1) != sum ? "the matrix is not that of the profile" : NULL;
}

static const char *compare_header(const struct model *m, const struct version *v, int fd)
{
    char name[16];
    record_header header;
    int64_t sum = 0;
    if (record_header_read(&header, fd) != 0)
        return "a header is damaged";
    snprintf(name, sizeof name, "run%d", v->run);
    if (strcmp(header.run, name) != 0 || header.ranks != (size_t)m->h->ranks[v->run])
        return "the run of a header is wrong";
    for (int w = 0; w < m->h->writers; w++)
        for (int k = 0; k < ADDITIONS; k++)
            sum += v->count[w][k];
    return header.totals.accesses != sum || header.totals.bytes != sum ? "the totals are wrong"
                                                                       : NULL;
}

static const char *compare_record(const struct model *m, FILE *stream)
{
    view_file f;
    matrix_error error;
    if (view_file_read(stream, &f, &error) != 0)
        return "a record is damaged";
    const char *wrong = compare_profile(&m->file, &f);
    view_file_release(&f);
    return wrong != NULL ? wrong : compare_header(m, &m->file, fileno(stream));
}

const char *check_history(const struct history *h)
{
    struct model m = {.h = h};
    const char *wrong = NULL;
    char path[96];
    for (int w = 0; w < WRITERS; w++)
        if (h->writer[w].failure != NULL)
            return h->writer[w].failure;
    for (int i = 0; i < h->events && wrong == NULL; i++)
        wrong = replay_event(&m, &h->event[i]);
    name_record(h, path, sizeof path);
    FILE *stream = fopen(path, "r");
    if (wrong == NULL && (stream != NULL) != m.file.is_there)
        wrong = "the file is there and should not be, or the other way round";
    if (wrong == NULL && stream != NULL)
        wrong = compare_record(&m, stream);
    if (stream != NULL)
        fclose(stream);
    return wrong;
}
