/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises the format of a file and calls its reader line by line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/read.h"
#include "topo/text.h"

enum family { SLURM, INFINIBAND };

/* The limit of what a file describes, far beyond any network: a few bytes of text may stand for
 * many links. */
enum { MOST_PARTS = 1 << 22 };

/* A line that begins with that text, in Slurm's files a key before '=', starts lines of that
 * format. */
struct format {
    const char *beginning;
    enum family family;
    const char *name;
    int (*read_line)(reading *r, char *line);
};

static const char slurm_tree[] = "Slurm, tree of switches";
static const char slurm_blocks[] = "Slurm, blocks";
static const char traced[] = "ibtracert";

static const struct format formats[] = {
    {"SwitchName", SLURM, slurm_tree, read_slurm_line},
    {"BlockName", SLURM, slurm_blocks, read_slurm_line},
    {"BlockSizes", SLURM, slurm_blocks, read_slurm_line},
    {"AggregatedBlock", SLURM, slurm_blocks, read_slurm_line},
    {"From ", INFINIBAND, traced, read_trace_line},
    {NULL, 0, NULL, NULL},
};
static const struct format ibnetdiscover = {NULL, INFINIBAND, "ibnetdiscover",
                                            read_ibnetdiscover_line};

static const struct format *format_of(const char *line)
{
    for (const struct format *f = formats; f->beginning != NULL; f++) {
        size_t length = strlen(f->beginning);
        if (strncasecmp(line, f->beginning, length) == 0 &&
            (f->family != SLURM || *skip_blanks(line + length) == '='))
            return f;
    }
    return begins_ibnetdiscover(line) ? &ibnetdiscover : NULL;
}

/* Comments, and the prompts with the commands that produced an ibtracert list. */
static int is_comment(const char *line)
{
    return *line == '\0' || *line == '#' || *line == '$';
}

static int refuse_unknown(const reading *r, const char *line)
{
    return REFUSE_LINE(r,
                       "'%.40s' begins no topology: MatrixMarket, SwitchName= or BlockName= of "
                       "Slurm, ibnetdiscover or ibtracert",
                       line);
}

static int refuse_include(const reading *r)
{
    return REFUSE_LINE(
        r, "Include is not followed: save what 'scontrol show topology' prints and name that file");
}

/* Traces follow a list of links. */
static const char *combined_format(const char *before, const struct format *now)
{
    if (before == NULL || before == now->name)
        return now->name;
    if (before == traced || now->name == traced)
        return traced;
    return now->name == slurm_tree ? slurm_tree : before;
}

/* One line adds at most as many parts as a list has names. */
static int check_size(const reading *r)
{
    const topo_fabric *f = r->fabric;
    const struct {
        const char *what;
        size_t count;
    } parts[] = {{"hosts and switches", f->keys.count},
                 {"ends of links", f->arcs},
                 {"traces", f->traces},
                 {"blocks in aggregates", slurm_members(r)}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].count > MOST_PARTS)
            return REFUSE_LINE(r, "more than %d %s", MOST_PARTS, parts[k].what);
    return 0;
}

static int read_lines(reading *r, text_lines *text)
{
    const struct format *now = NULL;
    int rc;
    while ((rc = text_next(text)) == 1) {
        char *line = text->line + strspn(text->line, " \t");
        const struct format *begun = format_of(line);
        r->line = text->number;
        if (is_comment(line))
            continue;
        if (strncasecmp(line, "Include", strlen("Include")) == 0)
            return refuse_include(r);
        if (begun == NULL && now == NULL)
            return refuse_unknown(r, line);
        if (begun != NULL && now != NULL && begun->family != now->family)
            return REFUSE_LINE(r, "%s in a file of %s", begun->name, now->name);
        now = begun != NULL ? begun : now;
        if (begun != NULL)
            r->fabric->format = combined_format(r->fabric->format, begun);
        rc = now->read_line(r, line);
        if (rc == 0)
            rc = check_size(r);
        if (rc != 0)
            return rc;
    }
    return rc;
}

/* A truncated file mentions vertices that it does not describe. */
static int check_described(const topo_fabric *f, matrix_error *error)
{
    for (size_t i = 0; i < f->arcs; i++)
        if (f->vertex[f->arc[i].to].described == 0)
            return matrix_refuse(error, f->arc[i].line,
                                 "%.40s is named here, but no line describes it: part of the "
                                 "output is missing",
                                 fabric_key(f, f->arc[i].to));
    return 0;
}

static int finish_infiniband(const reading *r)
{
    if (r->trace.open)
        return REFUSE_LINE(r, "the last trace has no 'To' line");
    return check_described(r->fabric, r->error);
}

static int finish_lines(reading *r)
{
    if (r->fabric->format == NULL)
        return matrix_refuse(r->error, 0, "nothing in it");
    int rc = r->slurm != NULL ? finish_slurm(r) : finish_infiniband(r);
    return rc == 0 ? fabric_finish(r->fabric, r->error) : rc;
}

static int topo_read_text(FILE *stream, topo_fabric *f, matrix_error *error)
{
    reading r = {.fabric = f, .error = error};
    text_lines text = {.stream = stream, .error = error};
    int rc = read_lines(&r, &text);
    if (rc == 0)
        rc = finish_lines(&r);
    free_slurm(r.slurm);
    free(text.line);
    return rc;
}

/* Reads the first two characters and rewinds. 1: Matrix Market. */
static int begins_with_banner(FILE *stream, matrix_error *error)
{
    char start[2];
    off_t at = ftello(stream);
    size_t got = at < 0 ? 0 : fread(start, 1, sizeof start, stream);
    if (at < 0 || ferror(stream) || fseeko(stream, at, SEEK_SET) != 0)
        return matrix_refuse_stream(error, errno);
    return got == sizeof start && memcmp(start, "%%", sizeof start) == 0;
}

int topo_fabric_read(FILE *stream, topo_fabric **fabric, matrix_error *error)
{
    int banner = begins_with_banner(stream, error);
    if (banner < 0)
        return banner;
    topo_fabric *f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    int rc = banner ? read_market_hops(stream, f, error) : topo_read_text(stream, f, error);
    if (rc == 0)
        *fabric = f;
    else
        topo_fabric_free(f);
    return rc;
}

int topo_read(FILE *stream, const char *const *hosts, size_t nodes, topo *t, matrix_error *error)
{
    topo_fabric *fabric;
    int rc = topo_fabric_read(stream, &fabric, error);
    if (rc != 0)
        return rc;
    rc = topo_from_fabric(fabric, hosts, nodes, t, error);
    topo_fabric_free(fabric);
    return rc;
}
