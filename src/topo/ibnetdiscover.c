/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of ibnetdiscover, and opensm's list of links. */
#include <errno.h>
#include <string.h>

#include "topo/read.h"
#include "topo/text.h"

/* ---- ibnetdiscover: a record for each switch, adapter and router, a line for each of its ports
 * ---- */

struct record_type {
    const char *word;
    enum vertex_kind kind;
};

static const struct record_type record_types[] = {{"Switch", KIND_SWITCH},
                                                  {"Ca", KIND_ADAPTER},
                                                  {"Hca", KIND_ADAPTER},
                                                  {"Rt", KIND_ROUTER},
                                                  {NULL, 0}};

/* Lines of a record without links. */
static const char *const attributes[] = {
    "vendid=",  "devid=",  "sysimgguid=", "switchguid=", "caguid=",
    "hcaguid=", "rtguid=", "Chassis ",    NULL};

static int is_attribute(const char *line)
{
    for (const char *const *a = attributes; *a != NULL; a++)
        if (strncmp(line, *a, strlen(*a)) == 0)
            return 1;
    return 0;
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

/* "S-0008f10400000010": the key is the number, since other files omit the letter. */
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

static int add_lid(reading *r, uint64_t lid, size_t v)
{
    lid_owner owner = {(size_t)lid, v, r->line};
    if (lid > HIGHEST_LID)
        return matrix_refuse(r->error, r->line,
                             "%llu is no local address of an adapter or a switch",
                             (unsigned long long)lid);
    return lid == 0 ? 0 : fabric_add_lid(r->fabric, &owner);
}

/* "... lid 21 lmc 0 ..." after the '#'. */
static int read_lid(reading *r, const char *comment)
{
    uint64_t lid;
    const char *at = strstr(comment, "lid ");
    if (at == NULL || !scan_text(&at, "lid ") || !scan_number(&at, UINT32_MAX, &lid) ||
        !scan_text(&at, " lmc "))
        return 0;
    return add_lid(r, lid, r->record.vertex);
}

static int bad_header(const reading *r)
{
    return matrix_refuse(r->error, r->line, "not of the form TYPE PORTS \"ID\" # \"DESCRIPTION\"");
}

/* After the '#': a description, which may contain quotes, and for a switch its address. */
static int read_description(reading *r, const char *at)
{
    topo_fabric *f = r->fabric;
    size_t v = r->record.vertex;
    const char *start = strchr(at, '"'), *end = strrchr(at, '"');
    if (start == NULL || start == end)
        return bad_header(r);
    int rc = f->vertex[v].kind == KIND_ADAPTER
                 ? fabric_name_adapter(f, v, start + 1, (size_t)(end - start) - 1)
                 : 0;
    return rc == 0 ? read_lid(r, end + 1) : rc;
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
        return matrix_refuse(r->error, r->line,
                             "%.40s is described a second time, first on line %zu",
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
        return matrix_refuse(r->error, r->line, "not of the form [PORT] \"ID\"[PORT]");
    int rc = vertex_of_id(r, id, length, &a.to);
    if (rc == 0)
        rc = fabric_add_arc(r->fabric, &a);
    const char *comment = strchr(at, '#');
    if (rc != 0 || comment == NULL || r->fabric->vertex[a.from].kind == KIND_SWITCH)
        return rc;
    return read_lid(r, comment + 1);
}

int read_ibnetdiscover_line(reading *r, char *line)
{
    if (is_attribute(line))
        return 0;
    for (const struct record_type *type = record_types; type->word != NULL; type++) {
        const char *at = line;
        if (scan_text(&at, type->word) && (*at == ' ' || *at == '\t'))
            return begin_vertex(r, type->kind, at);
    }
    if (*line != '[')
        return matrix_refuse(r->error, r->line,
                             "'%.60s' where ibnetdiscover has a port or a new record", line);
    if (!r->record.open)
        return matrix_refuse(r->error, r->line, "a port without a Switch, Ca or Rt line before it");
    return read_port(r, line);
}

/* ---- opensm-subnet.lst: a line for each end of a link ---- */

/* The number after a key such as " LID:", in base 16. */
static int find_hex(const char *from, const char *to, const char *key, uint64_t *number)
{
    const char *at = strstr(from, key);
    return at != NULL && at < to && scan_text(&at, key) && scan_hex(&at, number);
}

struct end_of_link {
    size_t vertex;
    uint32_t port;
};

/* { CA Ports:01 ... NodeGUID:HEX ... {DESCRIPTION} LID:HEX PN:HEX } */
static int read_link_end(reading *r, const char *start, const char *end, struct end_of_link *e)
{
    uint64_t guid, lid, port;
    const char *description = strchr(start + 1, '{'), *tail = description;
    for (const char *at = description; at != NULL && at < end; at = strstr(at + 1, "} LID:"))
        tail = at;
    if (tail == NULL || tail == description || description > end ||
        !find_hex(start, end, " NodeGUID:", &guid) || !find_hex(tail, end, " LID:", &lid) ||
        !find_hex(tail, end, " PN:", &port) || port > UINT16_MAX)
        return matrix_refuse(r->error, r->line,
                             "not of the form { CA ... NodeGUID:HEX ... {NAME} LID:HEX PN:HEX }");
    int rc = fabric_vertex_of_guid(r->fabric, guid, r->line, &e->vertex);
    if (rc != 0)
        return rc;
    vertex *v = &r->fabric->vertex[e->vertex];
    int first = v->described == 0;
    v->described = first ? r->line : v->described;
    e->port = (uint32_t)port;
    if (first && strncmp(start, "{ SW", 4) == 0)
        v->kind = KIND_SWITCH;
    else if (first && strncmp(start, "{ CA", 4) == 0)
        rc = fabric_name_adapter(r->fabric, e->vertex, description + 1,
                                 (size_t)(tail - description) - 1);
    else if (first)
        v->kind = KIND_ROUTER;
    return rc == 0 ? add_lid(r, lid, e->vertex) : rc;
}

int read_subnet_line(reading *r, char *line)
{
    struct end_of_link from, to;
    char *middle = strstr(line, " } { ");
    char *end = middle != NULL ? strstr(middle + 5, " } ") : NULL;
    if (end == NULL)
        return matrix_refuse(r->error, r->line, "not of the form { ... } { ... } PHY=...");
    int rc = read_link_end(r, line, middle, &from);
    if (rc == 0)
        rc = read_link_end(r, middle + 3, end, &to);
    if (rc != 0)
        return rc;
    arc a = {from.vertex, to.vertex, r->line, from.port, to.port};
    r->fabric->all_links = 1;
    return fabric_add_arc(r->fabric, &a);
}
