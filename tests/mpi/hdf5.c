/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5: a 3-D array of doubles, cut into blocks, written or read through HDF5's collective
 * transfers: contiguous, chunked, compressed, and with every second rank without data; or written
 * by independent ones, where HDF5 can. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define SIDE 12 /* of a rank's block, in each dimension */

static int rank, ranks, wrong, independent;

/* HDF5's own messages tell the rest. */
static hid_t valid(hid_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "hdf5: %s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return id;
}

static hid_t open_with_mpi(const char *path, int create)
{
    hid_t access = valid(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    valid(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    valid(H5Pset_all_coll_metadata_ops(access, 1), "H5Pset_all_coll_metadata_ops");
    valid(H5Pset_coll_metadata_write(access, 1), "H5Pset_coll_metadata_write");
    hid_t file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                        : H5Fopen(path, H5F_ACC_RDONLY, access);
    valid(file, path);
    H5Pclose(access);
    return file;
}

static void grid_of(int grid[3], int at[3])
{
    grid[0] = grid[1] = grid[2] = 0;
    MPI_Dims_create(ranks, 3, grid);
    at[0] = rank / (grid[1] * grid[2]);
    at[1] = rank / grid[2] % grid[1];
    at[2] = rank % grid[2];
}

/* A block of an array with these sides; of every second rank none at all if `sparse`. */
static hid_t select_block(int sparse, const hsize_t size[3], const hsize_t start[3])
{
    const hsize_t count[3] = {SIDE, SIDE, SIDE};
    hid_t space = valid(H5Screate_simple(3, size, NULL), "H5Screate_simple");
    if (sparse && rank % 2 == 1)
        valid(H5Sselect_none(space), "H5Sselect_none");
    else
        valid(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL),
              "H5Sselect_hyperslab");
    return space;
}

/* The rank's block of the array in the file, which begins at `start`. */
static hid_t select_file(int sparse, hsize_t start[3])
{
    int grid[3], at[3];
    hsize_t size[3];
    grid_of(grid, at);
    for (int d = 0; d < 3; d++) {
        size[d] = (hsize_t)grid[d] * SIDE;
        start[d] = (hsize_t)at[d] * SIDE;
    }
    return select_block(sparse, size, start);
}

/* The block in memory lies in a larger array, with a halo of 1. */
static hid_t select_memory(int sparse)
{
    const hsize_t size[3] = {SIDE + 2, SIDE + 2, SIDE + 2}, start[3] = {1, 1, 1};
    return select_block(sparse, size, start);
}

static double value_at(const hsize_t start[3], int x, int y, int z)
{
    return (double)(start[0] + (hsize_t)x) * 1e6 + (double)(start[1] + (hsize_t)y) * 1e3 +
           (double)(start[2] + (hsize_t)z) + 0.5;
}

typedef double block[SIDE + 2][SIDE + 2][SIDE + 2];

static void fill(block memory, const hsize_t *start)
{
    for (int x = 0; x < SIDE + 2; x++)
        for (int y = 0; y < SIDE + 2; y++)
            for (int z = 0; z < SIDE + 2; z++) {
                int inside = x > 0 && y > 0 && z > 0 && x <= SIDE && y <= SIDE && z <= SIDE;
                memory[x][y][z] =
                    inside && start != NULL ? value_at(start, x - 1, y - 1, z - 1) : -1;
            }
}

static void compare(block got, block wanted)
{
    const double *a = &got[0][0][0], *b = &wanted[0][0][0];
    for (size_t i = 0; i < sizeof(block) / sizeof(double); i++)
        if (a[i] < b[i] || a[i] > b[i]) {
            fprintf(stderr, "hdf5: rank %d: element %zu is %g, not %g\n", rank, i, a[i], b[i]);
            wrong = 1;
            return;
        }
}

/* HDF5 turns some collective transfers into individual ones on its own; those would show nothing.
 */
static void must_be_collective(hid_t transfer)
{
    H5D_mpio_actual_io_mode_t mode;
    valid(H5Pget_mpio_actual_io_mode(transfer, &mode), "H5Pget_mpio_actual_io_mode");
    if (mode == H5D_MPIO_NO_COLLECTIVE) {
        fprintf(stderr, "hdf5: rank %d: the transfer was not collective\n", rank);
        wrong = 1;
    }
}

enum { CONTIGUOUS, CHUNKED, COMPRESSED };

static hid_t create_array(hid_t file, const char *name, hid_t space, int layout)
{
    const hsize_t chunk[3] = {SIDE, SIDE / 2, SIDE};
    hid_t creation = valid(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    if (layout != CONTIGUOUS)
        valid(H5Pset_chunk(creation, 3, chunk), "H5Pset_chunk");
    if (layout == COMPRESSED)
        valid(H5Pset_deflate(creation, 1), "H5Pset_deflate");
    hid_t array =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    return array;
}

static void move_array(hid_t file, const char *name, int create, int layout, int sparse)
{
    static block memory, wanted;
    hsize_t start[3];
    hid_t space = select_file(sparse, start), inside = select_memory(sparse);
    hid_t array = valid(
        create ? create_array(file, name, space, layout) : H5Dopen2(file, name, H5P_DEFAULT), name);
    hid_t transfer = valid(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    int alone = independent && layout != COMPRESSED;
    valid(H5Pset_dxpl_mpio(transfer, alone ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE),
          "H5Pset_dxpl_mpio");
    fill(memory, create ? start : NULL);
    fill(wanted, sparse && rank % 2 == 1 && !create ? NULL : start);
    if (create)
        valid(H5Dwrite(array, H5T_NATIVE_DOUBLE, inside, space, transfer, memory), "H5Dwrite");
    else
        valid(H5Dread(array, H5T_NATIVE_DOUBLE, inside, space, transfer, memory), "H5Dread");
    if (!alone)
        must_be_collective(transfer);
    compare(memory, wanted);
    H5Dclose(array);
    H5Pclose(transfer);
    H5Sclose(inside);
    H5Sclose(space);
}

static void move_file(const char *path, int create)
{
    hid_t file = open_with_mpi(path, create);
    move_array(file, "contiguous", create, CONTIGUOUS, 0);
    move_array(file, "chunked", create, CHUNKED, 0);
    move_array(file, "compressed", create, COMPRESSED, 0);
    move_array(file, "sparse", create, CONTIGUOUS, 1);
    valid(H5Fclose(file), "H5Fclose");
}

int main(int argc, char **argv)
{
    int all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    independent = argc == 3 && strcmp(argv[1], "independent") == 0;
    if (argc != 3 ||
        (!independent && strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
        fprintf(stderr, "usage: hdf5 write|independent|read FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    move_file(argv[2], strcmp(argv[1], "read") != 0);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_wrong;
}
