/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a file with the hint cb_nodes = 2, writes it, and prints what MPI_File_get_info says of it;
 * then what an error handler was called with, where a file for reading is written. Of the hints,
 * one is wrong, and some leave the choice to the file system. */
#include <mpi.h>
#include <stdio.h>

static int called;

static void note_error(MPI_File *file, int *error, ...)
{
    (void)file;
    MPI_Error_class(*error, &called);
}

int main(int argc, char **argv)
{
    int rank, is_set, data[1024] = {0};
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info, used;
    MPI_File file;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "2");
    MPI_Info_set(info, "cb_buffer_size", "a mistake");
    MPI_Info_set(info, "striping_unit", "0");
    MPI_Info_set(info, "striping_factor", "-1");
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_set_view(file, (MPI_Offset)(rank * sizeof data), MPI_INT, MPI_INT, "native", info);
    MPI_File_write_all(file, data, 1024, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "cb_nodes", MPI_MAX_INFO_VAL, value, &is_set);
    MPI_File_close(&file);
    MPI_File_create_errhandler(note_error, &handler);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, used, &file);
    MPI_File_set_errhandler(file, handler);
    int rc = MPI_File_write_all(file, data, rank == 0, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("cb_nodes %s, error %s\n", value,
               called == MPI_ERR_READ_ONLY && rc != MPI_SUCCESS ? "as demanded" : "missing");
    MPI_File_close(&file);
    MPI_Info_free(&info);
    MPI_Info_free(&used);
    return MPI_Finalize();
}
