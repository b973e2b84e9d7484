/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: which ranks access neighbouring regions of the files, as a view matrix in world
 * ranks, for placement at the next launch.
 *
 * Each aggregator has the accesses to its domain at hand and counts who follows whom there; rank 0
 * of the file adds the domains up, and the borders between them. What it holds goes to the record
 * file when a file is closed. Several ranks may hold something (sub-communicators): they take
 * turns by a lock file, add to what is there when it stems from this run, replace it otherwise, and
 * put the whole in place by a rename, so that a killed run leaves the old file or a new one. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/merge.h"
#include "ompi/communicator/communicator.h"
#include "ompi/proc/proc.h"
#include "ompi/mca/rte/rte.h"

/* What this process holds and the record file does not have yet. */
typedef struct record_delta {
    matrix_builder counts; /* world ranks */
    int64_t accesses, bytes, files;
} record_delta;

static record_delta delta;

bool tatp_records(void)
{
    const char *path = mca_fcoll_tatp_component.record_file;
    return path != NULL && path[0] != '\0';
}

static size_t world_size(void)
{
    return (size_t)ompi_process_info.num_procs;
}

/* ---- collecting ---- */

/* A rank of the communicator as a world rank; SIZE_MAX for a process of another job. */
static size_t world_rank(ompio_file_t *fh, int rank)
{
    const ompi_proc_t *proc = ompi_comm_peer_lookup(fh->f_comm, rank);
    if (proc->super.proc_name.jobid != OMPI_PROC_MY_NAME->jobid)
        return SIZE_MAX;
    return (size_t)proc->super.proc_name.vpid < world_size() ? proc->super.proc_name.vpid
                                                             : SIZE_MAX;
}

/* What an aggregator sends: its domain and the ends of what is accessed there, then triples. */
enum { FIELD_DOMAIN, FIELD_FIRST, FIELD_LAST, FIELD_LOWER, FIELD_UPPER, FIELD_BYTES,
       FIELDS };
enum { TRIPLE_ROW, TRIPLE_COL, TRIPLE_VALUE, TRIPLE_WORDS };

/* The contributors that are of this job, as parallel arrays for the count. */
static int count_in_domain(tatp_pass *pass, matrix_builder *counts, access_ends *ends)
{
    size_t n = 0, all = pass->schedule->contributors;
    access_list *list = calloc(all + 1, sizeof *list);
    size_t *owner = calloc(all + 1, sizeof *owner);
    int rc = list == NULL || owner == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < all && rc == 0; i++) {
        size_t rank = world_rank(pass->fh, pass->schedule->contributor[i].rank);
        if (rank == SIZE_MAX)
            continue;
        list[n] = pass->schedule->contributor[i].list;
        owner[n++] = rank;
    }
    if (rc == 0)
        rc = access_count_neighbours(list, owner, n, counts, ends);
    free(list);
    free(owner);
    return rc;
}

static int64_t *encode(const tatp_pass *pass, const matrix *m, const access_ends *ends,
                       size_t *words)
{
    size_t n = FIELDS;
    *words = FIELDS + m->row_start[m->rows] * TRIPLE_WORDS;
    int64_t *word = malloc(*words * sizeof *word);
    if (word == NULL)
        return NULL;
    word[FIELD_DOMAIN] = (int64_t)pass->schedule->domain;
    word[FIELD_FIRST] = (int64_t)ends->first_owner;
    word[FIELD_LAST] = (int64_t)ends->last_owner;
    word[FIELD_LOWER] = ends->lower;
    word[FIELD_UPPER] = ends->upper;
    word[FIELD_BYTES] = 0;
    for (size_t i = 0; i < pass->schedule->contributors; i++)
        word[FIELD_BYTES] += pass->schedule->contributor[i].list.bytes;
    for (size_t i = 0; i < m->rows; i++) {
        for (size_t k = m->row_start[i]; k < m->row_start[i + 1]; k++) {
            word[n++] = (int64_t)i;
            word[n++] = (int64_t)m->col[k];
            word[n++] = m->value[k];
        }
    }
    return word;
}

