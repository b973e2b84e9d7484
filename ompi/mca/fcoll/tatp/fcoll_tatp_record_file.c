/* SPDX-License-Identifier: BSD-3-Clause */
/* The record file. What a process holds goes there when a file is closed. Several processes may
 * hold something (sub-communicators): they take turns by a lock file, add to what is there when it
 * stems from this run, replace it otherwise, and put the whole in place by a rename, so that a
 * killed run leaves the old file or a new one. */
#include "fcoll_tatp_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ompi/mca/rte/rte.h"

/* Writing may take this part of the time. */
enum { PART_OF_TIME = 20 };

/* What a file says of itself beside matrix and profile. */
typedef struct provenance {
    bool ours; /* of this run */
    int64_t files, accesses, bytes, missed;
} provenance;

/* What this process holds and the record file does not have yet. */
static struct {
    bool something;
    char *path;          /* where it goes */
    int error;           /* an OMPI or MPI error code: why a part is missing */
    matrix_builder view; /* world ranks */
    view_file profile;
    provenance p;
} delta;

/* The record as this process has written it last, and the file it was. */
static struct {
    bool known;
    struct stat file;
    view_file record;
    provenance p;
    double at, cost; /* seconds */
} written;

static void flush(bool at_end);

/* ---- what this process holds ---- */

/* What is put off has to be written when the run ends, and Open MPI 4.1 does not close fcoll
 * components then. Attributes of MPI_COMM_SELF are the way in: MPI_Finalize deletes them before
 * anything else. */
static int at_finalize(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    flush(true);
    return MPI_SUCCESS;
}

static void ask_for_the_end(void)
{
    static bool asked;
    int keyval;
    if (!asked &&
        MPI_SUCCESS == MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL))
        asked = MPI_SUCCESS == MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &written);
}

static void expect_something(void)
{
    delta.something = true;
    if (NULL == delta.path && NULL != mca_fcoll_tatp_component.record_file)
        delta.path = strdup(mca_fcoll_tatp_component.record_file);
}

void tatp_record_failed(int rc)
{
    expect_something();
    if (OMPI_SUCCESS == delta.error)
        delta.error = rc;
}

static int add_kind(const char *file, const tatp_kind *kind, int64_t times)
{
    access_pattern pattern = kind->pattern;
    delta.view.rows = delta.view.cols = tatp_world_size();
    int rc = kind->view.rows > 0 ? matrix_builder_add_matrix(&delta.view, &kind->view, times) : 0;
    pattern.file = (char *)(NULL != file ? file : "");
    if (rc == 0 && kind->bytes.rows > 0)
        rc = view_file_add_calls(&delta.profile, &pattern, &kind->bytes, times);
    return rc;
}

void tatp_record_keep(const char *file, const tatp_kind *kind, int64_t times, bool new_file)
{
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    int rc = add_kind(file, kind, times);
    expect_something();
    delta.p.files += new_file;
    delta.p.accesses += times;
    delta.p.bytes += kind->moved * times;
    delta.p.missed += kind->missed * times;
    if (rc != 0)
        tatp_record_failed(tatp_from_errno(rc));
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
}

static void forget_delta(void)
{
    matrix_builder_clear(&delta.view);
    view_file_release(&delta.profile);
    free(delta.path);
    memset(&delta, 0, sizeof delta);
}

/* ---- what a file says of itself ---- */

/* mpirun draws a random key for each job. */
const char *tatp_run_id(void)
{
    static char id[96];
    const char *key = getenv("OMPI_MCA_orte_precondition_transports");
    if (NULL != key && strlen(key) < sizeof id)
        return strcpy(id, key);
    snprintf(id, sizeof id, "%s.%ld", ompi_process_info.nodename, (long)ompi_process_info.pid);
    return id;
}

/* Understands the lines that describe() writes; takes the text apart. */
static provenance parse_comments(char *comments)
{
    provenance p = {0};
    char *rest = NULL;
    for (char *line = strtok_r(comments, "\n", &rest); NULL != line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "run: ", 5) == 0)
            p.ours = strcmp(line + 5, tatp_run_id()) == 0;
        (void)sscanf(line, "files: %" SCNd64, &p.files);
        (void)sscanf(line, "accesses: %" SCNd64, &p.accesses);
        (void)sscanf(line, "bytes: %" SCNd64, &p.bytes);
        (void)sscanf(line, "missed: %" SCNd64, &p.missed);
    }
    return p;
}

static int describe(const provenance *p, char **comments)
{
    int length =
        asprintf(comments,
                 "view matrix of fcoll/tatp, format 2\n"
                 "program: %s\nrun: %s\nranks: %zu\nweight: %s\nfiles: %" PRId64
                 "\naccesses: %" PRId64 "\nbytes: %" PRId64 "\nmissed: %" PRId64 "\n",
                 program_invocation_short_name, tatp_run_id(), tatp_world_size(),
                 mca_fcoll_tatp_component.record_weight == ACCESS_WEIGHT_BYTES ? "bytes" : "count",
                 p->files, p->accesses, p->bytes, p->missed);
    if (length < 0)
        *comments = NULL;
    return length < 0 ? -ENOMEM : 0;
}

/* ---- files ---- */

