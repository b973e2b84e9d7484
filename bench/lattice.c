/* SPDX-License-Identifier: BSD-3-Clause */
/* lattice: a 4-D lattice of sites. */
#include "program.h"

int main(int argc, char **argv)
{
    return run_program("lattice", "Write and read a 4-D lattice, time it and check it.", argc,
                       argv);
}
