/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the performance variables of fcoll/tatp at the end of any program, by MPI's tools
 * interface: as a library that is loaded before MPI, it takes over MPI_Init and MPI_Finalize.
 *
 *     mpicc -shared -fPIC -o pvars.so pvars.c
 *     mpirun -np 4 -x LD_PRELOAD=./pvars.so --mca fcoll tatp ./program
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VARIABLES = 32, NAME_SIZE = 128 };

static const char prefix[] = "fcoll_tatp_";

static struct variable {
    char name[NAME_SIZE];
    MPI_Datatype type;
    MPI_T_pvar_handle handle;
} variable[MOST_VARIABLES];
static int variables;
static MPI_T_pvar_session session;

/* Keeps a variable of the component that counts all the time, a number of its own type. */
static void open_variable(int index)
{
    struct variable *v = &variable[variables];
    int length = NAME_SIZE, verbosity, kind, bind, readonly, continuous, atomic, count;
    MPI_T_enum enumeration;
    if (MPI_T_pvar_get_info(index, v->name, &length, &verbosity, &kind, &v->type, &enumeration,
                            NULL, NULL, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
        return;
    if (strncmp(v->name, prefix, sizeof prefix - 1) != 0 || bind != MPI_T_BIND_NO_OBJECT ||
        !continuous)
        return;
    if (MPI_T_pvar_handle_alloc(session, index, NULL, &v->handle, &count) == MPI_SUCCESS &&
        count == 1)
        variables++;
}

static void open_variables(void)
{
    int provided, count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&session) != MPI_SUCCESS)
        return;
    MPI_T_pvar_get_num(&count);
    for (int index = 0; index < count && variables < MOST_VARIABLES; index++)
        open_variable(index);
}

/* The sum over all ranks. */
static void print_variable(struct variable *v, int rank)
{
    double real = 0, real_sum = 0;
    unsigned long long number = 0, sum = 0;
    int is_real = v->type == MPI_DOUBLE;
    MPI_T_pvar_read(session, v->handle, is_real ? (void *)&real : (void *)&number);
    if (is_real)
        PMPI_Reduce(&real, &real_sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        PMPI_Reduce(&number, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && is_real)
        fprintf(stderr, "%s %.9g\n", v->name, real_sum);
    else if (rank == 0)
        fprintf(stderr, "%s %llu\n", v->name, sum);
}

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    open_variables();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    open_variables();
    return rc;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && variables == 0)
        fprintf(stderr, "%s*: this Open MPI has no such variables\n", prefix);
    for (int i = 0; i < variables; i++)
        print_variable(&variable[i], rank);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return PMPI_Finalize();
}
