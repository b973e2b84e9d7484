# SPDX-License-Identifier: BSD-3-Clause
"""Writes a field of N x N values into one HDF5 file by blocks, one for each rank, and reads it back."""

import sys

import h5py
import numpy
from mpi4py import MPI

N = 2048

world = MPI.COMM_WORLD

# Blocks are numbered along a Z-shaped curve: each bit of the rank is one of x or y in turn.
side, x, y = 1, 0, 0
while side * side < world.size:
    x += side * (world.rank // side**2 % 2)
    y += side * (world.rank // side**2 // 2 % 2)
    side *= 2
if side * side != world.size or N % side != 0:
    sys.exit("field: the number of ranks is not 4, 16, 64, ...")
size = N // side
block = numpy.s_[x * size : (x + 1) * size, y * size : (y + 1) * size]
written = world.rank * size**2 + numpy.arange(size**2, dtype="f8").reshape(size, size)

with h5py.File("field.h5", "w", driver="mpio", comm=world) as file:
    field = file.create_dataset("field", (N, N), dtype="f8")
    begin = MPI.Wtime()
    with field.collective:
        field[block] = written
    middle = MPI.Wtime()
    got = numpy.empty_like(written)
    with field.collective:
        field.read_direct(got, block)  # field[block] is not collective in h5py
    end = MPI.Wtime()

wrong = world.allreduce(int(numpy.count_nonzero(got != written)))
if world.rank == 0:
    print(f"written in {middle - begin:.3f} s, read in {end - middle:.3f} s, {wrong} of {N * N} values wrong")
sys.exit(wrong > 0)
