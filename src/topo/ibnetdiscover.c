/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of ibnetdiscover: a record for each switch, adapter and router, a line for each of its
 * ports. */
#include <string.h>

#include "topo/read.h"
#include "topo/text.h"

/* The first words of lines that are no ports. KIND_UNKNOWN: a line of a record without links. */
struct line_type {
    const char *word;
    enum vertex_kind kind;
};

static const struct line_type line_types[] = {
    {"Switch", KIND_SWITCH},      {"Ca", KIND_ADAPTER},         {"Hca", KIND_ADAPTER},
    {"Rt", KIND_ROUTER},          {"vendid", KIND_UNKNOWN},     {"devid", KIND_UNKNOWN},
    {"sysimgguid", KIND_UNKNOWN}, {"switchguid", KIND_UNKNOWN}, {"caguid", KIND_UNKNOWN},
    {"hcaguid", KIND_UNKNOWN},    {"rtguid", KIND_UNKNOWN},     {"Chassis", KIND_UNKNOWN},
    {NULL, KIND_UNKNOWN}};

static size_t word_length(const char *line)
{
    return strcspn(line, " \t=");
}

static const struct line_type *type_of(const char *line)
{
    const struct line_type *type = line_types;
    size_t length = word_length(line);
    while (type->word != NULL &&
           (strlen(type->word) != length || strncmp(line, type->word, length) != 0))
        type++;
    return type->word != NULL ? type : NULL;
}

int begins_ibnetdiscover(const char *line)
{
    return type_of(line) != NULL;
}

static enum vertex_kind kind_of_id(const char *id, size_t length)
{
    if (length < 2 || id[1] != '-')
        return KIND_UNKNOWN;
    return *id == 'S'   ? KIND_SWITCH
           : *id == 'H' ? KIND_ADAPTER
           : *id == 'R' ? KIND_ROUTER
                        : KIND_UNKNOWN;
}

/* "S-0008f10400000010": the key is the number, since ibtracert omits the letter. */
static int vertex_of_id(reading *r, const char *id, size_t length, size_t *v)
{
    uint64_t guid;
    const char *at = id + 2;
    int rc = length == 18 && kind_of_id(id, length) != KIND_UNKNOWN && scan_hex(&at, &guid) &&
                     at == id + 18
                 ? fabric_vertex_of_guid(r->fabric, guid, r->line, v)
                 : fabric_vertex(r->fabric, id, length, r->line, v);
    if (rc == 0 && r->fabric->vertex[*v].kind == KIND_UNKNOWN)
        r->fabric->vertex[*v].kind = kind_of_id(id, length);
    return rc;
}

static int bad_header(const reading *r)
{
    return REFUSE_LINE(r, "not of the form TYPE PORTS \"ID\" # \"DESCRIPTION\"");
}

/* After the '#': a description, which may contain quotes. */
static int read_description(reading *r, const char *at)
{
    topo_fabric *f = r->fabric;
    size_t v = r->record.vertex;
    const char *start = strchr(at, '"'), *end = strrchr(at, '"');
    if (start == NULL || start == end)
        return bad_header(r);
    return f->vertex[v].kind == KIND_ADAPTER
               ? fabric_name_adapter(f, v, start + 1, (size_t)(end - start) - 1)
               : 0;
}

static int begin_vertex(reading *r, enum vertex_kind kind, const char *at)
{
    const char *id;
    size_t length;
    uint64_t ports;
    at = skip_blanks(at);
    if (!scan_number(&at, UINT32_MAX, &ports))
        return bad_header(r);
    at = skip_blanks(at);
    if (!scan_quoted(&at, &id, &length) || length == 0)
        return bad_header(r);
    at = skip_blanks(at);
    int rc = *at == '#' ? vertex_of_id(r, id, length, &r->record.vertex) : bad_header(r);
    if (rc != 0)
        return rc;
    vertex *v = &r->fabric->vertex[r->record.vertex];
    if (v->described != 0)
        return REFUSE_LINE(r, "%.40s is described a second time, first on line %zu",
                           fabric_key(r->fabric, r->record.vertex), v->described);
    v->described = r->line;
    v->kind = kind;
    r->fabric->all_links = 1;
    r->record.open = 1;
    return read_description(r, at + 1);
}

static void pass_extra(const char **at)
{
    uint64_t number;
    if (scan_text(at, "[ext ") || scan_text(at, "[ext"))
        *at += strcspn(*at, "]") + (strchr(*at, ']') != NULL);
    const char *p = *at;
    if (scan_text(&p, "(") && scan_hex(&p, &number) && scan_text(&p, ")"))
        *at = p;
}

/* [PORT](PORTGUID) "ID"[PORT](PORTGUID) # ... */
static int read_port(reading *r, const char *at)
{
    arc a = {.from = r->record.vertex, .line = r->line};
    const char *id = NULL;
    size_t length = 0;
    int good = scan_port(&at, &a.from_port);
    pass_extra(&at);
    at = skip_blanks(at);
    good = good && scan_quoted(&at, &id, &length) && length > 0 && scan_port(&at, &a.to_port);
    if (!good)
        return REFUSE_LINE(r, "not of the form [PORT] \"ID\"[PORT]");
    int rc = vertex_of_id(r, id, length, &a.to);
    return rc == 0 ? fabric_add_arc(r->fabric, a) : rc;
}

int read_ibnetdiscover_line(reading *r, char *line)
{
    const struct line_type *type = type_of(line);
    if (type != NULL)
        return type->kind != KIND_UNKNOWN ? begin_vertex(r, type->kind, line + word_length(line))
                                          : 0;
    if (*line != '[')
        return REFUSE_LINE(r, "'%.60s' where ibnetdiscover has a port or a new record", line);
    if (!r->record.open)
        return REFUSE_LINE(r, "a port without a Switch, Ca or Rt line before it");
    return read_port(r, line);
}
