/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of a read request and of a byte: moving averages. */
#include "exchange/costs.h"

/* A read of at least this size shows the cost of a byte, a shorter one that of a request. */
#define LONG_READ (32 * 1024)
/* Of the holes that are to be included, the first and then one in this number are not. */
#define TRIED 32

/* A sample weighs an eighth, and counts as four times the average at most, because a process that
 * loses its processor measures milliseconds. */
static double follow(double average, double sample)
{
    if (sample < 0)
        sample = 0;
    if (average <= 0)
        return sample;
    if (sample > 4 * average)
        sample = 4 * average;
    return average + (sample - average) / 8;
}

void read_costs_add(read_costs *costs, int64_t bytes, double seconds)
{
    if (bytes >= LONG_READ)
        costs->byte = follow(costs->byte, (seconds - costs->request) / (double)bytes);
    else
        costs->request = follow(costs->request, seconds - (double)bytes * costs->byte);
}

bool read_costs_include(read_costs *costs, int64_t hole)
{
    if (hole <= READ_COSTS_LEAST)
        return true;
    if (hole > READ_COSTS_MOST)
        return false;
    bool known = costs->request > 0 && costs->byte > 0;
    if (known && (double)hole * costs->byte > costs->request)
        return false;
    return costs->included++ % TRIED != 0;
}