/* This rank's message to rank 0; none when it has no domain or nobody of this job is in it. */
static int describe_domain(tatp_pass *pass, int64_t **words, size_t *count)
{
    matrix_builder counts = {.rows = world_size(), .cols = world_size()};
    access_ends ends;
    matrix m;
    *words = NULL;
    *count = 0;
    if (!pass->schedule->aggregates)
        return OMPI_SUCCESS;
    int rc = count_in_domain(pass, &counts, &ends);
    if (rc == 0 && ends.first_owner != SIZE_MAX) {
        rc = matrix_builder_finish(&counts, &m);
        if (rc == 0) {
            *words = encode(pass, &m, &ends, count);
            rc = *words == NULL ? -ENOMEM : 0;
            matrix_release(&m);
        }
    }
    matrix_builder_clear(&counts);
    return tatp_from_errno(rc);
}

/* The domains' ends in the order of the domains, so that neighbours across a border are counted.
 * One block that the border has cut is no neighbour of itself. */
static int add_borders(const tatp_pass *pass, const int64_t **of_domain, matrix_builder *counts)
{
    const int64_t *before = NULL;
    int rc = 0;
    for (size_t j = 0; j < pass->schedule->domains.count && rc == 0; j++) {
        const int64_t *here = of_domain[j];
        if (here == NULL)
            continue;
        if (before != NULL) {
            size_t a = (size_t)before[FIELD_LAST], b = (size_t)here[FIELD_FIRST];
            bool cut = a == b && here[FIELD_LOWER] == 0 &&
                       before[FIELD_UPPER] == pass->schedule->domains.size[before[FIELD_DOMAIN]];
            if (!cut)
                rc = matrix_builder_add(counts, a, b, 1);
            if (!cut && rc == 0)
                rc = matrix_builder_add(counts, b, a, 1);
        }
        before = here;
    }
    return rc;
}

static int add_triples(const int64_t *words, int count, matrix_builder *counts)
{
    int rc = 0;
    for (int w = FIELDS; w < count && rc == 0; w += TRIPLE_WORDS)
        rc = matrix_builder_add(counts, (size_t)words[w + TRIPLE_ROW],
                                (size_t)words[w + TRIPLE_COL], words[w + TRIPLE_VALUE]);
    return rc;
}

/* On rank 0: the view matrix of the pass, and the bytes that it accesses. */
static int assemble(const tatp_pass *pass, const int64_t *all, matrix *m, int64_t *bytes)
{
    const tatp_nodes *where = &pass->module->where;
    matrix_builder counts = {.rows = world_size(), .cols = world_size()};
    const int64_t **of_domain = calloc(pass->schedule->domains.count, sizeof *of_domain);
    int rc = of_domain == NULL ? -ENOMEM : 0;
    for (int r = 0; r < pass->fh->f_size && rc == 0; r++) {
        const int64_t *words = all + where->start[r];
        if (where->count[r] == 0)
            continue;
        of_domain[words[FIELD_DOMAIN]] = words;
        *bytes += words[FIELD_BYTES];
        rc = add_triples(words, where->count[r], &counts);
    }
    if (rc == 0)
        rc = add_borders(pass, of_domain, &counts);
    if (rc == 0)
        rc = matrix_builder_finish(&counts, m);
    matrix_builder_clear(&counts);
    free(of_domain);
    return rc;
}

/* The view matrix of a pass on rank 0 (elsewhere *m stays empty). Collective; the error is
 * everyone's. */
static int collect(tatp_pass *pass, matrix *m, int64_t *bytes)
{
    int64_t *words, *all;
    size_t count;
    memset(m, 0, sizeof *m);
    *bytes = 0;
    int rc = describe_domain(pass, &words, &count);
    rc = tatp_gather(pass->fh, &pass->module->where, words, count, rc, &all);
    if (rc == OMPI_SUCCESS && pass->fh->f_rank == 0)
        rc = tatp_from_errno(assemble(pass, all, m, bytes));
    free(words);
    free(all);
    return tatp_agree_error(pass->fh, rc);
}

/* ---- the sum on this process ---- */

static int add(const matrix *m, int64_t sign)
{
    if (delta.counts.rows == 0)
        delta.counts.rows = delta.counts.cols = world_size();
    return m->rows == 0 ? 0 : matrix_builder_add_matrix(&delta.counts, m, sign);
}

