/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Declares what the components use of PRRTE 5.0.0rc1, for an installation without PRRTE's headers,
 * like Debian's. A PRRTE that differs is not used: see prrte_fits.
 */
#ifndef PRRTE5_H
#define PRRTE5_H

#include "src/include/pmix_config.h"

#include "prte_version.h"

#include "prrte5_schizo.h"
#include "prrte5_types.h"
#include "src/mca/base/pmix_base.h"
#include "src/mca/base/pmix_mca_base_framework.h"

/* The only release for which this was checked. */
#define PRRTE_BUILT_FOR "5.0.0rc1"

#define PRTE_EXPORT PMIX_EXPORT
#define PRTE_MCA_BASE_VERSION(type)                                                                \
    PMIX_MCA_BASE_VERSION_2_1_0("prte", 5, 0, 0, #type, PRTE_MCA_##type##_VERSION, 0, 0)
#define PRTE_MCA_rmaps_VERSION 5
#define PRTE_MCA_schizo_VERSION 1
#define PRTE_CLI_MAPBY "mapby"
#define PRTE_CLI_DVM "dvm"

enum {
    PRTE_SUCCESS = 0,
    PRTE_ERR_OUT_OF_RESOURCE = PMIX_EXTERNAL_ERR_BASE - 2,
    PRTE_ERR_NOT_AVAILABLE = PMIX_EXTERNAL_ERR_BASE - 16,
    PRTE_ERR_SILENT = PMIX_EXTERNAL_ERR_BASE - 43,
    PRTE_ERR_TAKE_NEXT_OPTION = PMIX_EXTERNAL_ERR_BASE - 46,
    PRTE_ERROR_DEFAULT_EXIT_CODE = 1,
};

/* ---- policies, flags, attributes ---- */

enum {
    PRTE_MAPPING_BYSLOT = 9,
    PRTE_MAPPING_NO_USE_LOCAL = 0x0100,
    PRTE_MAPPING_GIVEN = 0x4000,
    PRTE_BIND_TO_NONE = 1,
    PRTE_BIND_GIVEN = 0x4000,
    PRTE_NODE_FLAG_OVERSUBSCRIBED = 0x04,
    PRTE_NODE_FLAG_MAPPED = 0x08,
    PRTE_JOB_FLAG_FORWARD_OUTPUT = 0x0020,
    PRTE_JOB_FLAG_RESTART = 0x0200,
    PRTE_JOB_FLAG_OVERSUBSCRIBED = 0x0800,
    PRTE_JOB_FLAG_TOOL = 0x1000,
    PRTE_JOB_LAUNCH_PROXY = 240,
    PRTE_PROC_MASTER = 0x04,
};
#define PRTE_SET_MAPPING_POLICY(target, policy)                                                    \
    ((target) = (uint16_t)((policy) | ((target)&0xff00)))
#define PRTE_SET_MAPPING_DIRECTIVE(target, directive)                                              \
    ((target) = (uint16_t)((target) | (directive)))
#define PRTE_GET_MAPPING_POLICY(policy) ((policy)&0x00ff)
#define PRTE_GET_MAPPING_DIRECTIVE(policy) ((policy)&0xff00)
#define PRTE_BINDING_POLICY_IS_SET(policy) ((policy)&PRTE_BIND_GIVEN)
#define PRTE_FLAG_TEST(object, flag) ((object)->flags & (flag))
#define PRTE_FLAG_SET(object, flag) ((object)->flags |= (flag))

/* ---- this process ---- */

typedef struct {
    pmix_proc_t myproc, my_hnp;
    char *my_hnp_uri;
    pmix_proc_t my_parent;
    pid_t hnp_pid;
    pmix_rank_t num_daemons;
    int num_nodes;
    char *nodename, **aliases;
    uid_t uid, euid;
    gid_t gid, egid;
    pid_t pid;
    uint8_t proc_type;
    unsigned char rest[67];
} prte_process_info_t;

#define PRTE_PROC_IS_MASTER (PRTE_PROC_MASTER & prte_process_info.proc_type)
#define PRTE_PROC_MY_NAME (&prte_process_info.myproc)
#define PRTE_JOBID_PRINT(nspace) prte_util_print_jobids(nspace)
#define PRTE_UPDATE_EXIT_STATUS(status)                                                            \
    (prte_exit_status = 0 == prte_exit_status ? (status) : prte_exit_status)

/* ---- variables and functions ---- */

extern const char prte_version_string[];
extern int prte_exit_status;
extern pmix_pointer_array_t *prte_node_pool;
extern prte_process_info_t prte_process_info;
extern prte_rmaps_base_t prte_rmaps_base;
extern prte_schizo_base_t prte_schizo_base;
extern pmix_mca_base_framework_t prte_rmaps_base_framework;
extern pmix_class_t prte_job_t_class, prte_job_map_t_class, prte_app_context_t_class,
    prte_node_t_class, prte_proc_t_class, prte_topology_t_class,
    prte_schizo_base_active_module_t_class;

bool prte_get_attribute(pmix_list_t *attributes, prte_attribute_key_t key, void **data,
                        pmix_data_type_t type);
const char *prte_attr_key_to_str(prte_attribute_key_t key);
char *prte_util_print_jobids(const pmix_nspace_t job);
prte_job_t *prte_get_job_data_object(const pmix_nspace_t job);

int prte_schizo_base_sanity(pmix_cli_result_t *results);

char *prte_rmaps_base_print_mapping(prte_mapping_policy_t mapping);
prte_binding_policy_t prte_rmaps_base_derive_binding(prte_rmaps_options_t *options);
int prte_rmaps_base_get_target_nodes(pmix_list_t *nodes, int32_t *slots, prte_job_t *jdata,
                                     prte_app_context_t *app, prte_mapping_policy_t policy,
                                     bool initial, bool silent, bool keep_all);
prte_proc_t *prte_rmaps_base_setup_proc(prte_job_t *jdata, prte_app_idx_t idx, prte_node_t *node,
                                        hwloc_obj_t obj, prte_rmaps_options_t *options);
void prte_rmaps_base_get_cpuset(prte_job_t *jdata, prte_node_t *node,
                                prte_rmaps_options_t *options);
int prte_rmaps_base_get_ncpus(prte_node_t *node, hwloc_obj_t obj, prte_rmaps_options_t *options);
bool prte_rmaps_base_check_avail(prte_job_t *jdata, prte_app_context_t *app, prte_node_t *node,
                                 pmix_list_t *nodes, hwloc_obj_t obj,
                                 prte_rmaps_options_t *options);
int prte_rmaps_base_check_support(prte_job_t *jdata, prte_node_t *node,
                                  prte_rmaps_options_t *options);
void prte_proc_print(char **output, prte_job_t *jdata, prte_proc_t *src);
int prte_rmaps_base_check_oversubscribed(prte_job_t *jdata, prte_app_context_t *app,
                                         prte_node_t *node, prte_rmaps_options_t *options);
int prte_rmaps_base_compute_vpids(prte_job_t *jdata, prte_rmaps_options_t *options, int app_idx,
                                  uint32_t *next_vpid);

#endif
