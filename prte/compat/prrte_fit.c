/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr1 */
#include "prrte_fit.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "prrte.h"

/* The first two numbers of the headers' release, the functions of its third, and all of a release
 * candidate's name. */
static bool release_fits(void)
{
    const char *letters = PRRTE_BUILT_FOR + strspn(PRRTE_BUILT_FOR, "0123456789.");
    int major, minor, release;

    return 3 == sscanf(prte_version_string, "%d.%d.%d", &major, &minor, &release) &&
           PRTE_VERSION_MAJOR == major && PRTE_VERSION_MINOR == minor &&
           PRRTE_HAS_KEEPALL(major, minor, release) ==
               PRRTE_HAS_KEEPALL(PRTE_VERSION_MAJOR, PRTE_VERSION_MINOR, PRTE_VERSION_RELEASE) &&
           ('\0' == *letters || 0 == strcmp(prte_version_string, PRRTE_BUILT_FOR));
}

/* Of a variable of PRRTE, as its library says. */
static size_t variable_size(const void *variable)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (0 == dladdr1(variable, &info, (void **)&symbol, RTLD_DL_SYMENT) || NULL == symbol)
        return 0;
    return (size_t)symbol->st_size;
}

/* The struct whose size differs; NULL: none. */
static const char *find_other_size(void)
{
    const struct {
        const char *name;
        size_t built, runs;
    } sizes[] = {
        {"prte_job_t", sizeof(prte_job_t), prte_job_t_class.cls_sizeof},
        {"prte_job_map_t", sizeof(prte_job_map_t), prte_job_map_t_class.cls_sizeof},
        {"prte_app_context_t", sizeof(prte_app_context_t), prte_app_context_t_class.cls_sizeof},
        {"prte_node_t", sizeof(prte_node_t), prte_node_t_class.cls_sizeof},
        {"prte_proc_t", sizeof(prte_proc_t), prte_proc_t_class.cls_sizeof},
        {"prte_topology_t", sizeof(prte_topology_t), prte_topology_t_class.cls_sizeof},
        {"prte_schizo_base_active_module_t", sizeof(prte_schizo_base_active_module_t),
         prte_schizo_base_active_module_t_class.cls_sizeof},
        {"prte_schizo_base_t", sizeof(prte_schizo_base_t), variable_size(&prte_schizo_base)},
        {"prte_rmaps_base_t", sizeof(prte_rmaps_base_t), variable_size(&prte_rmaps_base)},
        {"prte_process_info_t", sizeof(prte_process_info_t), variable_size(&prte_process_info)},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].built != sizes[i].runs)
            return sizes[i].name;
    return NULL;
}

bool prrte_fits(char reason[PRRTE_REASON_SIZE])
{
    const char *other;

    if (!release_fits()) {
        (void)snprintf(reason, PRRTE_REASON_SIZE,
                       "built for PRRTE %s (headers of %ld.%ld), but this is PRRTE %s",
                       PRRTE_BUILT_FOR, (long)PRTE_VERSION_MAJOR, (long)PRTE_VERSION_MINOR,
                       prte_version_string);
        return false;
    }
    other = find_other_size();
    /* from PRRTE 5 on: the structs of PRRTE 3 are those of its last release */
    if (NULL == other && 5 <= PRTE_VERSION_MAJOR)
        other = prrte_probe();
    if (NULL != other)
        (void)snprintf(reason, PRRTE_REASON_SIZE,
                       "built for PRRTE %s, but this PRRTE %s differs in %s", PRRTE_BUILT_FOR,
                       prte_version_string, other);
    return NULL == other;
}
