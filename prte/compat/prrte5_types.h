/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs of PRRTE 5.0.0rc1: of each the members in use and what lies before them, then bytes
 * up to its size. See prrte5.h.
 */
#ifndef PRRTE5_TYPES_H
#define PRRTE5_TYPES_H

#include "src/include/pmix_config.h"

#include <hwloc.h>
#include <pmix_common.h>

#include "src/class/pmix_list.h"
#include "src/class/pmix_pointer_array.h"
#include "src/mca/mca.h"

typedef uint32_t prte_app_idx_t;
typedef uint16_t prte_mapping_policy_t, prte_binding_policy_t, prte_attribute_key_t;

typedef struct {
    pmix_object_t super;
    void *job;
    prte_app_idx_t idx;
    char *app;
    int32_t num_procs;
    unsigned char rest[580];
} prte_app_context_t;

typedef struct {
    pmix_object_t super;
    int index;
    hwloc_topology_t topo;
} prte_topology_t;

typedef struct {
    pmix_list_item_t super;
    int32_t index;
    char *name, *rawname, **aliases;
    void *daemon;
    hwloc_bitmap_t available, jobcache;
    uint16_t num_procs;
    pmix_pointer_array_t *procs;
    int8_t state;
    int32_t slots, slots_available, slots_inuse, slots_max;
    prte_topology_t *topology;
    void *topodiff;
    uint8_t flags;
    unsigned char rest[183];
} prte_node_t;

typedef struct {
    pmix_object_t super;
    prte_mapping_policy_t mapping, ranking;
    prte_binding_policy_t binding;
    bool rtos_set;
    int32_t num_new_daemons;
    pmix_rank_t daemon_vpid_start;
    int32_t num_nodes;
    pmix_pointer_array_t *nodes;
} prte_job_map_t;

typedef struct {
    pmix_list_item_t super;
    int exit_code;
    char **personality;
    void *schizo;
    pmix_nspace_t nspace;
    char *session_dir;
    int index;
    pmix_rank_t offset;
    void *session;
    pmix_pointer_array_t *apps;
    prte_app_idx_t num_apps;
    pmix_rank_t stdin_target;
    int32_t total_slots_alloc;
    pmix_rank_t num_procs;
    pmix_pointer_array_t *procs;
    prte_job_map_t *map;
    unsigned char between[388];
    uint16_t flags;
    pmix_list_t attributes;
    unsigned char rest[760];
} prte_job_t;

typedef struct {
    pmix_list_item_t super;
    pmix_proc_t name;
    unsigned char between[52];
    char *cpuset;
    unsigned char rest[184];
} prte_proc_t;

/* Made by PRRTE, which alone knows its size. */
typedef struct {
    uint16_t cpus_per_rank;
    bool use_hwthreads;
    int stream, verbosity;
    char *cpuset;
    hwloc_bitmap_t job_cpuset;
    bool bindsupport, donotlaunch, membind_warned, oversubscribe, overload;
    prte_mapping_policy_t map;
    bool mapgiven, mapspan, ordered;
    prte_binding_policy_t mapdepth;
    unsigned ncpus;
    int nprocs, maptype, pprn;
    uint16_t rank;
    bool userranked;
    unsigned nnodes, total_nobjs, nobjs;
    prte_binding_policy_t bind, appbind;
    bool dobind;
    int hwb;
    uint16_t limit;
    hwloc_bitmap_t target;
    void *place[2];
    int app_idx;
} prte_rmaps_options_t;

typedef struct {
    pmix_list_t selected_modules;
    unsigned char rest[248];
} prte_rmaps_base_t;

typedef struct {
    int (*map_job)(prte_job_t *jdata, prte_rmaps_options_t *options);
} prte_rmaps_base_module_t;
typedef pmix_mca_base_component_t prte_rmaps_base_component_t;

#endif
