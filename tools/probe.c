/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp-probe [FILE]: what "tatp doctor" runs with mpirun. The ranks read a part of the file
 * together, or none if it is "-"; rank 0 prints as one JSON object which MPI, which components and
 * which settings each of them has found. FOLDER/: what the file system does between nodes. Without
 * an argument it only starts and ends MPI, which "tatp compare" times. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/cache.h"
#include "json/json.h"
#include "mpi.h"
#include "probe.h"

enum { BLOCK = 64, BLOCKS = 16, TEXT = 512, SETTINGS = 8192 };

/* What one rank has found; empty texts: nothing. */
struct finding {
    char host[MPI_MAX_PROCESSOR_NAME];
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    char component[PATH_MAX]; /* fcoll/tatp in this process, or libtatp-mpiio.so */
    char mapper[PATH_MAX];    /* rmaps/dla in the process that started this one */
    char path[4 * PATH_MAX];  /* where components are looked for */
    char settings[SETTINGS];  /* by which components are chosen: lines NAME=VALUE */
    char error[TEXT];         /* of the access */
};

/* The file that a process has mapped under this name. */
static void find_mapped(pid_t process, const char *name, char path[PATH_MAX])
{
    char maps[64], *line = NULL;
    size_t capacity = 0;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", (long)process);
    FILE *stream = fopen(maps, "r");
    while (stream != NULL && getline(&line, &capacity, stream) > 0) {
        char *file = strchr(line, '/');
        if (file == NULL || strstr(file, name) == NULL)
            continue;
        file[strcspn(file, "\n")] = '\0';
        snprintf(path, PATH_MAX, "%s", file);
        break;
    }
    free(line);
    if (stream != NULL)
        fclose(stream);
}

/* Blocks of the ranks in turn, so that an aggregator merges them. */
static int probe_read(MPI_File file)
{
    static char buffer[BLOCKS * BLOCK];
    MPI_Datatype blocks;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * size, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    int rc = MPI_File_set_view(file, (MPI_Offset)rank * BLOCK, MPI_BYTE, blocks, "native",
                               MPI_INFO_NULL);
    if (rc == MPI_SUCCESS)
        rc = MPI_File_read_all(file, buffer, sizeof buffer, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Type_free(&blocks);
    return rc;
}

/* MPI-IO returns its errors by default. */
static int probe_access(const char *name)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", "enable"); /* by aggregators, which need a plan */
    int rc = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &file);
    MPI_Info_free(&info);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = probe_read(file);
    MPI_File_close(&file);
    return rc;
}

/* ---- variables of MPI's tools interface ---- */

/* size: of the text. Texts have at most as many bytes as the handle says. */
static void probe_variable(int index, MPI_Datatype type, char *text, size_t size)
{
    int count, *value;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    value = calloc((size_t)count + 1, sizeof *value);
    if (value != NULL && MPI_T_cvar_read(handle, value) == MPI_SUCCESS) {
        if (type == MPI_CHAR)
            snprintf(text, size, "%s", (const char *)value);
        else
            snprintf(text, size, "%d", *value);
    }
    free(value);
    MPI_T_cvar_handle_free(&handle);
}

static bool selects_components(const char *name)
{
    const char *last = strrchr(name, '_');
    if (last == NULL)
        return strcmp(name, "io") == 0 || strcmp(name, "fcoll") == 0;
    return strcmp(name, "fcoll_tatp_version") == 0 ||
           strcmp(name, "fcoll_tatp_record") == 0 || /* automatic ones have a priority */
           strcmp(name, "fs_ufs_lock_algorithm") == 0 ||
           (strcmp(last, "_priority") == 0 &&
            (strncmp(name, "io_", 3) == 0 || strncmp(name, "fcoll_", 6) == 0));
}

static void examine_variable(int index, struct finding *own)
{
    char name[TEXT], text[TEXT], value[SETTINGS] = "";
    int name_length = TEXT, text_length = TEXT, verbosity, bind, scope;
    size_t used = strlen(own->settings);
    MPI_T_enum enumeration;
    MPI_Datatype type;
    if (MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &enumeration, text,
                            &text_length, &bind, &scope) != MPI_SUCCESS)
        return;
    if (strcmp(name, "mca_base_component_path") == 0)
        probe_variable(index, type, own->path, sizeof own->path);
    if (!selects_components(name))
        return;
    probe_variable(index, type, value, sizeof value);
    snprintf(own->settings + used, SETTINGS - used, "%s=%s\n", name, value);
}

/* The interface opens components that the program would not use. */
static void examine_variables(struct finding *own)
{
    int provided, count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; i++)
        examine_variable(i, own);
    if (*own->component == '\0') /* no file was accessed */
        find_mapped(getpid(), "/mca_fcoll_tatp.so", own->component);
    MPI_T_finalize();
}

/* ---- results ---- */

static void probe_put_text(json_writer *w, const char *key, const char *text)
{
    json_put_string(w, key, *text == '\0' ? NULL : text);
}

static void print_findings(const struct finding *all, int size)
{
    json_writer w = {.out = stdout};
    json_begin_object(&w, NULL);
    json_begin_array(&w, "probe");
    for (const struct finding *f = all; f < all + size; f++) {
        json_begin_object(&w, NULL);
        probe_put_text(&w, "host", f->host);
        probe_put_text(&w, "library", f->library);
        probe_put_text(&w, "component", f->component);
        probe_put_text(&w, "mapper", f->mapper);
        probe_put_text(&w, "path", f->path);
        probe_put_text(&w, "settings", f->settings);
        probe_put_text(&w, "error", f->error);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    putchar('\n');
}

static void examine_process(const char *file, struct finding *own)
{
    int length;
    MPI_Get_processor_name(own->host, &length);
    MPI_Get_library_version(own->library, &length);
    int rc = strcmp(file, "-") == 0 ? MPI_SUCCESS : probe_access(file);
    if (rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        MPI_Error_string(rc, text, &length);
        snprintf(own->error, sizeof own->error, "%.*s", TEXT - 1, text);
    }
    find_mapped(getpid(), "/mca_fcoll_tatp.so", own->component);
    if (*own->component == '\0')
        find_mapped(getpid(), "/libtatp-mpiio.so", own->component);
    find_mapped(getppid(), "mca_rmaps_dla.so", own->mapper);
    examine_variables(own);
}

int main(int argc, char **argv)
{
    static struct finding own;
    int rank, size, status = EXIT_SUCCESS;
    setenv(CACHE_FOLDER, "/dev/null", 1); /* this program is not recorded in the user's cache */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool is_folder = argc == 2 && *argv[1] != '\0' && argv[1][strlen(argv[1]) - 1] == '/';
    if (is_folder)
        probe_folder(argv[1]);
    if (argc == 1 || is_folder) {
        MPI_Finalize();
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    struct finding *all = calloc(rank == 0 ? (size_t)size : 1, sizeof *all);
    if (argc != 2 || all == NULL) {
        fprintf(stderr, "tatp-probe: %s\n", argc != 2 ? "one file is expected" : "out of memory");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    examine_process(argv[1], &own);
    MPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        print_findings(all, size);
        if (fflush(stdout) != 0)
            status = EXIT_FAILURE;
    }
    free(all);
    MPI_Finalize();
    return status;
}
