/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of the help file. Releases of PMIx differ in where they look for such files, so it is
 * read here.
 */
#ifndef PRTE_RMAPS_DLA_HELP_H
#define PRTE_RMAPS_DLA_HELP_H

/* Shows the message of the topic, with its arguments. */
void dla_show_help(const char *topic, ...);

/* Shows that the mapping policy is invalid, for this reason. */
void dla_show_refusal(const char *reason);

#endif