/* The accesses, in place of the view that was counted when it was set. */
static int keep_pass(tatp_module *module)
{
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    int rc = add(&module->recorded_view, -1);
    if (rc == 0)
        rc = add(&module->recorded_pass, 1);
    delta.files += module->recorded ? 0 : 1;
    delta.accesses++;
    delta.bytes += module->recorded_bytes;
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    module->recorded = true;
    matrix_release(&module->recorded_view);
    return tatp_from_errno(rc);
}

/* What to add for a pass; it stays with the module on rank 0. The count goes over domains of its own,
 * one contiguous piece of the range for each aggregator, whatever the data's were. Collective. */
static int count_pass(const tatp_pass *pass)
{
    tatp_module *module = pass->module;
    tatp_schedule schedule = {.lo = pass->schedule->lo, .hi = pass->schedule->hi, .contiguous = true};
    tatp_pass counted = {.fh = pass->fh, .module = module, .file = pass->file, .schedule = &schedule};
    int local = OMPI_SUCCESS;
    matrix_release(&module->recorded_pass);
    int rc = tatp_find_contributors(&counted, OMPI_SUCCESS, &local);
    if (rc == OMPI_SUCCESS)
        rc = tatp_agree_error(pass->fh, local);
    if (rc == OMPI_SUCCESS)
        rc = collect(&counted, &module->recorded_pass, &module->recorded_bytes);
    tatp_schedule_release(&schedule);
    return rc;
}

/* A pass that repeats another's accesses counts as much as that one. */
int tatp_record_pass(const tatp_pass *pass)
{
    int rc = pass->again ? OMPI_SUCCESS : count_pass(pass);
    if (rc == OMPI_SUCCESS && pass->fh->f_rank == 0)
        rc = keep_pass(pass->module);
    return tatp_agree_error(pass->fh, rc);
}

/* ---- a view that nobody may ever access through tatp ---- */

/* One period of the view where it stands in the file. A contiguous view says nothing about who is
 * whose neighbour, and a view that overlaps itself is left to the accesses. */
static int view_access(ompio_file_t *fh, access_list *list)
{
    int rc = 0;
    if (fh->f_flags & OMPIO_CONTIGUOUS_FVIEW)
        return OMPI_SUCCESS;
    for (uint32_t i = 0; i < fh->f_iov_count && rc == 0; i++)
        rc = access_append(list, (int64_t)fh->f_disp + (int64_t)(intptr_t)fh->f_decoded_iov[i].iov_base,
                           (int64_t)fh->f_decoded_iov[i].iov_len, list->bytes);
    if (rc == 0 && !access_is_ordered(list))
        access_clear(list);
    return tatp_from_errno(rc);
}

static void keep_view(tatp_module *module, matrix *m)
{
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    int rc = add(m, 1);
    delta.files += module->recorded ? 0 : 1;
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    module->recorded = true;
    if (rc != 0)
        return;
    module->recorded_view = *m;
    memset(m, 0, sizeof *m);
}

void tatp_record_view(ompio_file_t *fh, tatp_module *module)
{
    access_list list = {0};
    matrix m = {0};
    int64_t bytes, passes = 1;
    tatp_schedule schedule = {.contiguous = true};
    tatp_pass pass = {.fh = fh, .module = module, .file = &list, .schedule = &schedule};
    matrix_release(&module->recorded_view);
    int rc = tatp_where(fh, module);
    if (rc != OMPI_SUCCESS)
        return;
    rc = tatp_agree_range(&pass, view_access(fh, &list), &passes);
    if (rc == OMPI_SUCCESS && schedule.hi > 0) {
        int local = OMPI_SUCCESS;
        rc = tatp_find_contributors(&pass, OMPI_SUCCESS, &local);
        if (rc == OMPI_SUCCESS)
            rc = tatp_agree_error(fh, local);
        if (rc == OMPI_SUCCESS)
            rc = collect(&pass, &m, &bytes);
    }
    if (rc == OMPI_SUCCESS && fh->f_rank == 0 && m.rows > 0)
        keep_view(module, &m);
    matrix_release(&m);
    tatp_schedule_release(&schedule);
    access_release(&list);
}

