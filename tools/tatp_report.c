/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp report: executes the Python program that draws the page. */
#include <stddef.h>

#include "python.h"
#include "tatp.h"

int tatp_report(int argc, char **argv)
{
    static const char *const nothing[] = {NULL};
    const tool_python report = {TATP_REPORT_DIR, "TATP_REPORT_DIR", nothing};
    return tool_run_python(&report, argc, argv);
}
