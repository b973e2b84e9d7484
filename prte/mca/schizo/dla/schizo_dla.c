/* SPDX-License-Identifier: BSD-3-Clause
 *
 * schizo/dla: takes --map-by dla... from the command line of mpirun and prterun.
 *
 * PRRTE accepts a fixed list of mapping policies, and checks the command line before it opens a
 * mapper. The schizo modules parse that line. This component has no personality of its own: it puts
 * itself before the parser of each module, replaces the policy by a stock one with the same
 * qualifiers, and hands the text on to rmaps/dla. It also keeps the ranks' component path.
 */
#include <stdlib.h>
#include <string.h>

#include "dla/spec.h"
#include "prte/compat/prrte.h"
static int schizo_dla_query(pmix_mca_base_module_t **module, int *priority);

PRTE_EXPORT extern prte_schizo_base_component_t prte_mca_schizo_dla_component;
prte_schizo_base_component_t prte_mca_schizo_dla_component = {
    PRRTE_SCHIZO_VERSION,

    .pmix_mca_component_name = "dla",
    PMIX_MCA_BASE_MAKE_VERSION(component, PRTE_VERSION_MAJOR, PRTE_VERSION_MINOR,
                               PRTE_VERSION_RELEASE),
    .pmix_mca_query_component = schizo_dla_query,
};

/* ---- the policy ---- */

/* The text that PRRTE reads instead of this one, which the caller frees; hands the text on. NULL:
 * it is not for this component. */
static char *take_policy(const char *text)
{
    char *policy = dla_spec_is_dla(text) ? dla_spec_stock_policy(text) : NULL;
    if (NULL == policy || 0 != setenv(PRRTE_SPEC_VARIABLE, text, true)) {
        free(policy);
        return NULL;
    }
    if (PRRTE_BY_CONTEXT) /* there the mapper does not reach the ranks' environment */
        (void)setenv(DLA_PLACED_VARIABLE, "1", true);
    for (char *c = policy; '\0' != *c; c++)
        if (',' == *c)
            *c = ':'; /* by which alone PRRTE separates qualifiers */
    return policy;
}

/* ---- where it may be given ---- */

/* A job that is started on a persistent DVM is mapped by another process. */
static bool maps_here(pmix_cli_result_t *results)
{
    return PRTE_PROC_IS_MASTER && NULL == getenv("PRTEPROXY_USE_DVM") &&
           !pmix_cmd_line_is_taken(results, PRTE_CLI_DVM);
}

/* PRRTE's own message, which follows, does not say what to do. It reads the line twice. */
static void explain_refusal(pmix_cli_result_t *results)
{
    static bool explained;
    pmix_cli_item_t *option = pmix_cmd_line_get_param(results, PRTE_CLI_MAPBY);
    if (explained || NULL == option || NULL == option->values ||
        !dla_spec_is_dla(option->values[0]))
        return;
    explained = true;
    pmix_output(0, "rmaps:dla: --map-by dla is not for a job on a DVM: leave it out, and start "
                   "prte with PRTE_MCA_rmaps_dla_file=FILE, which places the jobs of the DVM");
}

static void take_option(pmix_cli_result_t *results)
{
    pmix_cli_item_t *option = pmix_cmd_line_get_param(results, PRTE_CLI_MAPBY);
    if (NULL == option || NULL == option->values || NULL == option->values[0])
        return;
    char *policy = take_policy(option->values[0]);
    if (NULL == policy)
        return;
    free(option->values[0]);
    option->values[0] = policy;
}

/* The default policy as a parameter; the option takes precedence. */
static void take_parameter(void)
{
    static const char *const names[] = {PRRTE_POLICY_VARIABLE,
                                        "PRTE_MCA_map_by",
                                        "PRTE_MCA_rmaps_default_mapping_policy",
                                        "OMPI_MCA_rmaps_default_mapping_policy",
                                        "PRTE_MCA_rmaps_base_mapping_policy",
                                        "OMPI_MCA_rmaps_base_mapping_policy"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        char *policy = NULL == value ? NULL : take_policy(value);
        if (NULL != policy) {
            (void)unsetenv(names[i]);
            (void)setenv(PRRTE_POLICY_VARIABLE, policy, true);
            free(policy);
        }
    }
}

