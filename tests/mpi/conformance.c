/* SPDX-License-Identifier: BSD-3-Clause */
/* What the conformance programs share: the run of the cases, the models, the calls. */
#include "conformance.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/seeded.h"

#define GUARD 64 /* bytes around each buffer that nobody may touch */
#define NAME_ROOM 96

const char *const kind_names[] = {"all",     "split_all",     "i_all",
                                  "at_all",  "split_at_all",  "i_at_all",
                                  "ordered", "split_ordered", NULL};
const char *const pointer_kinds[] = {"all", "split_all", "i_all", NULL};
const char *const own_kinds[] = {"all",          "split_all", "i_all", "at_all",
                                 "split_at_all", "i_at_all",  NULL};
const char *const offset_kinds[] = {"at_all", "split_at_all", "i_at_all", NULL};

/* --- what is found --- */

static void keep(char *text, size_t room, const char *format, va_list arguments)
{
    if (text[0] == '\0')
        vsnprintf(text, room, format, arguments);
}

void differ(struct test *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep(t->failure, sizeof t->failure, format, arguments);
    va_end(arguments);
}

void skip_case(struct test *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep(t->skip, sizeof t->skip, format, arguments);
    va_end(arguments);
}

void must(struct test *t, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    differ(t, "%s: %s", what, text);
}

int same_class(struct test *t, const char *what, int code)
{
    int own = MPI_SUCCESS, least, most;
    MPI_Error_class(code, &own);
    MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, t->comm);
    MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, t->comm);
    if (least != most)
        differ(t, "%s: error classes %d to %d, %d on this rank", what, least, most, own);
    return most;
}

bool all_well(const struct test *t)
{
    int wrong = t->failure[0] != '\0', somewhere;
    MPI_Allreduce(&wrong, &somewhere, 1, MPI_INT, MPI_MAX, t->comm);
    return !somewhere;
}

