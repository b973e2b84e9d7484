/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_NEXT, dl_iterate_phdr, fopencookie, off64_t, statfs64 */
#include "shim.h"

#include <mpi.h>
#ifdef OPEN_MPI
#include "ompi_config.h"

#include "ompi/constants.h"
#include "ompi/mca/pml/pml.h"
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <malloc.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define DELAY_NANOSECONDS 3000000L
#define MOST_STREAMS 16
#define MARK 0x7a3c5be1962d48f0u

const char *const shim_call_names[SHIM_CALLS] = {
    "memory", "map",    "segment", "open",  "close",  "read",   "write", "pread", "pwrite",  "size",
    "sync",   "rename", "flock",   "fcntl", "status", "advise", "spawn", "send",  "receive",
};
const char *const shim_fault_names[SHIM_LAST + 1] = {"fail",  "short", "interrupt",
                                                     "delay", "",      "last"};

/* Errors are taken in turn. */
enum { ERRORS = 3 };
static const struct {
    int error[ERRORS];
    bool has_bytes, can_wait;
} kinds[SHIM_CALLS] = {
    [SHIM_MEMORY] = {{ENOMEM, ENOMEM, ENOMEM}, false, false},
    [SHIM_MAP] = {{ENOMEM, EAGAIN, ENODEV}, false, false},
    [SHIM_SEGMENT] = {{EMFILE, EACCES, ENOMEM}, false, false},
    [SHIM_OPEN] = {{EMFILE, EACCES, EIO}, false, true},
    [SHIM_CLOSE] = {{EIO, ENOSPC, EDQUOT}, false, false},
    [SHIM_READ] = {{EIO, ESTALE, EIO}, true, true},
    [SHIM_WRITE] = {{ENOSPC, EIO, EDQUOT}, true, true},
    [SHIM_PREAD] = {{EIO, ESTALE, EIO}, true, true},
    [SHIM_PWRITE] = {{ENOSPC, EIO, EDQUOT}, true, true},
    [SHIM_SIZE] = {{ENOSPC, EIO, EFBIG}, false, true},
    [SHIM_SYNC] = {{EIO, ENOSPC, EDQUOT}, false, true},
    [SHIM_RENAME] = {{EIO, EACCES, ENOSPC}, false, false},
    [SHIM_FLOCK] = {{ENOLCK, EIO, ENOLCK}, false, true},
    [SHIM_FCNTL] = {{ENOLCK, EIO, ENOLCK}, false, true},
    [SHIM_STATUS] = {{EIO, ESTALE, EACCES}, false, false},
    [SHIM_ADVISE] = {{EFAULT, EINVAL, ENOMEM}, false, false},
    [SHIM_SPAWN] = {{EAGAIN, ENOMEM, EACCES}, false, false},
    [SHIM_SEND] = {{ENOMEM, ENOMEM, ENOMEM}, false, false},
    [SHIM_RECEIVE] = {{ENOMEM, ENOMEM, ENOMEM}, false, false},
};

bool shim_can(enum shim_call call, enum shim_fault fault)
{
    switch (fault) {
    case SHIM_SHORT: return kinds[call].has_bytes;
    case SHIM_INTERRUPT: return kinds[call].can_wait;
    case SHIM_DELAY: return call != SHIM_MEMORY && call != SHIM_STATUS && call < SHIM_SEND;
    default: return true;
    }
}

/* --- whose call it is --- */

struct code {
    const char *object;
    uintptr_t begin, end;
};
static struct code component, transfer;

static int find_code(struct dl_phdr_info *info, size_t size, void *context)
{
    struct code *code = context;
    (void)size;
    if (strstr(info->dlpi_name, code->object) == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            code->begin = info->dlpi_addr + p->p_vaddr;
            code->end = code->begin + p->p_memsz;
        }
    }
    return 1;
}

/* The first of the objects that the process has. */
static struct code find_first(const char *const *object)
{
    struct code code = {.object = *object};
    while (dl_iterate_phdr(find_code, &code) == 0 && *++object != NULL)
        code.object = *object;
    return code;
}

