/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of ibtracert. */
#include <string.h>

#include "topo/read.h"
#include "topo/text.h"

/* "... {0x0002c90300000010} ..."; *at is then after the '}'. */
static int scan_guid(const char **at, uint64_t *guid)
{
    const char *p = strchr(*at, '{');
    if (p == NULL || !scan_text(&p, "{0x") || !scan_hex(&p, guid) || !scan_text(&p, "}"))
        return 0;
    *at = p;
    return 1;
}

static int bad_trace(const reading *r)
{
    return REFUSE_LINE(r, "not a line of ibtracert: 'From ca {GUID} ...', '[PORT] -> ... "
                          "{GUID}[PORT] ...' or 'To ca {GUID} ...'");
}

/* One end of a trace. Without types ("ibtracert -n") an end that no line calls a switch is an
 * adapter. */
static int trace_end(reading *r, const char *at, size_t *v)
{
    uint64_t guid;
    topo_fabric *f = r->fabric;
    int is_switch = strncmp(at, "switch", 6) == 0;
    if (!scan_guid(&at, &guid))
        return bad_trace(r);
    int rc = fabric_vertex_of_guid(f, guid, r->line, v);
    if (rc != 0)
        return rc;
    const char *start = strchr(at, '"'), *end = strrchr(at, '"');
    vertex *named = &f->vertex[*v];
    named->described = named->described != 0 ? named->described : r->line;
    if (is_switch)
        named->kind = KIND_SWITCH;
    else if (named->kind == KIND_UNKNOWN && start != end)
        return fabric_name_adapter(f, *v, start + 1, (size_t)(end - start) - 1);
    else if (named->kind == KIND_UNKNOWN)
        named->kind = KIND_ADAPTER;
    return 0;
}

static int begin_trace(reading *r, const char *at)
{
    if (r->trace.open)
        return REFUSE_LINE(r, "a trace begins, but the one before it has no 'To' line");
    int rc = trace_end(r, at, &r->trace.from);
    r->trace.open = rc == 0;
    r->trace.hops = 0;
    r->trace.at = r->trace.from;
    return rc;
}

/* Links the previous hop, whose end is known to be a switch once another hop follows. */
static int link_hop(reading *r)
{
    arc a = {r->trace.before_last, r->trace.at, r->line, r->trace.out, r->trace.in};
    vertex *v = &r->fabric->vertex[r->trace.at];
    if (r->trace.hops == 0)
        return 0;
    if (v->kind == KIND_UNKNOWN)
        v->kind = KIND_SWITCH;
    v->described = v->described != 0 ? v->described : r->line;
    return fabric_add_arc(r->fabric, a);
}

static int add_hop(reading *r, const char *at)
{
    uint64_t guid;
    uint32_t out, in;
    if (!scan_port(&at, &out) || !scan_text(&at, " -> ") || !scan_guid(&at, &guid) ||
        !scan_port(&at, &in))
        return bad_trace(r);
    if (!r->trace.open)
        return REFUSE_LINE(r, "a hop without a 'From' line before it");
    int rc = link_hop(r);
    r->trace.before_last = r->trace.at;
    r->trace.out = out;
    r->trace.in = in;
    r->trace.hops++;
    /* The last hop names the adapter's port, not the adapter, which the 'To' line does. */
    return rc == 0 ? fabric_vertex_of_guid(r->fabric, guid, r->line, &r->trace.at) : rc;
}

static int end_trace(reading *r, const char *at)
{
    size_t to;
    if (!r->trace.open || r->trace.hops == 0 || r->trace.hops >= TOPO_UNREACHED)
        return REFUSE_LINE(r, "a 'To' line without a 'From' line and hops before it");
    int rc = trace_end(r, at, &to);
    if (rc == 0) {
        r->trace.at = to;
        rc = link_hop(r);
    }
    r->trace.open = 0;
    return rc == 0
               ? fabric_add_trace(r->fabric, (trace){r->trace.from, to, (uint16_t)r->trace.hops})
               : rc;
}

int read_trace_line(reading *r, char *line)
{
    const char *at = line;
    if (scan_text(&at, "From "))
        return begin_trace(r, at);
    if (scan_text(&at, "To "))
        return end_trace(r, at);
    return *at == '[' ? add_hop(r, at) : bad_trace(r);
}
