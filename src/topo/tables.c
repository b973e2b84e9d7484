/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding tables, as opensm and ibroute write them. */
#include <errno.h>
#include <string.h>

#include "topo/read.h"
#include "topo/text.h"

/* The first line of a table names the switch: "0x0008f10400000001 ...". */
static int begin_table(reading *r, const char *at)
{
    forwarding_table *table;
    uint64_t guid;
    if (!scan_text(&at, "0x") || !scan_hex(&at, &guid))
        return matrix_refuse(r->error, r->line,
                             "the first line of a forwarding table without the switch's GUID");
    int rc = fabric_vertex_of_guid(r->fabric, guid, r->line, &r->record.vertex);
    if (rc == 0)
        rc = fabric_table(r->fabric, r->record.vertex, &table);
    r->record.open = rc == 0;
    return rc;
}

/* Passes the address and the blanks after it. */
static int read_address(reading *r, const char **at, uint64_t *lid)
{
    if (!scan_text(at, "0x") || !scan_hex(at, lid) || *lid > HIGHEST_LID)
        return matrix_refuse(r->error, r->line, "'%.60s' where a forwarding table has an address",
                             *at);
    if (!r->record.open)
        return matrix_refuse(r->error, r->line,
                             "an entry of a forwarding table, but no line names its switch");
    *at = skip_blanks(*at);
    return 0;
}

static int add_table_entry(reading *r, uint64_t lid, uint64_t port)
{
    forwarding_table *table;
    int rc = fabric_table(r->fabric, r->record.vertex, &table);
    return rc == 0 ? fabric_forward(table, (size_t)lid, (unsigned char)port) : rc;
}

int read_ports_line(reading *r, char *line)
{
    uint64_t lid, port;
    const char *at = skip_blanks(line);
    if (scan_text(&at, "Unicast lids ")) {
        const char *guid = strstr(at, " guid ");
        return begin_table(r, guid != NULL ? guid + 6 : at);
    }
    if (strncmp(at, "Lid ", 4) == 0 || strncmp(at, "Port ", 5) == 0 ||
        strstr(at, " lids dumped") != NULL)
        return 0;
    int rc = read_address(r, &at, &lid);
    if (rc != 0)
        return rc;
    if (!scan_number(&at, NO_PORT, &port))
        return matrix_refuse(r->error, r->line, "'%.40s' where a port is expected", at);
    return add_table_entry(r, lid, port);
}

/* The hops in this format are redundant: its ports determine them. */
int read_fdbs_line(reading *r, char *line)
{
    uint64_t lid, port = NO_PORT;
    const char *at = line;
    if (scan_text(&at, "dump_ucast_routes: Switch "))
        return begin_table(r, at);
    if (strncmp(at, "LID ", 4) == 0)
        return 0;
    int rc = read_address(r, &at, &lid);
    if (rc != 0)
        return rc;
    int good = scan_text(&at, ":");
    at = skip_blanks(at);
    if (!good || (strncmp(at, "UNREACHABLE", 11) != 0 && !scan_number(&at, NO_PORT, &port)))
        return matrix_refuse(r->error, r->line, "not of the form 0xLID : PORT : HOPS : OPTIMAL");
    return add_table_entry(r, lid, port);
}
