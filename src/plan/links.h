/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links and their loads. For this folder only.
 */
#ifndef PLAN_LINKS_H
#define PLAN_LINKS_H

#include "plan/assess.h"

/* A topology's tree or, where it has none, one link from each node to a single switch. */
struct links {
    size_t vertices;
    const size_t *parent, *width; /* width is NULL where all links are one cable */
    size_t *made;                 /* owned, freed by links_release; NULL: refers to the topology */
};

/* -ENOMEM. */
int links_of_topo(const topo *t, struct links *links);
void links_release(struct links *links);

static inline double cables(const struct links *links, size_t v)
{
    return links->width != NULL ? (double)links->width[v] : 1.0;
}

/* Maximum load of a cable in one direction. -ENOMEM. */
int links_most(const plan_input *in, const struct links *links, const size_t *rank_of_domain,
               double *most);

#endif