/* Where fbtl/posix is: in Open MPI 4.1, 6 and 5. */
static void find_objects(void)
{
    component = find_first((const char *[]){"libtatp-mpiio.so", "mca_fcoll_tatp.so", NULL});
    transfer =
        find_first((const char *[]){"mca_fbtl_posix.so", "libopen_mpi.so", "libmpi.so", NULL});
}

static bool has_code(const struct code *code, const void *at)
{
    return (uintptr_t)at >= code->begin && (uintptr_t)at < code->end;
}

/* The component is in a function of the C library that allocates or transfers for it. */
static __thread int within __attribute__((tls_model("initial-exec")));

static bool is_own(enum shim_call call, const void *caller)
{
    if (within > 0 || has_code(&component, caller))
        return true;
    return (call == SHIM_PREAD || call == SHIM_PWRITE) && has_code(&transfer, caller);
}

/* --- faults --- */

static bool counting;
static enum shim_call armed_call;
static enum shim_fault armed_fault;
static long armed_nth;
static struct shim_counts counts;
static atomic_long blocks;

void shim_arm(enum shim_call call, enum shim_fault fault, long nth)
{
    memset(&counts, 0, sizeof counts);
    armed_call = call;
    armed_fault = fault;
    armed_nth = nth;
    find_objects();
    counting = true;
}

struct shim_counts shim_disarm(void)
{
    counting = false;
    counts.blocks = blocks;
    return counts;
}

/* The index of the name before the next blank, `count` if there is none. */
static int find_name(const char *const *name, int count, const char **text)
{
    size_t length = strcspn(*text, " ");
    int i = 0;
    while (i < count && (strlen(name[i]) != length || strncmp(name[i], *text, length) != 0))
        i++;
    *text += (*text)[length] == ' ' ? length + 1 : length;
    return i;
}

bool shim_arm_by_name(const char *text)
{
    int call = find_name(shim_call_names, SHIM_CALLS, &text);
    int fault = call < SHIM_CALLS ? find_name(shim_fault_names, SHIM_LAST + 1, &text) : SHIM_FAULTS;
    if (fault == SHIM_FAULTS || fault > SHIM_LAST)
        return false;
    shim_arm((enum shim_call)call, (enum shim_fault)fault, strtol(text, NULL, 10));
    return true;
}

