/* SPDX-License-Identifier: BSD-3-Clause */
/* holdings: what this process holds, as the system says. */
#ifndef TESTS_FAULTS_HOLDINGS_H
#define TESTS_FAULTS_HOLDINGS_H

struct holdings {
    long kilobytes; /* of memory that is present */
    long descriptors, maps;
};

struct holdings take_holdings(void);

/* 0: there is no such folder. */
long count_entries(const char *folder);

#endif
