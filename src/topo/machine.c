/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc's description of a machine. */
#include "topo/machine.h"

#include "topo/local.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

static const hwloc_obj_type_t type_of_level[TOPO_SAME_MACHINE] = {
    HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE};

/* xml: NULL for the machine that this process runs on. -EIO: hwloc fails; -ENOMEM. */
static int machine_load(const char *xml, topo_machine **machine)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return -ENOMEM;
    /* The size that hwloc expects includes the NUL. */
    bool good =
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        (xml == NULL || hwloc_topology_set_xmlbuffer(topology, xml, (int)(strlen(xml) + 1)) == 0) &&
        hwloc_topology_load(topology) == 0;
    if (good)
        *machine = topology;
    else
        topo_machine_free(topology);
    return good ? 0 : -EIO;
}

int topo_machine_load(topo_machine **machine)
{
    return machine_load(NULL, machine);
}

int topo_machine_read(const char *xml, size_t length, topo_machine **machine)
{
    if (length == 0 || length >= INT_MAX)
        return -EBADMSG;
    char *text = strndup(xml, length);
    int rc = text == NULL ? -ENOMEM : machine_load(text, machine);
    free(text);
    return rc == -EIO ? -EBADMSG : rc;
}

void topo_machine_free(topo_machine *machine)
{
    if (machine != NULL)
        hwloc_topology_destroy(machine);
}

/* The object of that type that contains all processors; NULL if there is none. */
static hwloc_obj_t machine_find_object(topo_machine *machine, hwloc_obj_type_t type,
                                       hwloc_const_bitmap_t processors)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(machine, type, object)) != NULL)
        if (hwloc_bitmap_isincluded(processors, object->cpuset))
            return object;
    return NULL;
}

/* hwloc ignores what is no number. */
static int read_processors(topo_machine *machine, const char *list, hwloc_bitmap_t processors)
{
    if (*list == '\0' || strspn(list, "0123456789-,") != strlen(list) ||
        hwloc_bitmap_list_sscanf(processors, list) != 0 || hwloc_bitmap_iszero(processors) ||
        !hwloc_bitmap_isincluded(processors, hwloc_topology_get_topology_cpuset(machine)))
        return -EINVAL;
    return 0;
}

static int set_locality(topo_machine *machine, hwloc_const_bitmap_t processors, char **locality)
{
    char text[TOPO_SAME_MACHINE * sizeof "SK4294967295:"] = "";
    size_t used = 0;
    for (int level = 0; level < TOPO_SAME_MACHINE; level++) {
        hwloc_obj_t object = machine_find_object(machine, type_of_level[level], processors);
        if (object != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%u", used > 0 ? ":" : "",
                                     topo_locality_field[level], object->logical_index);
    }
    char *copy = strdup(text);
    if (copy == NULL)
        return -ENOMEM;
    *locality = copy;
    return 0;
}

int topo_machine_locality(topo_machine *machine, const char *processors, char **locality)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int rc = set == NULL ? -ENOMEM : read_processors(machine, processors, set);
    if (rc == 0)
        rc = set_locality(machine, set, locality);
    hwloc_bitmap_free(set);
    return rc;
}

int topo_machine_core_locality(topo_machine *machine, unsigned core, char **locality)
{
    hwloc_obj_t object = hwloc_get_obj_by_type(machine, HWLOC_OBJ_CORE, core);
    return object == NULL ? -EINVAL : set_locality(machine, object->cpuset, locality);
}

/* ---- this process ---- */

/* Whether it is bound to a part of the machine, and to which. */
static bool find_binding(topo_machine *machine, hwloc_bitmap_t set)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(machine);
    return hwloc_get_cpubind(machine, set, HWLOC_CPUBIND_PROCESS) == 0 &&
           hwloc_bitmap_and(set, set, all) == 0 && !hwloc_bitmap_iszero(set) &&
           !hwloc_bitmap_isequal(set, all);
}

int topo_machine_own_locality(topo_machine *machine, char **locality)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set == NULL)
        return -ENOMEM;
    char *text = NULL;
    int rc = find_binding(machine, set) ? set_locality(machine, set, &text) : 0;
    if (rc == 0)
        *locality = text;
    hwloc_bitmap_free(set);
    return rc;
}

/* ---- devices ---- */

static bool has_device(topo_machine *machine, hwloc_obj_osdev_type_t type)
{
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_osdev(machine, device)) != NULL)
        if (device->attr->osdev.type == type)
            return true;
    return false;
}

/* Raises saved[] by a device. */
static int approach_device(topo_machine *machine, hwloc_obj_t device, char *const *locality,
                           size_t count, unsigned char *saved)
{
    char *place = NULL;
    int rc = set_locality(machine, hwloc_get_non_io_ancestor_obj(machine, device)->cpuset, &place);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        int steps = topo_level_saves(topo_locality_level(locality[i], place));
        if (steps > saved[i])
            saved[i] = (unsigned char)steps;
    }
    free(place);
    return rc;
}

int topo_machine_near_network(topo_machine *machine, char *const *locality, size_t count,
                              unsigned char *saved)
{
    hwloc_obj_osdev_type_t type = has_device(machine, HWLOC_OBJ_OSDEV_OPENFABRICS)
                                      ? HWLOC_OBJ_OSDEV_OPENFABRICS
                                      : HWLOC_OBJ_OSDEV_NETWORK;
    hwloc_obj_t device = NULL;
    int rc = 0;
    memset(saved, 0, count);
    while (rc == 0 && (device = hwloc_get_next_osdev(machine, device)) != NULL)
        if (device->attr->osdev.type == type)
            rc = approach_device(machine, device, locality, count, saved);
    return rc;
}

/* ---- for people ---- */

static void describe_machine(topo_machine *machine, FILE *out)
{
    hwloc_obj_t device = NULL;
    fprintf(out, "packages\n%d\nNUMA nodes\n%d\ncores\n%d\n",
            hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE),
            hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE),
            hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE));
    while ((device = hwloc_get_next_osdev(machine, device)) != NULL)
        if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS ||
            device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK)
            fprintf(out, "network device\n%s\n", device->name);
}

int topo_machine_describe(FILE *out)
{
    topo_machine *machine;
    int rc = topo_machine_load(&machine);
    if (rc != 0)
        return rc;
    describe_machine(machine, out);
    topo_machine_free(machine);
    return 0;
}
