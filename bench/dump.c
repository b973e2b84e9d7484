/* SPDX-License-Identifier: BSD-3-Clause */
/* dump: a dump of particles, of which ranks have different numbers. */
#include "program.h"

int main(int argc, char **argv)
{
    return run_program(
        "dump",
        "Write and read particles, of which ranks have different numbers, time it and check it.",
        argc, argv);
}
