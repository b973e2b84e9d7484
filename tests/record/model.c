/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files must contain: the events one after the other, each as if it were alone. */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "matrix/view_file.h"
#include "record/record_header.h"

/* A version of a file. */
struct version {
    int stamp;       /* 0: there is none */
    int began[RUNS]; /* 0: the run is not in it */
    int program, ranks;
    int count[WRITERS][ADDITIONS];
};

struct known {
    int earlier[NAMES]; /* stamp of what was there; -1: not looked at */
    int began, place;
    int written;    /* additions before this one are in the version that it wrote last */
    bool elsewhere; /* since it began to write, its run came into a file of another name */
    bool dropped; /* a version with additions of this writer was taken for an earlier run's since it
                     began to write */
};

struct model {
    const struct history *h;
    struct version file[NAMES];
    struct known known[WRITERS];
    int stamp;
};

static bool is_empty(const struct version *v)
{
    for (int r = 0; r < RUNS; r++)
        if (v->began[r] > 0)
            return false;
    return true;
}

static const char *add_from(struct version *v, int writer, int first, int end)
{
    for (int k = first; k < end; k++)
        if (++v->count[writer][k] > 1)
            return "an addition is there twice";
    return NULL;
}

static void drop_version(struct model *m, const struct version *v)
{
    for (int w = 0; w < WRITERS; w++)
        for (int k = 0; k < ADDITIONS; k++)
            m->known[w].dropped = m->known[w].dropped || v->count[w][k] > 0;
}

/* A version that a writer puts in place. */
static const char *replace_version(struct model *m, const struct event *e)
{
    int run = m->h->writer[e->writer].run;
    struct known *known = &m->known[e->writer];
    struct version *v = &m->file[e->name];
    bool is_earlier = v->stamp == known->earlier[e->name] && v->began[run] == 0;
    int first = 0;
    if (e->name != known->place)
        known->began = 0;
    m->stamp++;
    if (is_earlier)
        drop_version(m, v);
    if (is_empty(v) || is_earlier)
        *v = (struct version){.program = m->h->program[run], .ranks = m->h->ranks[run]};
    else if (v->program != m->h->program[run] || v->ranks != m->h->ranks[run])
        return "a record of another program was replaced";
    known->elsewhere = e->name > 0 && v->began[run] == 0;
    if (v->began[run] == 0)
        v->began[run] = m->stamp;
    else if (v->began[run] == known->began)
        first = known->written;
    v->stamp = m->stamp;
    known->place = e->name;
    known->began = v->began[run];
    known->written = e->added;
    return add_from(v, e->writer, first, e->added);
}

/* All that the writer added is in the file of its run, or was, while it wrote; another name is
 * reported. */
static const char *check_end(const struct model *m, const struct event *e)
{
    const struct known *known = &m->known[e->writer];
    const struct version *v = &m->file[known->place];
    for (int k = 0; k < e->added && !known->dropped; k++)
        if (v->count[e->writer][k] != 1)
            return "an addition is lost";
    return e->name != known->elsewhere ? "another name is not reported, or more than once" : NULL;
}

static const char *replay_event(struct model *m, const struct event *e)
{
    switch (e->kind) {
    case LOOKED: m->known[e->writer].earlier[e->name] = m->file[e->name].stamp; return NULL;
    case BEGAN: m->known[e->writer].dropped = m->known[e->writer].elsewhere = false; return NULL;
    case REPLACED: return replace_version(m, e);
    default: return check_end(m, e);
    }
}

/* ---- the files ---- */

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

static const char *compare_header(const struct model *m, const struct version *v, FILE *stream)
{
    char text[RECORD_HEADER_BYTES + 1];
    record_header header;
    size_t length = fread(text, 1, RECORD_HEADER_BYTES, stream);
    int64_t sum = 0;
    text[length] = '\0';
    if (record_header_parse(&header, text, length) != 0)
        return "a header is damaged";
    for (int r = 0; r < RUNS; r++) {
        char name[16];
        snprintf(name, sizeof name, "run%d", r);
        if ((record_header_find(&header, name) != NULL) != (v->began[r] > 0))
            return "the runs of a header are wrong";
    }
    for (int w = 0; w < m->h->writers; w++)
        for (int k = 0; k < ADDITIONS; k++)
            sum += v->count[w][k];
    return header.totals.accesses != sum || header.totals.bytes != sum ? "the totals are wrong"
                                                                       : NULL;
}

static const char *compare_record(const struct model *m, const struct version *v, FILE *stream)
{
    view_file f;
    matrix_error error;
    if (view_file_read(stream, &f, &error) != 0)
        return "a record is damaged";
    const char *wrong = compare_profile(v, &f);
    view_file_release(&f);
    rewind(stream);
    return wrong != NULL ? wrong : compare_header(m, v, stream);
}

/* An empty file is as good as none: it was to be replaced by a writer that was killed. */
static const char *compare_name(const struct model *m, int name)
{
    const struct version *v = &m->file[name];
    char path[96];
    name_record(m->h, name, path, sizeof path);
    FILE *stream = fopen(path, "r");
    bool is_there = stream != NULL && fgetc(stream) != EOF;
    const char *wrong = NULL;
    if (is_there != (v->stamp > 0)) {
        wrong = "a file is there that should not be, or the other way round";
    } else if (is_there) {
        rewind(stream);
        wrong = compare_record(m, v, stream);
    }
    if (stream != NULL)
        fclose(stream);
    return wrong;
}

const char *check_history(const struct history *h)
{
    struct model m = {.h = h};
    const char *wrong = NULL;
    for (int w = 0; w < WRITERS; w++) {
        memset(m.known[w].earlier, -1, sizeof m.known[w].earlier);
        if (h->writer[w].failure != NULL)
            return h->writer[w].failure;
    }
    for (int i = 0; i < h->events && wrong == NULL; i++)
        wrong = replay_event(&m, &h->event[i]);
    for (int name = 0; name < NAMES && wrong == NULL; name++)
        wrong = compare_name(&m, name);
    return wrong;
}