void *checked_alloc(size_t count, size_t size)
{
    size_t bytes;
    void *at = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        at = calloc(1, bytes > 0 ? bytes : 1);
    if (at == NULL) {
        fprintf(stderr, "conformance: no memory for %zu x %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return at;
}

uint64_t mix(uint64_t x)
{
    return next_random(&x);
}

unsigned char content(uint64_t seed, int64_t k)
{
    unsigned char byte = (unsigned char)(mix(seed << 40 ^ (uint64_t)k) % 254 + 1);
    return byte == FILLING ? 0xff : byte;
}

void fill_content(unsigned char *at, int64_t size, uint64_t seed)
{
    for (int64_t k = 0; k < size; k++)
        at[k] = content(seed, k);
}

/* --- the file and its model --- */

void bytes_extend(struct bytes *b, int64_t size)
{
    if (size > b->room) {
        unsigned char *larger = checked_alloc((size_t)size, 2);
        if (b->size > 0)
            memcpy(larger, b->at, (size_t)b->size);
        free(b->at);
        b->at = larger;
        b->room = 2 * size;
    }
    if (size > b->size)
        b->size = size;
}

void bytes_put(struct bytes *b, int64_t offset, unsigned char value)
{
    bytes_extend(b, offset + 1);
    b->at[offset] = value;
}

void bytes_copy(struct bytes *b, int64_t offset, const void *from, size_t size)
{
    bytes_extend(b, offset + (int64_t)size);
    memcpy(b->at + offset, from, size);
}

void bytes_release(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){0};
}

void create_file(struct test *t, const struct bytes *bytes)
{
    if (t->rank == 0) {
        FILE *f = fopen(t->path, "w");
        size_t size = (size_t)bytes->size;
        if (f == NULL || (size > 0 && fwrite(bytes->at, 1, size, f) != size) || fclose(f) != 0)
            differ(t, "cannot create %s: %s", t->path, strerror(errno));
    }
    MPI_Barrier(t->comm);
}

struct bytes create_filled(struct test *t, int64_t size, uint64_t seed)
{
    struct bytes model = {0};
    bytes_extend(&model, size);
    fill_content(model.at, size, seed);
    create_file(t, &model);
    return model;
}

bool peek(struct test *t, const char *path, int64_t offset, void *at, size_t size)
{
    int fd = open(path, O_RDONLY);
    size_t done = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    while (done < size && got > 0) {
        got = pread(fd, (char *)at + done, size - done, offset + (int64_t)done);
        done += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    if (done < size)
        differ(t, "the file ends at byte %" PRId64, offset + (int64_t)done);
    return done == size;
}

static void compare_file(struct test *t, const char *path, const struct bytes *model)
{
    struct stat status;
    if (stat(path, &status) != 0 || status.st_size != model->size)
        differ(t, "the file has %" PRId64 " bytes, not %" PRId64, (int64_t)status.st_size,
               model->size);
    unsigned char *got = checked_alloc((size_t)model->size, 1);
    if (peek(t, path, 0, got, (size_t)model->size)) {
        for (int64_t i = 0; i < model->size; i++)
            if (got[i] != model->at[i]) {
                differ(t, "byte %" PRId64 " of the file is %02x, not %02x", i, got[i],
                       model->at[i]);
                break;
            }
    }
    free(got);
}

void check_path(struct test *t, const char *path, struct bytes *model)
{
    MPI_Barrier(t->comm);
    if (t->rank == 0)
        compare_file(t, path, model);
    bytes_release(model);
    MPI_Barrier(t->comm);
}

void check_file(struct test *t, struct bytes *model)
{
    check_path(t, t->path, model);
}

MPI_Info make_info(const char *hints)
{
    char text[512], *rest = text, *value;
    MPI_Info info = MPI_INFO_NULL;
    snprintf(text, sizeof text, "%s", hints);
    while ((value = strsep(&rest, " ")) != NULL && *value != '\0') {
        const char *key = strsep(&value, "=");
        if (info == MPI_INFO_NULL)
            MPI_Info_create(&info);
        MPI_Info_set(info, (char *)key, value);
    }
    return info;
}

MPI_File open_path(MPI_Comm comm, const char *path, int amode, const char *hints)
{
    MPI_File file;
    MPI_Info info = make_info(hints);
    if (MPI_File_open(comm, path, amode, info, &file) != MPI_SUCCESS) {
        fprintf(stderr, "conformance: cannot open %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return file;
}

MPI_File open_with(struct test *t, int amode, const char *hints)
{
    return open_path(t->comm, t->path, amode, hints);
}

MPI_File open_file(struct test *t, int amode)
{
    return open_with(t, amode, "");
}

void close_file(struct test *t, MPI_File *file)
{
    must(t, "close", MPI_File_close(file));
}

void synchronise(struct test *t, MPI_File file)
{
    must(t, "sync", MPI_File_sync(file));
    MPI_Barrier(t->comm);
    must(t, "sync", MPI_File_sync(file));
}

/* --- views and memory by formula --- */

MPI_Datatype element(int etype)
{
    return etype == 8 ? MPI_DOUBLE : etype == 4 ? MPI_INT : MPI_BYTE;
}

int64_t view_place(const struct view *v, int64_t k)
{
    return v->first + k / v->block * v->stride + k % v->block;
}

void set_view(struct test *t, MPI_File file, const struct view *v)
{
    set_view_as(t, file, v, "native", MPI_INFO_NULL);
}

void set_view_as(struct test *t, MPI_File file, const struct view *v, const char *datarep,
                 MPI_Info info)
{
    MPI_Datatype block, filetype;
    MPI_Type_contiguous((int)(v->block / v->etype), element(v->etype), &block);
    MPI_Type_create_resized(block, 0, v->stride, &filetype);
    MPI_Type_commit(&filetype);
    must(t, "set_view",
         MPI_File_set_view(file, v->first, element(v->etype), filetype, datarep, info));
    MPI_Type_free(&filetype);
    MPI_Type_free(&block);
}

void model_write(struct bytes *model, const struct view *v, int64_t from, int64_t bytes,
                 uint64_t seed)
{
    for (int64_t k = 0; k < bytes; k++)
        bytes_put(model, view_place(v, from + k), content(seed, k));
}

struct view dealt_view(const struct deal *d, const struct test *t, int rank)
{
    return (struct view){d->first + rank * d->step, d->block, t->ranks * d->step + d->gap,
                         d->etype};
}

void set_dealt_view(struct test *t, MPI_File file, const struct deal *d)
{
    const struct view v = dealt_view(d, t, t->rank);
    set_view(t, file, &v);
}

void model_deal(const struct test *t, struct bytes *model, const struct deal *d, int64_t from,
                int64_t bytes, uint64_t seed)
{
    for (int rank = 0; rank < t->ranks && t->rank == 0; rank++) {
        const struct view v = dealt_view(d, t, rank);
        model_write(model, &v, from, bytes, seed + (uint64_t)rank);
    }
}

/* Blocks of `m` as one type with a bound of its own, `count` of them. */
static void blocks_resized(struct memory *m, MPI_Datatype block, int64_t blocks)
{
    MPI_Datatype moved;
    MPI_Aint at = m->first;
    int one = 1;
    MPI_Type_create_hindexed(1, &one, &at, block, &moved);
    MPI_Type_create_resized(moved, m->first, m->stride, &m->type);
    MPI_Type_free(&moved);
    m->count = (int)blocks;
}

static void blocks_absolute(struct memory *m, MPI_Datatype block, int64_t blocks)
{
    MPI_Aint start;
    MPI_Datatype row;
    int one = 1;
    MPI_Get_address(m->origin, &start);
    MPI_Type_create_hvector((int)blocks, 1, m->stride, block, &row);
    MPI_Type_create_hindexed(1, &one, &start, row, &m->type);
    MPI_Type_free(&row);
    m->address = MPI_BOTTOM;
    m->count = 1;
}

static void make_type(struct memory *m, enum shape shape, int etype, int64_t blocks)
{
    MPI_Datatype block;
    MPI_Type_contiguous((int)(m->block / etype), element(etype), &block);
    if (shape == PLAIN) {
        MPI_Type_dup(block, &m->type);
        m->count = (int)blocks;
    } else if (shape == NEGATIVE || shape == RESIZED) {
        blocks_resized(m, block, blocks);
    } else if (shape == ABSOLUTE) {
        blocks_absolute(m, block, blocks);
    } else {
        MPI_Type_create_hvector((int)blocks, 1, m->stride, block, &m->type);
        m->count = 1;
    }
    MPI_Type_commit(&m->type);
    MPI_Type_free(&block);
}

/* The largest block of at most `most` elements that goes into `bytes` without a rest. */
static int64_t choose_block(int64_t bytes, int etype, int most)
{
    int64_t n = bytes / etype;
    for (int64_t b = most; b > 1; b--)
        if (n % b == 0)
            return b * etype;
    return etype;
}

struct memory memory_make(enum shape shape, int64_t bytes, int etype)
{
    struct memory m = {.bytes = bytes};
    m.block = choose_block(bytes, etype, shape == PLAIN ? 4096 : 7);
    m.stride = shape == PLAIN ? m.block : m.block + 2 * etype;
    int64_t blocks = bytes / m.block, hull = blocks * m.stride;
    m.size = hull + 2 * m.stride + 2 * GUARD;
    m.whole = checked_alloc((size_t)m.size, 1);
    m.origin = m.whole + GUARD + m.stride;
    if (shape == BACKWARD) {
        m.origin += hull;
        m.stride = -m.stride;
    }
    m.first = shape == NEGATIVE ? -(m.block + etype) : 0;
    m.address = m.origin;
    memset(m.whole, FILLING, (size_t)m.size);
    make_type(&m, shape, etype, blocks);
    return m;
}

static void fill_blocks(const struct memory *m, unsigned char *origin, int64_t bytes, uint64_t seed)
{
    unsigned char *at = origin + m->first;
    for (int64_t k = 0; k < bytes; at += m->stride)
        for (int64_t i = 0; i < m->block && k < bytes; i++)
            at[i] = content(seed, k++);
}

void memory_fill(struct memory *m, uint64_t seed)
{
    fill_blocks(m, m->origin, m->bytes, seed);
}

void memory_check(struct test *t, const struct memory *m, int64_t valid, uint64_t seed)
{
    unsigned char *wanted = checked_alloc((size_t)m->size, 1);
    memset(wanted, FILLING, (size_t)m->size);
    fill_blocks(m, wanted + (m->origin - m->whole), valid, seed);
    for (int64_t i = 0; i < m->size; i++)
        if (m->whole[i] != wanted[i]) {
            differ(t, "byte %" PRId64 " from the buffer's start is %02x, not %02x",
                   i - (m->origin - m->whole), m->whole[i], wanted[i]);
            break;
        }
    free(wanted);
}

void memory_release(struct memory *m)
{
    MPI_Type_free(&m->type);
    free(m->whole);
}

/* --- the calls --- */

bool is_ordered(enum kind kind)
{
    return kind == ORDERED || kind == SPLIT_ORDERED;
}

bool has_offset(enum kind kind)
{
    return kind == AT_ALL || kind == SPLIT_AT_ALL || kind == I_AT_ALL;
}

/* call_write and call_read differ in names only. */
#define DEFINE_CALL(verb)                                                                          \
    int call_##verb(enum kind kind, MPI_File f, int64_t offset, const struct memory *m,            \
                    MPI_Status *s)                                                                 \
    {                                                                                              \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        void *at = m->address;                                                                     \
        int n = m->count, rc;                                                                      \
        switch (kind) {                                                                            \
        case ALL: return MPI_File_##verb##_all(f, at, n, m->type, s);                              \
        case AT_ALL: return MPI_File_##verb##_at_all(f, offset, at, n, m->type, s);                \
        case ORDERED: return MPI_File_##verb##_ordered(f, at, n, m->type, s);                      \
        case SPLIT_ALL:                                                                            \
            rc = MPI_File_##verb##_all_begin(f, at, n, m->type);                                   \
            return rc != MPI_SUCCESS ? rc : MPI_File_##verb##_all_end(f, at, s);                   \
        case SPLIT_AT_ALL:                                                                         \
            rc = MPI_File_##verb##_at_all_begin(f, offset, at, n, m->type);                        \
            return rc != MPI_SUCCESS ? rc : MPI_File_##verb##_at_all_end(f, at, s);                \
        case SPLIT_ORDERED:                                                                        \
            rc = MPI_File_##verb##_ordered_begin(f, at, n, m->type);                               \
            return rc != MPI_SUCCESS ? rc : MPI_File_##verb##_ordered_end(f, at, s);               \
        case I_ALL: rc = MPI_File_i##verb##_all(f, at, n, m->type, &request); break;               \
        default: rc = MPI_File_i##verb##_at_all(f, offset, at, n, m->type, &request); break;       \
        }                                                                                          \
        return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, s);                                     \
    }
DEFINE_CALL(write)
DEFINE_CALL(read)

static int move_data(struct test *t, enum kind kind, bool write, MPI_File file,
                     const struct data *d)
{
    struct memory m = memory_make(d->shape, d->bytes, d->etype);
    MPI_Status status, *asked = d->no_status ? MPI_STATUS_IGNORE : &status;
    if (write)
        memory_fill(&m, d->seed);
    int rc = (write ? call_write : call_read)(kind, file, d->from / d->etype, &m, asked);
    if (write || rc == MPI_SUCCESS)
        memory_check(t, &m, d->bytes, d->seed);
    if (rc == MPI_SUCCESS && !d->no_status)
        check_count(t, write ? "write" : "read", &status, d->bytes);
    memory_release(&m);
    return rc;
}

int write_data(struct test *t, enum kind kind, MPI_File file, const struct data *d)
{
    return move_data(t, kind, true, file, d);
}

int read_data(struct test *t, enum kind kind, MPI_File file, const struct data *d)
{
    return move_data(t, kind, false, file, d);
}

void check_count(struct test *t, const char *what, const MPI_Status *status, int64_t wanted)
{
    MPI_Count bytes;
    MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    if (bytes != wanted)
        differ(t, "%s: the status has %lld bytes, not %" PRId64, what, (long long)bytes, wanted);
}

/* --- the run --- */

struct options {
    const char *dir;
    bool list, threads;
    char **pattern;
    int patterns, limit;
};

static bool is_wanted(const struct options *o, const char *name)
{
    for (int i = 0; i < o->patterns; i++)
        if (fnmatch(o->pattern[i], name, 0) == 0)
            return true;
    return o->patterns == 0;
}

/* The first rank that has something to say, says it. */
static bool report(struct test *t, const char *name)
{
    int own = t->failure[0] != '\0' ? t->rank : t->ranks, first;
    MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, t->comm);
    if (first == t->rank)
        printf("not ok %s # rank %d: %s\n", name, t->rank, t->failure);
    else if (first == t->ranks && t->rank == 0)
        printf(t->skip[0] != '\0' ? "skip %s # %s\n" : "ok %s\n", name, t->skip);
    fflush(stdout);
    return first == t->ranks;
}

void run_alone(struct test *t, const struct family *f, int variant)
{
    t->row = f->row;
    f->run(t, variant);
    MPI_Barrier(t->comm);
    if (t->rank == 0)
        unlink(t->path);
}

static bool run_case(const struct options *o, const struct family *f, int variant, const char *name)
{
    struct test t = {.dir = o->dir, .threads = o->threads};
    int process = (int)getpid();
    MPI_Comm_dup(MPI_COMM_WORLD, &t.comm);
    MPI_Comm_rank(t.comm, &t.rank);
    MPI_Comm_size(t.comm, &t.ranks);
    MPI_Bcast(&process, 1, MPI_INT, 0, t.comm);
    /* Statistics show whose lines they are. */
    snprintf(t.path, sizeof t.path, "%s/%s-%s.%d", o->dir, f->name,
             f->variants != NULL ? f->variants[variant] : "", process);
    alarm((unsigned)o->limit);
    run_alone(&t, f, variant);
    alarm(0);
    bool well = report(&t, name);
    MPI_Comm_free(&t.comm);
    return well;
}

/* Runs or lists each wanted case. */
static bool for_each(const struct options *o, const struct family *f)
{
    static const char *const none[] = {NULL, NULL};
    bool well = true;
    for (; f->name != NULL; f++) {
        const char *const *variant = f->variants != NULL ? f->variants : none;
        for (int i = 0; i == 0 || variant[i] != NULL; i++) {
            char name[NAME_ROOM];
            snprintf(name, sizeof name, "%s%s%s", f->name, variant[i] ? "/" : "",
                     variant[i] ? variant[i] : "");
            if (!is_wanted(o, name))
                continue;
            if (o->list)
                puts(name);
            else
                well = run_case(o, f, i, name) && well;
        }
    }
    return well;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'd': o->dir = text; return 0;
    case 'l': o->list = true; return 0;
    case 't': o->threads = true; return 0;
    case 's': o->limit = atoi(text); return 0;
    case ARGP_KEY_ARGS:
        o->pattern = state->argv + state->next;
        o->patterns = state->argc - state->next;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static struct options parse_options(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"dir", 'd', "DIR", 0, "Where the files go ($TMPDIR or /tmp)", 0},
        {"list", 'l', NULL, 0, "Name the cases and end", 0},
        {"limit", 's', "SECONDS", 0, "What a case may take before the program is ended (120)", 0},
        {"threads", 't', NULL, 0, "With MPI_THREAD_MULTIPLE", 0},
        {0},
    };
    static const struct argp parser = {
        .options = table,
        .parser = parse_option,
        .args_doc = "[PATTERN...]",
        .doc = "Runs the cases whose names match a pattern, or all.",
    };
    struct options o = {.dir = getenv("TMPDIR"), .limit = 120};
    if (o.dir == NULL)
        o.dir = "/tmp";
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    return o;
}

int conformance_main(int argc, char **argv, const struct family *const *table)
{
    struct options o = parse_options(argc, argv);
    bool well = true;
    int provided = MPI_THREAD_MULTIPLE;
    if (!o.list)
        MPI_Init_thread(&argc, &argv, o.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                        &provided);
    o.threads = o.threads && provided == MPI_THREAD_MULTIPLE;
    for (; *table != NULL; table++)
        well = for_each(&o, *table) && well;
    if (!o.list)
        MPI_Finalize();
    return well ? 0 : 1;
}
