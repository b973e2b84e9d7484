/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs of PRRTE 5.0.0rc1 for command lines. See prrte5_types.h.
 */
#ifndef PRRTE5_SCHIZO_H
#define PRRTE5_SCHIZO_H

#include "src/include/pmix_config.h"

#include "src/class/pmix_list.h"
#include "src/mca/mca.h"
#include "src/util/pmix_cmd_line.h"

typedef int (*prte_schizo_base_module_parse_cli_fn_t)(char **argv, pmix_cli_result_t *results,
                                                      bool silent);
typedef struct {
    char *name;
    void (*init)(void);
    prte_schizo_base_module_parse_cli_fn_t parse_cli;
    void (*parse_env)(void);
    int (*detect_proxy)(char *personalities);
    void (*between[8])(void);
    int (*check_sanity)(pmix_cli_result_t *results);
    void (*finalize)(void);
} prte_schizo_base_module_t;
typedef pmix_mca_base_component_t prte_schizo_base_component_t;

typedef struct {
    pmix_list_item_t super;
    int pri;
    prte_schizo_base_module_t *module;
    pmix_mca_base_component_t *component;
} prte_schizo_base_active_module_t;

typedef struct {
    pmix_list_t active_modules;
    unsigned char rest[40];
} prte_schizo_base_t;

#endif
