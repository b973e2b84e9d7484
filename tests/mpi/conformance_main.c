/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: the cases that need no fault of the machine. */
#include "conformance.h"

int main(int argc, char **argv)
{
    static const struct family *const table[] = {calls_families, views_families, requests_families,
                                                 files_families, NULL};
    return conformance_main(argc, argv, table);
}
