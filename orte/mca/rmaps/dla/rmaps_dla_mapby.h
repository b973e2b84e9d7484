/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RMAPS_DLA_MAPBY_H
#define RMAPS_DLA_MAPBY_H

/* Acquires the mapping policy if it is for this component ("dla..."): replaces it by a stock policy
 * before Open MPI parses it, wherever mpirun and its daemons read it. Returns the replaced text,
 * which the caller frees; NULL if the policy is another one or this process does not map.
 * Call it while the rmaps framework registers its components: then the framework's parameters are
 * registered, but not yet parsed. */
char *dla_mapby_acquire(void);

#endif
