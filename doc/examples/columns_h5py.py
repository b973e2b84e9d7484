# SPDX-License-Identifier: BSD-3-Clause
"""Each rank writes a block of columns of an HDF5 dataset: by collective calls if the first argument is "collective". The second is
the number of ranks that have columns, by default all."""

import sys

import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS = 4096, 1024

world = MPI.COMM_WORLD
writers = int(sys.argv[2]) if len(sys.argv) > 2 else world.size
mine = COLUMNS // writers
columns = numpy.s_[:, world.rank * mine : (world.rank + 1) * mine]
values = numpy.full((ROWS, mine), world.rank, dtype="f8")

with h5py.File("columns.h5", "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("data", (ROWS, mine * writers), dtype="f8")
    world.Barrier()
    begin = MPI.Wtime()
    if world.rank >= writers:
        # h5py does not call HDF5 for an empty selection, and the other ranks would wait.
        nothing = data.id.get_space()
        nothing.select_none()
        transfer = h5py.h5p.create(h5py.h5p.DATASET_XFER)
        transfer.set_dxpl_mpio(h5py.h5fd.MPIO_COLLECTIVE)
        data.id.write(nothing, nothing, numpy.empty(0), dxpl=transfer)
    elif sys.argv[1:2] == ["collective"]:
        with data.collective:
            data[columns] = values
    else:
        data[columns] = values
    seconds = world.allreduce(MPI.Wtime() - begin, MPI.MAX)

if world.rank == 0:
    print(f"written in {seconds:.3f} s")