bool shim_is_chosen(void)
{
    const char *wanted = getenv("SHIM_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL)
        rank = getenv("PMI_RANK");
    return wanted != NULL && rank != NULL && strcmp(wanted, rank) == 0;
}

__attribute__((constructor)) static void arm_by_environment(void)
{
    if (shim_is_chosen() && !shim_arm_by_name(getenv("SHIM_FAULT")))
        abort();
}

static void wait_a_little(void)
{
    const struct timespec time = {0, DELAY_NANOSECONDS};
    nanosleep(&time, NULL);
}

/* Counts a call. The fault that it has, after which it is over for SHIM_FAIL and SHIM_INTERRUPT,
 * with errno; SHIM_FAULTS: none that the caller has to do anything for. */
static enum shim_fault strike(enum shim_call call, const void *caller)
{
    if (!counting || !is_own(call, caller))
        return SHIM_FAULTS;
    long n = ++counts.calls[call];
    bool lasts = armed_fault == SHIM_LAST && n > armed_nth;
    if (call != armed_call || (n != armed_nth && !lasts))
        return SHIM_FAULTS;
    counts.hits++;
    if (armed_fault == SHIM_DELAY) {
        wait_a_little();
        return SHIM_FAULTS;
    }
    if (armed_fault != SHIM_SHORT)
        errno = armed_fault == SHIM_INTERRUPT ? EINTR : kinds[call].error[n % ERRORS];
    return armed_fault == SHIM_LAST ? SHIM_FAIL : armed_fault;
}

/* Bytes that a transfer may have; -1: it fails. */
static ssize_t limit_bytes(enum shim_call call, const void *caller, size_t bytes)
{
    switch (strike(call, caller)) {
    case SHIM_FAIL:
    case SHIM_INTERRUPT: return -1;
    case SHIM_SHORT: return (ssize_t)((bytes + 1) / 2);
    default: return (ssize_t)bytes;
    }
}

static bool refuses(enum shim_call call, const void *caller)
{
    return limit_bytes(call, caller, 0) < 0;
}

bool shim_refuses(enum shim_call call, const void *caller)
{
    return refuses(call, caller);
}

#define CALLER __builtin_return_address(0)
/* The C library's function of this name. */
#define REAL(function) ((__typeof__(&function))find_real(#function))

static void *find_real(const char *name)
{
    void *at = dlsym(RTLD_NEXT, name);
    if (at == NULL)
        abort();
    return at;
}

/* --- messages: the component's by Open MPI's table, those of the library by starts.c --- */

#ifdef OPEN_MPI

static mca_pml_base_module_isend_fn_t start_send;
static mca_pml_base_module_irecv_fn_t start_receive;

static int send_unless_refused(const void *data, size_t count, struct ompi_datatype_t *type,
                               int peer, int tag, mca_pml_base_send_mode_t mode,
                               struct ompi_communicator_t *comm, struct ompi_request_t **request)
{
    if (refuses(SHIM_SEND, CALLER))
        return OMPI_ERR_OUT_OF_RESOURCE;
    return start_send(data, count, type, peer, tag, mode, comm, request);
}

static int receive_unless_refused(void *data, size_t count, struct ompi_datatype_t *type, int peer,
                                  int tag, struct ompi_communicator_t *comm,
                                  struct ompi_request_t **request)
{
    if (refuses(SHIM_RECEIVE, CALLER))
        return OMPI_ERR_OUT_OF_RESOURCE;
    return start_receive(data, count, type, peer, tag, comm, request);
}

void shim_begin(void)
{
    start_send = mca_pml.pml_isend;
    start_receive = mca_pml.pml_irecv;
    mca_pml.pml_isend = send_unless_refused;
    mca_pml.pml_irecv = receive_unless_refused;
}

#else

void shim_begin(void)
{
}

#endif

/* --- the component is opened --- */

void *dlopen(const char *name, int mode)
{
    void *handle = REAL(dlopen)(name, mode);
    if (component.begin == 0)
        find_objects();
    return handle;
}

/* --- memory. The component's blocks end with a mark, by which it is seen when they are freed ---
 */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *at);

static uint64_t *end_of(void *at)
{
    return (uint64_t *)(void *)((char *)at + malloc_usable_size(at)) - 1;
}

static void *mark_block(void *at)
{
    const uint64_t mark = MARK;
    if (at != NULL) {
        memcpy(end_of(at), &mark, sizeof mark);
        blocks++;
    }
    return at;
}

static bool unmark_block(void *at)
{
    const uint64_t mark = MARK;
    if (at == NULL || malloc_usable_size(at) < sizeof mark ||
        memcmp(end_of(at), &mark, sizeof mark) != 0)
        return false;
    memset(end_of(at), 0, sizeof mark);
    blocks--;
    return true;
}

void *malloc(size_t size)
{
    if (refuses(SHIM_MEMORY, CALLER))
        return NULL;
    if (!is_own(SHIM_MEMORY, CALLER))
        return __libc_malloc(size);
    return mark_block(__libc_malloc(size + sizeof(uint64_t)));
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (refuses(SHIM_MEMORY, CALLER))
        return NULL;
    if (!is_own(SHIM_MEMORY, CALLER))
        return __libc_calloc(count, size);
    if (__builtin_mul_overflow(count, size, &bytes))
        return __libc_calloc(count, size);
    return mark_block(__libc_calloc(1, bytes + sizeof(uint64_t)));
}

void *realloc(void *at, size_t size)
{
    if (refuses(SHIM_MEMORY, CALLER))
        return NULL;
    bool was_marked = unmark_block(at);
    if (!was_marked && !(at == NULL && is_own(SHIM_MEMORY, CALLER)))
        return __libc_realloc(at, size);
    void *larger = __libc_realloc(at, size + sizeof(uint64_t));
    (void)mark_block(larger != NULL ? larger : at);
    return larger;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (refuses(SHIM_MEMORY, CALLER))
        return NULL;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
    void *memory = refuses(SHIM_MEMORY, CALLER) ? NULL : __libc_memalign(alignment, size);
    if (memory != NULL)
        *at = memory;
    return memory == NULL ? ENOMEM : 0;
}

