# SPDX-License-Identifier: BSD-3-Clause
"""Each rank writes a block of columns of an HDF5 dataset: by collective calls if the first argument is "collective"."""

import sys

import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS = 4096, 1024

world = MPI.COMM_WORLD
mine = COLUMNS // world.size
columns = numpy.s_[:, world.rank * mine : (world.rank + 1) * mine]
values = numpy.full((ROWS, mine), world.rank, dtype="f8")

with h5py.File("columns.h5", "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("data", (ROWS, mine * world.size), dtype="f8")
    world.Barrier()
    begin = MPI.Wtime()
    if sys.argv[1:] == ["collective"]:
        with data.collective:
            data[columns] = values
    else:
        data[columns] = values
    seconds = world.allreduce(MPI.Wtime() - begin, MPI.MAX)

if world.rank == 0:
    print(f"written in {seconds:.3f} s")