/* ---- the record file ---- */

/* What tells this run from any other: mpirun draws a random key for each job. */
static const char *run_id(void)
{
    static char id[96];
    const char *key = getenv("OMPI_MCA_orte_precondition_transports");
    if (key != NULL && strlen(key) < sizeof id)
        return strcpy(id, key);
    snprintf(id, sizeof id, "%s.%ld", ompi_process_info.nodename, (long)ompi_process_info.pid);
    return id;
}

/* A whole file's contents beside the matrix. */
typedef struct provenance {
    bool ours;
    int64_t files, accesses, bytes;
} provenance;

/* Understands the lines that describe() writes. */
static void parse_comments(char *comments, provenance *p)
{
    char *rest = NULL;
    for (char *line = strtok_r(comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "run: ", 5) == 0)
            p->ours = strcmp(line + 5, run_id()) == 0;
        (void)sscanf(line, "files: %" SCNd64, &p->files);
        (void)sscanf(line, "accesses: %" SCNd64, &p->accesses);
        (void)sscanf(line, "bytes: %" SCNd64, &p->bytes);
    }
}

static int describe(const provenance *p, char **comments)
{
    int length = asprintf(comments,
                          "view matrix of fcoll/tatp, format 1\n"
                          "program: %s\nrun: %s\nranks: %zu\nfiles: %" PRId64
                          "\naccesses: %" PRId64 "\nbytes: %" PRId64 "\n",
                          program_invocation_short_name, run_id(), world_size(), p->files,
                          p->accesses, p->bytes);
    return length < 0 ? -ENOMEM : 0;
}

/* Adds what the file holds when it stems from this run; anything else will be replaced. */
static int add_present(const char *path, matrix_builder *sum, provenance *p)
{
    provenance present = {0};
    matrix_error error;
    matrix m;
    char *comments = NULL;
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return 0;
    int rc = matrix_read_comments(stream, &comments);
    if (rc == 0)
        parse_comments(comments, &present);
    free(comments);
    if (rc == 0 && present.ours) {
        rewind(stream);
        rc = matrix_read_fileview(stream, &m, &error);
        if (rc == 0)
            rc = matrix_builder_add_matrix(sum, &m, 1);
        if (rc == 0)
            matrix_release(&m);
        p->files += present.files;
        p->accesses += present.accesses;
        p->bytes += present.bytes;
    }
    fclose(stream);
    return rc;
}

static int write_file(int fd, const matrix *m, const provenance *p)
{
    char *comments;
    int rc = describe(p, &comments);
    if (rc != 0)
        return rc;
    FILE *stream = fdopen(fd, "w");
    if (stream == NULL) {
        free(comments);
        close(fd);
        return -errno;
    }
    rc = matrix_write_fileview(stream, m, comments);
    if (rc == 0 && fsync(fd) != 0)
        rc = -errno;
    if (fclose(stream) != 0 && rc == 0)
        rc = -errno;
    free(comments);
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

static int replace_file(const char *path, const matrix *m, const provenance *p)
{
    char *name;
    int fd = open_beside(path, &name);
    if (fd < 0)
        return fd;
    int rc = write_file(fd, m, p);
    if (rc == 0 && rename(name, path) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(name);
    free(name);
    return rc;
}

/* Takes the lock file, which its last holder may be about to remove. The descriptor, or an error. */
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

static int update_file(const char *path)
{
    provenance p = {true, delta.files, delta.accesses, delta.bytes};
    matrix m;
    int rc = add_present(path, &delta.counts, &p);
    if (rc == 0)
        rc = matrix_builder_finish(&delta.counts, &m);
    if (rc == 0) {
        rc = replace_file(path, &m, &p);
        matrix_release(&m);
    }
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

void tatp_record_flush(void)
{
    const char *path = mca_fcoll_tatp_component.record_file;
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    if (delta.counts.rows > 0) {
        int rc = update_locked(path);
        if (rc != 0)
            tatp_show_help("record", path, strerror(-rc));
        matrix_builder_clear(&delta.counts);
        memset(&delta, 0, sizeof delta);
    }
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
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
