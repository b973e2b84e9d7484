/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether the PRRTE that runs is as the components were built for: its structs differ between
 * releases, and a struct that is taken for another one is memory that is overwritten.
 */
#ifndef PRRTE_FIT_H
#define PRRTE_FIT_H

#include <stdbool.h>

#define PRRTE_REASON_SIZE 256

/* Compares the release, the sizes of structs, and how PRRTE's functions use objects that are made
 * for it. Sets `reason` where something differs. */
bool prrte_fits(char reason[PRRTE_REASON_SIZE]);

/* What a function or an object of PRRTE does not do as declared; NULL: nothing. */
const char *prrte_probe(void);

#endif
