/* SPDX-License-Identifier: BSD-3-Clause */
/* cube: a 3-D array of doubles, cut into blocks over a process grid. */
#include "program.h"

int main(int argc, char **argv)
{
    return run_program("cube", "Write and read a 3-D array of doubles, time it and check it.", argc,
                       argv);
}