static int write_file(int fd, const view_file *record)
{
    FILE *stream = fdopen(fd, "w");
    if (NULL == stream) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    int rc = view_file_write(stream, record);
    if (rc == 0 && fsync(fd) != 0)
        rc = -errno;
    if (fclose(stream) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

/* A new file beside the one that it will replace, with the mode that the umask gives; its name is
 * the caller's to free. */
static int open_beside(const char *path, char **name)
{
    if (asprintf(name, "%s.XXXXXX", path) < 0) {
        *name = NULL;
        return -ENOMEM;
    }
    int fd = mkstemp(*name);
    if (fd >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        (void)fchmod(fd, 0666 & ~mask);
        return fd;
    }
    int rc = -errno;
    free(*name);
    *name = NULL;
    return rc;
}

static int replace_file(const char *path, const view_file *record)
{
    char *name;
    int fd = open_beside(path, &name);
    if (fd < 0)
        return fd;
    int rc = write_file(fd, record);
    if (rc == 0 && rename(name, path) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(name);
    free(name);
    return rc;
}

/* Takes the lock file, which its last holder may be about to remove. The descriptor, or an error.
 */
static int lock_record(const char *lock)
{
    for (;;) {
        struct stat held, named;
        int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return -errno;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &held) == 0 && stat(lock, &named) == 0 &&
            held.st_ino == named.st_ino && held.st_dev == named.st_dev)
            return fd;
        int error = errno;
        close(fd);
        if (error != ENOENT && error != EINTR && error != 0)
            return -error;
    }
}

/* ---- the record as it is ---- */

static void forget_written(void)
{
    view_file_release(&written.record);
    written.p = (provenance){0};
    written.known = false;
}

/* Whether the file is the one that this process has written. */
static bool is_as_written(const char *path)
{
    struct stat now;
    const struct stat *then = &written.file;
    return written.known && stat(path, &now) == 0 && now.st_dev == then->st_dev &&
           now.st_ino == then->st_ino && now.st_size == then->st_size &&
           now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

/* What the file holds, if it stems from this run: anything else will be replaced. */
static int read_present(const char *path)
{
    matrix_error error;
    char *comments = NULL;
    FILE *stream = fopen(path, "r");
    if (NULL == stream)
        return 0;
    int rc = matrix_read_comments(stream, &comments);
    if (rc == 0)
        written.p = parse_comments(comments);
    free(comments);
    if (rc == 0 && written.p.ours) {
        rewind(stream);
        rc = view_file_read(stream, &written.record, &error);
    } else {
        written.p = (provenance){0};
    }
    fclose(stream);
    return rc;
}

static int add_delta(void)
{
    view_file more = delta.profile;
    int rc = delta.view.rows > 0 ? matrix_builder_finish(&delta.view, &more.view) : 0;
    if (rc == 0)
        rc = view_file_add(&written.record, &more);
    matrix_release(&more.view);
    written.p.files += delta.p.files;
    written.p.accesses += delta.p.accesses;
    written.p.bytes += delta.p.bytes;
    written.p.missed += delta.p.missed;
    return rc;
}

/* The record is `written`, which is as the file is unless something fails. */
static int update_file(const char *path)
{
    int rc = 0;
    if (!is_as_written(path)) {
        forget_written();
        rc = read_present(path);
    }
    written.known = false;
    if (rc == 0)
        rc = add_delta();
    free(written.record.comments);
    written.record.comments = NULL;
    if (rc == 0)
        rc = describe(&written.p, &written.record.comments);
    if (rc == 0)
        rc = replace_file(path, &written.record);
    written.known = rc == 0 && stat(path, &written.file) == 0;
    if (!written.known)
        forget_written();
    return rc;
}

static int update_locked(const char *path)
{
    char *lock;
    if (asprintf(&lock, "%s.lock", path) < 0)
        return -ENOMEM;
    int fd = lock_record(lock), rc = fd;
    if (fd >= 0) {
        rc = update_file(path);
        unlink(lock);
        close(fd);
    }
    free(lock);
    return rc;
}

/* ---- when it is written ---- */

static const char *reason(int rc)
{
    return rc == OMPI_ERR_OUT_OF_RESOURCE ? strerror(ENOMEM)
                                          : "a part of it could not be collected";
}

static void write_record(const char *path)
{
    double begun = MPI_Wtime();
    int rc = delta.view.rows > 0 ? update_locked(path) : 0;
    if (rc != 0)
        tatp_show_help("record", path, strerror(-rc));
    else if (OMPI_SUCCESS != delta.error)
        tatp_show_help("record-part", path, reason(delta.error));
    forget_delta();
    written.at = MPI_Wtime();
    written.cost = written.at - begun;
}

static void flush(bool at_end)
{
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    if (delta.something && NULL != delta.path &&
        (at_end || MPI_Wtime() - written.at >= PART_OF_TIME * written.cost))
        write_record(delta.path);
    if (at_end)
        forget_written();
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
}

void tatp_record_flush(void)
{
    if (delta.something)
        ask_for_the_end();
    flush(false);
}

int tatp_record_check(void)
{
    static bool told; /* once a process, not at every file */
    const char *path = mca_fcoll_tatp_component.record_file;
    struct stat there;
    char *name;
    int fd;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        fd = -EISDIR;
    else
        fd = open_beside(path, &name);
    if (fd < 0) {
        if (!told)
            tatp_show_help("record-check", path, strerror(-fd));
        told = true;
        return MPI_ERR_ACCESS;
    }
    close(fd);
    unlink(name);
    free(name);
    return OMPI_SUCCESS;
}
