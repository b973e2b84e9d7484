/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of the MPI that this library calls itself, as mpi.NAME for PMPI_NAME. It is linked
 * with no MPI: they are those of the MPI that the program has, which may have been loaded by dlopen
 * for one of its modules alone.
 */
#ifndef MPI_CALLS_H
#define MPI_CALLS_H

/* Predefined handles of Open MPI are addresses of objects, which processes without it do not have.
 * For this, no other file includes mpi.h before this one. */
#define OMPI_DECLSPEC __attribute__((weak))
#include <mpi.h>

/* MPI 4 has these, and mpi.h may not. */
int PMPI_Type_get_contents_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int *,
                             MPI_Aint *, MPI_Count *, MPI_Datatype *);
int PMPI_Type_get_envelope_c(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *,
                             int *);

/* clang-format off */
#define FRONT_CALLS(CALL)                                                                          \
    CALL(Abort) CALL(Allgather) CALL(Allreduce) CALL(Bcast) CALL(Comm_create)                      \
    CALL(Comm_create_keyval) CALL(Comm_delete_attr) CALL(Comm_free) CALL(Comm_free_keyval)         \
    CALL(Comm_get_attr) CALL(Comm_get_errhandler) CALL(Comm_group) CALL(Comm_rank)                 \
    CALL(Comm_set_attr) CALL(Comm_set_errhandler) CALL(Comm_size) CALL(Comm_split)                 \
    CALL(Comm_test_inter) CALL(Dist_graph_create_adjacent) CALL(Dist_graph_neighbors)              \
    CALL(Dist_graph_neighbors_count) CALL(Errhandler_free) CALL(Error_class)                       \
    CALL(File_call_errhandler) CALL(File_get_atomicity) CALL(File_get_errhandler)                  \
    CALL(File_get_position) CALL(File_get_size) CALL(File_get_view) CALL(File_seek) CALL(Gather)   \
    CALL(Get_count) CALL(Get_elements_x) CALL(Get_library_version) CALL(Grequest_complete)         \
    CALL(Grequest_start) CALL(Group_free) CALL(Group_intersection) CALL(Group_size)                \
    CALL(Group_translate_ranks) CALL(Info_create) CALL(Info_dup) CALL(Info_free) CALL(Info_get)    \
    CALL(Info_set) CALL(Iprobe) CALL(Irecv) CALL(Isend) CALL(Issend) CALL(Pack) CALL(Recv)         \
    CALL(Scatter) CALL(Sendrecv_replace) CALL(Status_set_cancelled) CALL(Status_set_elements_x)    \
    CALL(Test) CALL(Type_commit) CALL(Type_contiguous) CALL(Type_free) CALL(Type_get_contents)     \
    CALL(Type_get_envelope) CALL(Type_get_extent_x) CALL(Type_get_true_extent_x) CALL(Type_size_x) \
    CALL(Wait) CALL(Wtime)
/* NULL where the MPI has none. */
#define FRONT_LATER_CALLS(CALL) CALL(Type_get_contents_c) CALL(Type_get_envelope_c)
/* clang-format on */

typedef struct front_calls {
#define FRONT_MEMBER(name) __typeof__(&PMPI_##name) name;
    FRONT_CALLS(FRONT_MEMBER)
    FRONT_LATER_CALLS(FRONT_MEMBER)
} front_calls;

extern front_calls mpi;

/* In this folder, functions that return int return 0 or an error of the MPI, but those of the
 * store, which src/ calls. This one returns the class of an error of src/ or of the MPI; 0 for 0.
 */
int front_error_class(int error);

/* Finds them all, when the program has called the MPI. Returns NULL, or why this MPI cannot be
 * used. */
const char *front_calls_find(void);

#endif