void free(void *at)
{
    (void)unmark_block(at);
    __libc_free(at);
}

/* What these allocate in the C library is the component's. */
#define ALLOCATING(type, function, parameters, ...)                                                \
    type function parameters                                                                       \
    {                                                                                              \
        bool own = is_own(SHIM_MEMORY, CALLER);                                                    \
        within += own;                                                                             \
        type result = REAL(function)(__VA_ARGS__);                                                 \
        within -= own;                                                                             \
        return result;                                                                             \
    }
ALLOCATING(char *, strdup, (const char *text), text)
ALLOCATING(int, vasprintf, (char **text, const char *format, va_list list), text, format, list)
ALLOCATING(FILE *, open_memstream, (char **text, size_t *length), text, length)
ALLOCATING(ssize_t, getdelim, (char **text, size_t *room, int end, FILE *stream), text, room, end,
           stream)

int asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    bool own = is_own(SHIM_MEMORY, CALLER);
    within += own;
    va_start(arguments, format);
    int length = REAL(vasprintf)(text, format, arguments);
    va_end(arguments);
    within -= own;
    return length;
}

/* --- calls that are made, or refused --- */

/* A function of this kind that returns `refused` with errno, or `done`. */
#define REFUSABLE(kind, type, function, parameters, refused, done)                                 \
    type function parameters                                                                       \
    {                                                                                              \
        return refuses(kind, CALLER) ? (refused) : (type)(done);                                   \
    }
