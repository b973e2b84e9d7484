/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf */
#include "dla/mapper.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

static void __attribute__((format(printf, 2, 3)))
show_line(const dla_mapping *m, const char *format, ...)
{
    va_list args;
    char *line = NULL;
    va_start(args, format);
    int length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 0)
        return;
    m->show(line);
    free(line);
}

static void report_placement(const dla_mapping *m, const dla_spec *spec, const dla_placement *p)
{
    char before[DLA_REPORT_SIZE], after[DLA_REPORT_SIZE];
    if (m->verbose < 1 || dla_report_format(p, p->by_slot, before) != 0 ||
        dla_report_format(p, p->node_of_rank, after) != 0)
        return;
    show_line(m,
              "rmaps:dla: job %s: %zu ranks on %zu nodes, %zu levels of switches, by %s, %s: "
              "weight inside nodes %s by slot, %s placed",
              m->name, m->job.ranks, m->job.nodes, p->data->network.levels, dla_spec_name(spec),
              dla_spec_method(spec)->name, before, after);
}

/* The only line of a job by default. Where all is on one node, a record of the cache, which no user
 * asked for, needs none. */
static void report_benefit(const dla_mapping *m, const dla_spec *spec, bool is_automatic,
                           const dla_placement *p)
{
    char text[DLA_REPORT_SIZE];
    int least = is_automatic && m->job.nodes < 2;
    if (m->verbose < least)
        return;
    dla_benefit_format(p, dla_spec_name(spec), text);
    show_line(m, "dla: %s", text);
}

/* Those who arrange the ranks of each node need the view, once these are bound. */
static void hand_over_view(dla_mapping *m, const dla_spec *spec, view_file *file)
{
    if (spec->choice[DLA_NUMA] == DLA_NUMA_OFF)
        return;
    m->view = file->view;
    file->view = (matrix){0};
}

/* ---- by a request ---- */

/* -ECANCELED: the record is that of the cache, and the stock mapping is as good. */
static int place_by_data(dla_mapping *m, const dla_spec *spec, dla_data *data, bool is_automatic)
{
    const dla_room room = {.nodes = m->job.nodes, .job = &m->job, .by_slot = m->by_slot};
    dla_placement p;
    int rc = dla_place(data, spec, &room, &p);
    if (rc != 0)
        return rc;
    memcpy(m->node_of_rank, p.node_of_rank, m->job.ranks * sizeof *p.node_of_rank);
    m->is_decided = m->job.nodes > 1;
    report_placement(m, spec, &p);
    report_benefit(m, spec, is_automatic, &p);
    if (is_automatic && (p.benefit.kept == DLA_STOCK_BY_SLOT || m->job.nodes < 2))
        rc = -ECANCELED;
    else
        hand_over_view(m, spec, &data->file);
    dla_placement_release(&p);
    return rc;
}

/* Any word of the command may be the program. Records of the cache have a command themselves. */
static void report_program(const dla_mapping *m, const dla_spec *spec, const char *comments)
{
    const char *line = comments == NULL ? NULL : strstr(comments, "\nprogram: ");
    char recorded[256], file[256], program[256];
    if (m->verbose < 0 || m->program == NULL || line == NULL ||
        sscanf(line, "\nprogram: %255[^\n]", recorded) != 1 || strpbrk(recorded, "/ ") != NULL)
        return;
    for (char *const *word = m->program->argument; *word != NULL; word++) {
        const char *slash = strrchr(*word, '/');
        if (strcmp(slash == NULL ? *word : slash + 1, recorded) == 0)
            return;
    }
    base_escape(file, sizeof file, dla_spec_name(spec));
    base_escape(program, sizeof program, recorded);
    show_line(m, "dla: %s is a record of %s, which this command does not name", file, program);
}

static int place_by_view(dla_mapping *m, const dla_spec *spec, FILE *record, char *reason)
{
    const dla_nodes nodes = {m->node_name, m->job.nodes};
    dla_data data;
    int rc = dla_data_read(&data, spec, (dla_streams){record, NULL}, m->job.ranks, &nodes, reason);
    if (rc != 0)
        return rc == -ENODATA && record == NULL ? -EINVAL : rc;
    if (record == NULL)
        report_program(m, spec, data.file.comments);
    rc = place_by_data(m, spec, &data, record != NULL);
    if (rc != 0)
        snprintf(reason, DLA_REASON_SIZE, "%.800s: %s", dla_spec_name(spec), strerror(-rc));
    dla_data_release(&data);
    return rc == 0 ? 0 : record != NULL ? -ECANCELED : -EINVAL;
}

/* A damaged record of the cache makes way for the next one. */
static int place_by_record(dla_mapping *m, const dla_spec *spec, dla_automatic *a, char *reason)
{
    dla_spec found = *spec;
    found.text[DLA_FILE] = a->path;
    int rc = place_by_view(m, &found, a->record, reason);
    bool is_cached = a->folder >= 0;
    if (rc != -EBADMSG)
        return rc;
    if (m->verbose >= 0)
        show_line(m, "dla: not placed: %s%s", reason, is_cached ? "; removed" : "");
    if (is_cached)
        (void)cache_remove(a->folder, &a->key);
    return rc;
}

static int open_named_record(dla_automatic *a, const char *file)
{
    const char *cause;
    *a = (dla_automatic){.folder = -1, .record = base_open_regular(file, &cause)};
    a->path = a->record == NULL ? NULL : strdup(file);
    return a->record == NULL ? -ENOENT : a->path == NULL ? -ENOMEM : 0;
}

static int place_automatically(dla_mapping *m, const dla_spec *spec, char *reason)
{
    dla_automatic a;
    int rc = -ENOENT;
    if (dla_spec_automatic_file(spec) != NULL)
        rc = open_named_record(&a, dla_spec_automatic_file(spec));
    else if (m->program != NULL)
        rc = dla_automatic_open(&a, m->program, m->job.ranks);
    if (rc == 0) {
        rc = place_by_record(m, spec, &a, reason);
        dla_automatic_close(&a);
    } else if (m->verbose > 0) {
        show_line(m, "rmaps:dla: job %s: not placed: no record of it in the cache (%s)", m->name,
                  m->program == NULL ? "several programs" : cache_reason(rc));
    }
    return rc == 0 || rc == -EINVAL ? rc : -ECANCELED;
}

int dla_mapping_place(dla_mapping *m, const dla_spec *spec, size_t *app,
                      char reason[DLA_REASON_SIZE])
{
    bool is_automatic = spec != NULL && dla_spec_is_automatic(spec);
    int rc = dla_place_by_slot(&m->job, m->by_slot, app);
    if (rc == -ENOSPC && is_automatic && m->may_leave)
        return -ECANCELED;
    if (rc == 0 && spec != NULL)
        rc = is_automatic ? place_automatically(m, spec, reason)
                          : place_by_view(m, spec, NULL, reason);
    if ((rc == 0 && spec == NULL) || (rc == -ECANCELED && !m->may_leave)) {
        memcpy(m->node_of_rank, m->by_slot, m->job.ranks * sizeof *m->by_slot);
        rc = 0;
    }
    return rc;
}
