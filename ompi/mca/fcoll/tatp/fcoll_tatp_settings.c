/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file was opened with: hints, then parameters, then what OMPIO knows. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "opal/util/info.h"
#include "opal/util/output.h"

/* A window has to fit into one message and one write. */
#define LARGEST_CYCLE ((int64_t)TATP_DEPTH << 30)
#define DEFAULT_CYCLE (32 << 20)

/* A whole number from 1 to `most` given as a hint at MPI_File_open, or 0. */
static int64_t hint(ompio_file_t *fh, const char *key, int64_t most)
{
    char text[MPI_MAX_INFO_VAL + 1];
    char *end;
    int found = 0;
    if (NULL == fh->f_info)
        return 0;
    opal_info_get(fh->f_info, key, MPI_MAX_INFO_VAL, text, &found);
    if (!found)
        return 0;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool good = errno == 0 && end != text && *end == '\0' && value > 0 && value <= most;
    return good ? (int64_t)value : 0;
}

static int64_t first_positive(int64_t a, int64_t b, int64_t c)
{
    if (a > 0)
        return a;
    return b > 0 ? b : c;
}

int64_t tatp_allowed_aggregators(int64_t wanted, int64_t targets)
{
    if (targets == 0)
        return wanted;
    if (wanted >= targets)
        return wanted - wanted % targets;
    while (targets % wanted != 0)
        wanted--;
    return wanted;
}

/* Told by one rank, because all decide alike. */
static int64_t allow_aggregators(const ompio_file_t *fh, int64_t wanted, int64_t targets)
{
    int64_t allowed = tatp_allowed_aggregators(wanted, targets);
    if (allowed != wanted && fh->f_rank == 0)
        opal_output_verbose(MCA_BASE_VERBOSE_WARN, ompi_fcoll_base_framework.framework_output,
                            "fcoll:tatp: %s: %lld aggregators in place of %lld, because %lld "
                            "storage targets cannot be shared out evenly among those",
                            fh->f_filename, (long long)allowed, (long long)wanted,
                            (long long)targets);
    return allowed;
}

/* What OMPIO's fs component says of a file's stripes. Where there are none it says one target. */
static int64_t known_stripe(const ompio_file_t *fh)
{
    return fh->f_stripe_size <= TATP_LARGEST_STRIPE ? (int64_t)fh->f_stripe_size : 0;
}

static int64_t known_targets(const ompio_file_t *fh)
{
    return known_stripe(fh) > 0 && fh->f_stripe_count > 0 ? fh->f_stripe_count : 0;
}

tatp_settings tatp_read_settings(ompio_file_t *fh)
{
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    int64_t cycle = first_positive(hint(fh, "cb_buffer_size", INT64_MAX), c->cycle_buffer_size,
                                   fh->f_bytes_per_agg);
    int64_t aggregators = first_positive(hint(fh, "cb_nodes", INT64_MAX), c->num_aggregators,
                                         OMPIO_MCA_GET(fh, num_aggregators));
    int64_t stripe = first_positive(hint(fh, "striping_unit", TATP_LARGEST_STRIPE), c->stripe_size,
                                    known_stripe(fh));
    int64_t targets =
        first_positive(hint(fh, "striping_factor", INT_MAX), c->stripe_count, known_targets(fh));
    if (stripe == 0)
        targets = 0;
    aggregators = aggregators > 0 ? tatp_least(aggregators, fh->f_size) : 0;
    return (tatp_settings){
        .aggregators = aggregators > 0 ? allow_aggregators(fh, aggregators, targets) : 0,
        .cycle = tatp_least(cycle > 0 ? cycle : DEFAULT_CYCLE, LARGEST_CYCLE),
        .message = c->message_size,
        .stripe = stripe,
        .targets = targets,
        .strategy = c->strategy,
        .objective = c->objective,
        .solver = c->solver,
        .domains = c->domains,
        .unit = c->unit_size,
    };
}