static int take_map_by(int rc, pmix_cli_result_t *results)
{
    if (PRTE_SUCCESS != rc)
        return rc;
    if (!maps_here(results))
        explain_refusal(results);
    else if (NULL == pmix_cmd_line_get_param(results, PRTE_CLI_MAPBY))
        take_parameter();
    else
        take_option(results);
    return rc;
}

/* ---- the ranks' component path ---- */

/* The component path that a parameter file of PMIx sets; NULL if there is none. */
static const char *file_path(void)
{
    pmix_mca_base_var_file_value_t *value;
    PMIX_LIST_FOREACH(value, &pmix_mca_base_var_file_values, pmix_mca_base_var_file_value_t)
    {
        if (0 == strcmp("mca_base_component_path", value->mbvfv_var))
            return value->mbvfv_value;
    }
    return NULL;
}

/* PMIx hands such a path (Debian 13 has one) to the ranks as Open MPI's, instead of the folders in
 * which Open MPI looks by default, where fcoll/tatp is installed. These are named here, unless the
 * user sets a path; and PMIx's own path, because it takes over Open MPI's otherwise. */
static void keep_component_path(void)
{
    const char *path = file_path();
    if (NULL == path || NULL != getenv("OMPI_MCA_mca_base_component_path"))
        return;
    (void)setenv("OMPI_MCA_mca_base_component_path", "SYS_DEFAULT:USER_DEFAULT", true);
    (void)setenv("PMIX_MCA_mca_base_component_path", path, false);
}

/* ---- the parsers of the other modules ---- */

static int parse_cli_ompi(char **argv, pmix_cli_result_t *results, bool silent);
static int parse_cli_prte(char **argv, pmix_cli_result_t *results, bool silent);

static struct wrapped_module {
    const char *name;
    prte_schizo_base_module_parse_cli_fn_t before, parse_cli; /* before: NULL, not wrapped yet */
} wrapped[] = {{"ompi", NULL, parse_cli_ompi}, {"prte", NULL, parse_cli_prte}};

enum { WRAPPED_OMPI, WRAPPED_PRTE, WRAPPED };

static int parse_cli_ompi(char **argv, pmix_cli_result_t *results, bool silent)
{
    int rc = wrapped[WRAPPED_OMPI].before(argv, results, silent);
    if (PRTE_SUCCESS == rc)
        keep_component_path();
    return take_map_by(rc, results);
}

static int parse_cli_prte(char **argv, pmix_cli_result_t *results, bool silent)
{
    return take_map_by(wrapped[WRAPPED_PRTE].before(argv, results, silent), results);
}

static void warn_unused(const char *reason)
{
    if (PRTE_PROC_IS_MASTER)
        pmix_output(0,
                    "rmaps:dla: %s: not used; build it for this one, or use dla map --format seq "
                    "or rankfile",
                    reason);
}

static void wrap_module(prte_schizo_base_module_t *module)
{
    for (size_t i = 0; i < WRAPPED; i++) {
        if (NULL == module->name || 0 != strcmp(module->name, wrapped[i].name) ||
            NULL != wrapped[i].before)
            continue;
        if (prte_schizo_base_sanity != module->check_sanity) {
            warn_unused("PRRTE's modules for command lines differ");
            continue;
        }
        wrapped[i].before = module->parse_cli;
        module->parse_cli = wrapped[i].parse_cli;
    }
}

/* Called once all modules are known, before the command line is parsed; this is no proxy. */
static int detect_proxy(char *personalities)
{
    prte_schizo_base_active_module_t *active;
    (void)personalities;
    PMIX_LIST_FOREACH(active, &prte_schizo_base.active_modules, prte_schizo_base_active_module_t)
    {
        wrap_module(active->module);
    }
    return 0;
}

static prte_schizo_base_module_t schizo_dla_module = {
    .name = "dla",
    .detect_proxy = detect_proxy,
};

static int schizo_dla_query(pmix_mca_base_module_t **module, int *priority)
{
    char reason[PRRTE_REASON_SIZE];
    if (!prrte_fits(reason)) {
        warn_unused(reason);
        return PRTE_ERR_NOT_AVAILABLE;
    }
    *priority = 0;
    *module = (pmix_mca_base_module_t *)&schizo_dla_module;
    return PRTE_SUCCESS;
}
