/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes of a domain on each node. */
#include "plan/costs.h"

#include <errno.h>
#include <stdlib.h>

/* Independent partial sums, so that additions overlap in the pipeline. */
enum { CHAINS = 8 };

/* Bytes of one domain by class; all 0 between domains. */
struct domain {
    const struct classes *classes;
    double *bytes;
    size_t *present; /* classes with bytes */
    size_t count;
};

static void sum_classes(struct domain *d, const struct sums *sums, size_t j)
{
    d->count = 0;
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
        size_t p = d->classes->of_node[sums->node[e]];
        if (d->bytes[p] == 0.0 && sums->bytes[e] != 0.0)
            d->present[d->count++] = p;
        d->bytes[p] += sums->bytes[e];
    }
}

static double sum_present(const struct domain *d, const uint16_t *between)
{
    double sum = 0.0;
    for (size_t k = 0; k < d->count; k++)
        sum += between[d->present[k]] * d->bytes[d->present[k]];
    return sum;
}

static double sum_all(const struct domain *d, const uint16_t *between)
{
    double chain[CHAINS] = {0.0}, sum = 0.0;
    size_t q = 0;
    for (; q + CHAINS <= d->classes->count; q += CHAINS)
        for (size_t k = 0; k < CHAINS; k++)
            chain[k] += between[q + k] * d->bytes[q + k];
    for (; q < d->classes->count; q++)
        sum += between[q] * d->bytes[q];
    for (size_t k = 0; k < CHAINS; k++)
        sum += chain[k];
    return sum;
}

/* Hop-bytes of the domain from a node of class p that accesses none of it. The diagonal of the
 * topology is undefined where a class has one node. */
static double sum_from(struct domain *d, size_t p)
{
    double own = d->bytes[p], sum = 0.0;
    if (d->classes->between != NULL) {
        const uint16_t *between = d->classes->between + p * d->classes->count;
        d->bytes[p] = 0.0;
        sum = d->count < d->classes->count / CHAINS ? sum_present(d, between) : sum_all(d, between);
        d->bytes[p] = own;
    }
    return sum + d->classes->within[p] * own;
}

static void fill_costs(struct costs *costs, struct domain *d)
{
    size_t count = d->classes->count;
    for (size_t j = 0; j < costs->sums->domains; j++) {
        sum_classes(d, costs->sums, j);
        for (size_t p = 0; p < count; p++)
            costs->at_classes[j * count + p] = sum_from(d, p);
        for (size_t k = 0; k < d->count; k++)
            d->bytes[d->present[k]] = 0.0;
    }
}

int costs_init(struct costs *costs, const struct classes *classes, const struct sums *sums,
               double own)
{
    size_t size;
    if (__builtin_mul_overflow(classes->count, sums->domains, &size))
        return -ENOMEM;
    struct domain d = {.classes = classes};
    *costs = (struct costs){.classes = classes, .sums = sums, .own = own};
    costs->at_classes = calloc(size | 1, sizeof *costs->at_classes);
    d.bytes = calloc(classes->count, sizeof *d.bytes);
    d.present = calloc(classes->count, sizeof *d.present);
    int rc = costs->at_classes == NULL || d.bytes == NULL || d.present == NULL ? -ENOMEM : 0;
    if (rc == 0)
        fill_costs(costs, &d);
    else
        costs_release(costs);
    free(d.bytes);
    free(d.present);
    return rc;
}

void costs_release(struct costs *costs)
{
    free(costs->at_classes);
    costs->at_classes = NULL;
}
