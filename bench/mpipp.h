/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SetMatch paper's comparator.
 */
#ifndef BENCH_MPIPP_H
#define BENCH_MPIPP_H

#include "setmatch/setmatch.h"

/* MPIPP as the paper describes it (Chen et al., ICS 2006): a random placement, then repeatedly the
 * best swap of two ranks (or of a rank and a free slot) until none reduces the cut. O(ranks^2) for
 * each swap. A setmatch_method_fn. */
int mpipp_place(const setmatch_input *input, size_t *node_of_rank);

#endif