/* The function whose offsets have 64 bits is the same one. */
#define SAME(function64, function)                                                                 \
    extern __typeof__(function) function64 __attribute__((alias(#function)));

REFUSABLE(SHIM_MAP, void *, mmap,
          (void *at, size_t size, int protection, int flags, int fd, off_t offset), MAP_FAILED,
          syscall(SYS_mmap, at, size, protection, flags, fd, offset))
SAME(mmap64, mmap)
REFUSABLE(SHIM_MAP, int, mprotect, (void *at, size_t size, int protection), -1,
          syscall(SYS_mprotect, at, size, protection))
REFUSABLE(SHIM_ADVISE, int, madvise, (void *at, size_t size, int advice), -1,
          syscall(SYS_madvise, at, size, advice))
REFUSABLE(SHIM_SEGMENT, int, memfd_create, (const char *name, unsigned int flags), -1,
          syscall(SYS_memfd_create, name, flags))
REFUSABLE(SHIM_SEGMENT, int, shm_open, (const char *name, int flags, mode_t mode), -1,
          REAL(shm_open)(name, flags, mode))
REFUSABLE(SHIM_OPEN, int, mkstemp, (char *name), -1, REAL(mkstemp)(name))
REFUSABLE(SHIM_SIZE, int, ftruncate, (int fd, off_t size), -1, syscall(SYS_ftruncate, fd, size))
SAME(ftruncate64, ftruncate)
REFUSABLE(SHIM_SIZE, int, posix_fallocate, (int fd, off_t offset, off_t size), errno,
          REAL(posix_fallocate)(fd, offset, size))
REFUSABLE(SHIM_SYNC, int, fsync, (int fd), -1, syscall(SYS_fsync, fd))
REFUSABLE(SHIM_SYNC, int, fdatasync, (int fd), -1, syscall(SYS_fdatasync, fd))
REFUSABLE(SHIM_FLOCK, int, flock, (int fd, int operation), -1, syscall(SYS_flock, fd, operation))
REFUSABLE(SHIM_RENAME, int, rename, (const char *from, const char *to), -1,
          syscall(SYS_rename, from, to))
REFUSABLE(SHIM_STATUS, int, stat, (const char *path, struct stat *status), -1,
          REAL(stat)(path, status))
REFUSABLE(SHIM_STATUS, int, lstat, (const char *path, struct stat *status), -1,
          REAL(lstat)(path, status))
REFUSABLE(SHIM_STATUS, int, fstat, (int fd, struct stat *status), -1, REAL(fstat)(fd, status))

int fstatfs(int fd, struct statfs *fs)
{
    if (refuses(SHIM_STATUS, CALLER))
        return -1;
    int rc = (int)syscall(SYS_fstatfs, fd, fs);
    if (has_code(&component, CALLER))
        fs->f_type = EXT4_SUPER_MAGIC;
    return rc;
}

/* By a path, or by a name that is looked up. */
#define SPAWN(function)                                                                            \
    REFUSABLE(SHIM_SPAWN, int, function,                                                           \
              (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,           \
               const posix_spawnattr_t *attributes, char *const argv[],                            \
               char *const environment[]),                                                         \
              errno, REAL(function)(pid, file, actions, attributes, argv, environment))
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* Whatever the command takes goes through a pointer's room. */
#define FCNTL(name)                                                                                \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, command);                                                              \
        void *argument = va_arg(arguments, void *);                                                \
        va_end(arguments);                                                                         \
        return refuses(SHIM_FCNTL, CALLER) ? -1 : REAL(name)(fd, command, argument);               \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* --- descriptors --- */

/* The mode that follows `flags`, if any. */
#define TAKE_MODE(flags)                                                                           \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

int openat(int folder, const char *path, int flags, ...)
{
    TAKE_MODE(flags)
    return refuses(SHIM_OPEN, CALLER) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    TAKE_MODE(flags)
    return refuses(SHIM_OPEN, CALLER) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
SAME(open64, open)

static int close_descriptor(const void *caller, int fd)
{
    bool fails = refuses(SHIM_CLOSE, caller);
    int error = errno, rc = (int)syscall(SYS_close, fd);
    if (fails)
        errno = error;
    return fails ? -1 : rc;
}

int close(int fd)
{
    return close_descriptor(CALLER, fd);
}

static ssize_t transfer_bytes(enum shim_call kind, const void *caller, long call, int fd, void *at,
                              size_t bytes, off64_t offset)
{
    ssize_t allowed = limit_bytes(kind, caller, bytes);
    return allowed < 0 ? -1 : syscall(call, fd, at, (size_t)allowed, offset);
}

/* Of a list that is cut short only the first piece is transferred, in part. */
static ssize_t transfer_list(enum shim_call kind, const void *caller, long list_call,
                             long piece_call, int fd, const struct iovec *piece, int pieces,
                             off64_t offset)
{
    size_t bytes = 0;
    for (int i = 0; i < pieces; i++)
        bytes += piece[i].iov_len;
    ssize_t allowed = limit_bytes(kind, caller, bytes);
    if (allowed < 0)
        return -1;
    if ((size_t)allowed == bytes)
        return syscall(list_call, fd, piece, pieces, offset, 0L);
    if ((size_t)allowed > piece->iov_len)
        allowed = (ssize_t)piece->iov_len;
    return syscall(piece_call, fd, piece->iov_base, (size_t)allowed, offset);
}

ssize_t read(int fd, void *at, size_t bytes)
{
    return transfer_bytes(SHIM_READ, CALLER, SYS_read, fd, at, bytes, 0);
}

ssize_t write(int fd, const void *at, size_t bytes)
{
    return transfer_bytes(SHIM_WRITE, CALLER, SYS_write, fd, (void *)at, bytes, 0);
}

ssize_t readv(int fd, const struct iovec *piece, int pieces)
{
    return transfer_list(SHIM_READ, CALLER, SYS_readv, SYS_read, fd, piece, pieces, 0);
}

ssize_t writev(int fd, const struct iovec *piece, int pieces)
{
    return transfer_list(SHIM_WRITE, CALLER, SYS_writev, SYS_write, fd, piece, pieces, 0);
}

ssize_t pread(int fd, void *at, size_t bytes, off_t offset)
{
    return transfer_bytes(SHIM_PREAD, CALLER, SYS_pread64, fd, at, bytes, offset);
}
SAME(pread64, pread)

ssize_t pwrite(int fd, const void *at, size_t bytes, off_t offset)
{
    return transfer_bytes(SHIM_PWRITE, CALLER, SYS_pwrite64, fd, (void *)at, bytes, offset);
}
SAME(pwrite64, pwrite)

ssize_t preadv(int fd, const struct iovec *piece, int pieces, off_t offset)
{
    return transfer_list(SHIM_PREAD, CALLER, SYS_preadv, SYS_pread64, fd, piece, pieces, offset);
}
SAME(preadv64, preadv)

ssize_t pwritev(int fd, const struct iovec *piece, int pieces, off_t offset)
{
    return transfer_list(SHIM_PWRITE, CALLER, SYS_pwritev, SYS_pwrite64, fd, piece, pieces, offset);
}
SAME(pwritev64, pwritev)

/* --- streams of the component: transfers that the C library would make out of sight --- */

static struct stream {
    FILE *file;
    int fd;
    bool used;
} streams[MOST_STREAMS];

static ssize_t read_stream(void *context, char *at, size_t bytes)
{
    const struct stream *stream = context;
    within++;
    ssize_t done = transfer_bytes(SHIM_READ, NULL, SYS_read, stream->fd, at, bytes, 0);
    within--;
    return done;
}

/* As the C library does: short writes are continued, errors are not. */
static ssize_t write_stream(void *context, const char *at, size_t bytes)
{
    const struct stream *stream = context;
    size_t done = 0;
    ssize_t step = 1;
    within++;
    for (; done < bytes && step > 0; done += step > 0 ? (size_t)step : 0)
        step = transfer_bytes(SHIM_WRITE, NULL, SYS_write, stream->fd, (char *)at + done,
                              bytes - done, 0);
    within--;
    return (ssize_t)done;
}

static int seek_stream(void *context, off64_t *offset, int whence)
{
    const struct stream *stream = context;
    *offset = lseek64(stream->fd, *offset, whence);
    return *offset < 0 ? -1 : 0;
}

static int close_stream(void *context)
{
    struct stream *stream = context;
    stream->used = false;
    within++;
    int rc = close_descriptor(NULL, stream->fd);
    within--;
    return rc;
}

/* NULL leaves the descriptor open. */
static FILE *new_stream(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {read_stream, write_stream, seek_stream, close_stream};
    struct stream *stream = streams;
    while (stream->used)
        if (++stream == streams + MOST_STREAMS)
            abort();
    *stream = (struct stream){.fd = fd, .used = true};
    within++;
    stream->file = fopencookie(stream, mode, functions);
    within--;
    stream->used = stream->file != NULL;
    return stream->file;
}

static int flags_of(const char *mode)
{
    int flags = strchr(mode, 'e') != NULL ? O_CLOEXEC : 0;
    bool both = strchr(mode, '+') != NULL;
    switch (mode[0]) {
    case 'w': return flags | O_CREAT | O_TRUNC | (both ? O_RDWR : O_WRONLY);
    case 'a': return flags | O_CREAT | O_APPEND | (both ? O_RDWR : O_WRONLY);
    default: return flags | (both ? O_RDWR : O_RDONLY);
    }
}

static FILE *open_stream(const char *path, const char *mode)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags_of(mode), 0666);
    FILE *file = fd >= 0 ? new_stream(fd, mode) : NULL;
    if (fd >= 0 && file == NULL)
        syscall(SYS_close, fd);
    return file;
}

FILE *fopen(const char *path, const char *mode)
{
    if (!has_code(&component, CALLER))
        return REAL(fopen)(path, mode);
    return refuses(SHIM_OPEN, CALLER) ? NULL : open_stream(path, mode);
}
SAME(fopen64, fopen)

FILE *fdopen(int fd, const char *mode)
{
    if (!has_code(&component, CALLER))
        return REAL(fdopen)(fd, mode);
    return refuses(SHIM_OPEN, CALLER) ? NULL : new_stream(fd, mode);
}

int fileno(FILE *file)
{
    for (int i = 0; i < MOST_STREAMS; i++)
        if (streams[i].used && streams[i].file == file)
            return streams[i].fd;
    return REAL(fileno)(file);
}
