/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts as many children as argv[1] says. Each process tells its host, the children with
 * "child" in front. Exit status 0 only when parents and children have met.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int rank, length, remote = 0;
    MPI_Comm other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &length);
    MPI_Comm_get_parent(&other);
    if (other != MPI_COMM_NULL) {
        printf("child %d %s\n", rank, host);
    } else {
        printf("parent %d %s\n", rank, host);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, argc > 1 ? atoi(argv[1]) : 1, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_remote_size(other, &remote);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return remote > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
