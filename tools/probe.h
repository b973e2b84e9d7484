/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_PROBE_H
#define TOOLS_PROBE_H

/* Collective: tests what the first ranks of up to 8 nodes see of each other's files in the folder,
 * and leaves these files there. Rank 0 prints what they have seen as a JSON object. */
void probe_folder(const char *folder);

#endif
