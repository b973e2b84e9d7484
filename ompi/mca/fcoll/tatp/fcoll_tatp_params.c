/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"

#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp.h"
#include "ompi/compat/compat_asked.h"
#include "opal/util/output.h"

#include "base/unknown.h"
#include "plan/division.h"

/* If runs are recorded in the user's cache, the component comes before the stock ones (50); else
 * after those that want a file, because it is used where it is asked for. */
#define AUTOMATIC_PRIORITY 60

/* ---- the parameters ---- */

/* Texts for Open MPI, which would take abc for the number 0, and print its own message about an
 * invalid name in each process of a job. */
static char *text_of[PARAMETERS];

static void params_report_unknown(const char *message)
{
    opal_output(0, "fcoll:tatp: there is no MCA parameter %s", message);
}

/* envar_file_prefix: the files of --tune. */
static void params_check_names(void)
{
    static const char *const lists[] = {"param_files", "envar_file_prefix"};
    const char *known[PARAMETERS + 1], *rank = getenv("PMIX_RANK");
    base_settings settings = parameter_settings(known);
    settings.report = params_report_unknown;
    if (NULL != rank && 0 != strcmp(rank, "0"))
        return;
    base_check_environment(&settings);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char *const *files = NULL;
        (void)mca_base_var_get_value(mca_base_var_find("opal", "mca", "base", lists[i]), &files,
                                     NULL, NULL);
        if (NULL != files && NULL != *files)
            base_check_files(&settings, *files);
    }
}

int tatp_params_register(void)
{
    int index = 0;
    for (int i = 0; i < PARAMETERS && index >= 0; i++) {
        const parameter_description *p = &parameter_table[i];
        mca_base_var_flag_t flags = PARAMETER_VERSION == i ? MCA_BASE_VAR_FLAG_DEFAULT_ONLY : 0;
        text_of[i] = (char *)p->initial;
        index = mca_base_component_var_register(
            &mca_fcoll_tatp_component.fcollm_version, p->name, p->help, MCA_BASE_VAR_TYPE_STRING,
            NULL, 0, flags, OPAL_INFO_LVL_1 + (mca_base_var_info_lvl_t)(p->level - 1),
            MCA_BASE_VAR_SCOPE_READONLY, &text_of[i]);
    }
    params_check_names();
    return index < 0 ? index : OMPI_SUCCESS;
}

const char *tatp_params_text(enum parameter parameter)
{
    return NULL != text_of[parameter] ? text_of[parameter] : "";
}

int tatp_params_priority(bool automatic)
{
    int priority = (int)parameter_value(PARAMETER_PRIORITY, text_of[PARAMETER_PRIORITY]);
    if (automatic && parameter_value(PARAMETER_PRIORITY, NULL) == priority)
        return AUTOMATIC_PRIORITY;
    return priority > 0 ? priority : 0; /* OMPIO takes none below 0 */
}

/* ---- what a file needs of them ---- */

/* A site may have asked for it in a file of parameters, which does not count. */
static bool is_asked_for(void)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    return compat_is_asked_for("fcoll", "tatp", &source) && MCA_BASE_VAR_SOURCE_DEFAULT != source &&
           MCA_BASE_VAR_SOURCE_FILE != source;
}

coll_facts tatp_params_facts(ompio_file_t *fh, const coll_hint_values *hints)
{
    coll_facts facts = coll_facts_collect((parameter_texts)text_of, hints);
    facts.fd = fh->fd;
    facts.is_asked_for = is_asked_for();
    facts.locks_file = 0 != (fh->f_flags & OMPIO_LOCK_ENTIRE_FILE);
    facts.of[COLL_MPI_BUFFER] = OMPIO_MCA_GET(fh, bytes_per_agg);
    facts.of[COLL_MPI_AGGREGATORS] = OMPIO_MCA_GET(fh, num_aggregators);
    if (fh->f_stripe_size <= DIVISION_LARGEST_STRIPE)
        facts.of[COLL_FS_STRIPE_SIZE] = (int64_t)fh->f_stripe_size;
    facts.of[COLL_FS_STRIPE_COUNT] = fh->f_stripe_count;
    return facts;
}
