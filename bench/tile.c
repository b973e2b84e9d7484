/* SPDX-License-Identifier: BSD-3-Clause */
/* tile: tiles of a 2-D array, one a rank; with --reorder by ranks in another order. */
#include "program.h"

int main(int argc, char **argv)
{
    return run_program("tile", "Write and read tiles of a 2-D array, time it and check it.", argc,
                       argv);
}
