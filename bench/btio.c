/* SPDX-License-Identifier: BSD-3-Clause */
/* btio: the block-tridiagonal multipartition of NAS BT-IO, in 40 or 250 steps. */
#include "program.h"

int main(int argc, char **argv)
{
    return run_program("btio", "Write and read as NAS BT-IO does, time it and check it.", argc,
                       argv);
}
