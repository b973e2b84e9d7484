# SPDX-License-Identifier: BSD-3-Clause
"""Each rank writes a block of columns of an array: by a collective call if the first argument is "collective"."""

import sys

import numpy
from mpi4py import MPI

ROWS, COLUMNS = 4096, 1024

world = MPI.COMM_WORLD
mine = COLUMNS // world.size
values = numpy.full((ROWS, mine), world.rank, dtype="f8")

columns = MPI.DOUBLE.Create_subarray([ROWS, mine * world.size], [ROWS, mine], [0, world.rank * mine])
columns.Commit()
file = MPI.File.Open(world, "columns.dat", MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Set_size(0)
file.Set_view(0, MPI.DOUBLE, columns)
world.Barrier()
begin = MPI.Wtime()
if sys.argv[1:] == ["collective"]:
    file.Write_all(values)
else:
    file.Write(values)
seconds = world.allreduce(MPI.Wtime() - begin, MPI.MAX)
file.Close()
columns.Free()

if world.rank == 0:
    print(f"written in {seconds:.3f} s")
