/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc's description of a machine. */
#include "topo/machine.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

struct topo_machine {
    hwloc_topology_t topology;
};

static const hwloc_obj_type_t type_of_level[TOPO_SAME_MACHINE] = {
    HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE};

/* The size that hwloc expects includes the NUL. */
static int load_xml(hwloc_topology_t topology, const char *xml, size_t length)
{
    if (length == 0 || length >= INT_MAX)
        return -EBADMSG;
    char *text = base_alloc(length + 1, 1);
    if (text == NULL)
        return -ENOMEM;
    memcpy(text, xml, length);
    text[length] = '\0';
    int good = hwloc_topology_set_xmlbuffer(topology, text, (int)(strlen(text) + 1)) == 0 &&
               hwloc_topology_load(topology) == 0;
    free(text);
    return good ? 0 : -EBADMSG;
}

int topo_machine_read(const char *xml, size_t length, topo_machine **machine)
{
    topo_machine *m = calloc(1, sizeof *m);
    if (m == NULL)
        return -ENOMEM;
    if (hwloc_topology_init(&m->topology) != 0) {
        free(m);
        return -ENOMEM;
    }
    int rc = load_xml(m->topology, xml, length);
    if (rc == 0)
        *machine = m;
    else
        topo_machine_free(m);
    return rc;
}

void topo_machine_free(topo_machine *machine)
{
    if (machine == NULL)
        return;
    hwloc_topology_destroy(machine->topology);
    free(machine);
}

/* Whether one object of that type contains all processors. */
static int is_in_one(hwloc_topology_t topology, hwloc_obj_type_t type,
                     hwloc_const_bitmap_t processors)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        if (hwloc_bitmap_isincluded(processors, object->cpuset))
            return 1;
    return 0;
}

/* hwloc ignores what is no number. */
static int add_processors(hwloc_bitmap_t all, hwloc_bitmap_t one, const char *list)
{
    if (*list == '\0' || strspn(list, "0123456789-,") != strlen(list))
        return -EINVAL;
    if (hwloc_bitmap_list_sscanf(one, list) != 0 || hwloc_bitmap_iszero(one) ||
        hwloc_bitmap_weight(one) < 0)
        return -EINVAL;
    return hwloc_bitmap_or(all, all, one) == 0 ? 0 : -ENOMEM;
}

int topo_machine_level(const topo_machine *machine, const char *processors, const char *others,
                       topo_level *level)
{
    hwloc_bitmap_t all = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
    int rc = all == NULL || one == NULL ? -ENOMEM : add_processors(all, one, processors);
    if (rc == 0)
        rc = add_processors(all, one, others);
    if (rc == 0 &&
        !hwloc_bitmap_isincluded(all, hwloc_topology_get_topology_cpuset(machine->topology)))
        rc = -EINVAL;
    if (rc == 0) {
        int found = TOPO_SAME_CORE;
        while (found < TOPO_SAME_MACHINE &&
               !is_in_one(machine->topology, type_of_level[found], all))
            found++;
        *level = (topo_level)found;
    }
    hwloc_bitmap_free(all);
    hwloc_bitmap_free(one);
    return rc;
}
