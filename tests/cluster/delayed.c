/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file system that is incoherent between nodes on purpose: each mount of a folder is the client
 * of one node, with a cache of its own.
 *
 *   delayed [OPTION...] BACKING MOUNT
 *
 *   -o delay       what was written stays in the client until fsync or close
 *   -o lies        fsync leaves it there, too; implies delay
 *   -o pages       whole pages of 4096 bytes, read at their first write, are written back; implies
 *                  delay
 *   -o stale       what was read or written stays in the client, unless it has bytes of the file to
 *                  write back, until the file is opened anew or its attributes are requested (by
 *                  fstat after an access, or AT_STATX_FORCE_SYNC)
 *   -o stale=ever  or as long as it is mounted
 *   -o locks       taking an fcntl lock ends `stale`, and releasing one ends `delay`, as in NFS
 *
 * Without options it is coherent. Sizes are those of BACKING or the client's own. With -f it stays
 * in the foreground. It ends when it is unmounted (fusermount3 -u MOUNT).
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* struct fuse_operations decides on the parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { PAGE = 4096, EVER = 2 };
enum { UNKNOWN, CLEAN, DIRTY };
static const off_t limit = (off_t)1 << 36; /* bytes of a file */

/* A file that is open, or with stale=ever was. An inode number is used again, hence the birth. */
struct file {
    struct file *next;
    struct statx id;
    int fd;
    int opens;
    char *data, *state; /* of each byte, in one mapping; data that is UNKNOWN is zero */
    off_t first, end;   /* range of the dirty bytes; end 0: none */
};

static struct {
    const char *backing;
    int delay;
    int lies;
    int pages;
    int stale;
    int locks;
} options;

#define OPTION(text, member, value)                                                                \
    {                                                                                              \
        text, offsetof(__typeof__(options), member), value                                         \
    }
static const struct fuse_opt option_table[] = {OPTION("delay", delay, 1),
                                               OPTION("lies", lies, 1),
                                               OPTION("pages", pages, 1),
                                               OPTION("stale", stale, 1),
                                               OPTION("stale=ever", stale, EVER),
                                               OPTION("locks", locks, 1),
                                               FUSE_OPT_END};

static int root; /* BACKING */
static struct file *files;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The value of a call of one of the functions of the cache. */
#define ALONE(call)                                                                                \
    ({                                                                                             \
        pthread_mutex_lock(&mutex);                                                                \
        int value = (call);                                                                        \
        pthread_mutex_unlock(&mutex);                                                              \
        value;                                                                                     \
    })

static const char *below_root(const char *path)
{
    return path[1] != '\0' ? path + 1 : ".";
}

static int status(int rc)
{
    return rc < 0 ? -errno : 0;
}

/* --- the cache --- */

/* path: "" for the descriptor itself */
static struct statx identify(int fd, const char *path)
{
    struct statx id = {0};
    statx(fd, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &id);
    return id;
}

static struct file *find(int fd, const char *path)
{
    struct statx id = identify(fd, path);
    struct file *file = files;
    while (file != NULL && (file->id.stx_ino != id.stx_ino ||
                            memcmp(&file->id.stx_btime, &id.stx_btime, sizeof id.stx_btime) != 0))
        file = file->next;
    return file;
}

static void drop(struct file *file)
{
    madvise(file->data, 2 * (size_t)limit, MADV_DONTNEED);
    file->end = 0;
}

static int refresh(struct file *file)
{
    if (file->end == 0 && options.stale != EVER)
        drop(file);
    return 0;
}

static int read_bytes(struct file *file, char *buf, off_t size, off_t off, bool keep)
{
    memset(buf, 0, (size_t)size);
    off_t n = pread(file->fd, buf, (size_t)size, off);
    if (n < 0)
        return -errno;
    if (n < file->end - off)
        n = file->end - off < size ? file->end - off : size;
    for (off_t i = 0; i < size && off + i < limit; i++)
        if (file->state[off + i] != UNKNOWN) {
            buf[i] = file->data[off + i];
            n = n > i ? n : i + 1;
        } else if (keep && i < n) {
            file->data[off + i] = buf[i];
            file->state[off + i] = CLEAN;
        }
    return (int)n;
}

/* Ends the range of dirty bytes, which have been written. */
static void clean(struct file *file)
{
    off_t from = file->first / PAGE * PAGE, size = (file->end + PAGE - 1) / PAGE * PAGE - from;
    for (off_t i = from; i < from + size && options.stale; i++)
        file->state[i] = file->state[i] == DIRTY ? CLEAN : file->state[i];
    if (!options.stale) {
        memset(file->data + from, 0, (size_t)size);
        memset(file->state + from, UNKNOWN, (size_t)size);
    }
    file->end = 0;
}

static int write_back(struct file *file)
{
    struct stat st;
    if (file->end == 0)
        return 0;
    if (fstat(file->fd, &st) != 0)
        return -errno;
    off_t size = st.st_size > file->end ? st.st_size : file->end;
    for (off_t i = file->first, j; i < file->end; i = j) {
        j = i + 1;
        if (file->state[i] != DIRTY)
            continue;
        off_t from = options.pages ? i / PAGE * PAGE : i;
        while (options.pages ? j < size && j % PAGE != 0 : j < file->end && file->state[j] == DIRTY)
            j++;
        ssize_t rc = pwrite(file->fd, file->data + from, (size_t)(j - from), from);
        if (rc != j - from)
            return rc < 0 ? -errno : -ENOSPC;
    }
    clean(file);
    return 0;
}

static int write_bytes(struct file *file, const char *buf, off_t size, off_t off)
{
    char page[PAGE];
    if (off + size > limit)
        return -EFBIG;
    for (off_t at = off / PAGE * PAGE; options.pages && at < off + size; at += PAGE)
        if (memchr(file->state + at, DIRTY, PAGE) == NULL)
            read_bytes(file, page, PAGE, at, true);
    memcpy(file->data + off, buf, (size_t)size);
    memset(file->state + off, DIRTY, (size_t)size);
    file->first = file->end > 0 && file->first < off ? file->first : off;
    file->end = file->end > off + size ? file->end : off + size;
    int rc = options.delay ? 0 : write_back(file);
    return rc < 0 ? rc : (int)size;
}

/* --- files: the handle is a descriptor, which has the locks --- */

static int handle_of(const struct fuse_file_info *fi)
{
    return (int)fi->fh;
}

static struct file *file_of(const struct fuse_file_info *fi)
{
    return find(handle_of(fi), "");
}

static struct file *add_file(const char *path, int fd)
{
    struct file *file = calloc(1, sizeof *file);
    char *memory = mmap(NULL, 2 * (size_t)limit, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (file == NULL || memory == MAP_FAILED)
        abort();
    *file = (struct file){.next = files, .id = identify(fd, "")};
    file->data = memory;
    file->state = memory + limit;
    file->fd = openat(root, below_root(path), O_RDWR);
    if (file->fd < 0)
        file->fd = openat(root, below_root(path), O_RDONLY);
    return files = file;
}

static int acquire_file(const char *path, int fd, bool truncated)
{
    struct file *file = find(fd, "");
    if (file == NULL)
        file = add_file(path, fd);
    file->opens++;
    if (truncated)
        drop(file);
    return refresh(file);
}

static int release_file(struct file *file)
{
    int rc = write_back(file);
    if (--file->opens > 0 || options.stale == EVER)
        return rc;
    struct file **link = &files;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    munmap(file->data, 2 * (size_t)limit);
    close(file->fd);
    free(file);
    return rc;
}

static int delayed_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    int flags = fi->flags & ~(O_APPEND | O_DIRECT);
    if ((flags & O_ACCMODE) == O_WRONLY)
        flags ^= O_WRONLY ^ O_RDWR;
    int fd = openat(root, below_root(path), flags, mode);
    if (fd < 0)
        return -errno;
    fi->fh = (uint64_t)fd;
    fi->direct_io = 1;
    return ALONE(acquire_file(path, fd, (flags & O_TRUNC) != 0));
}

static int delayed_open(const char *path, struct fuse_file_info *fi)
{
    return delayed_create(path, 0, fi);
}

static int delayed_release(const char *path, struct fuse_file_info *fi)
{
    int rc = ALONE(release_file(file_of(fi)));
    close(handle_of(fi));
    return rc;
}

static int delayed_read(const char *path, char *buf, size_t size, off_t off,
                        struct fuse_file_info *fi)
{
    return ALONE(read_bytes(file_of(fi), buf, (off_t)size, off, options.stale != 0));
}

static int delayed_write(const char *path, const char *buf, size_t size, off_t off,
                         struct fuse_file_info *fi)
{
    return ALONE(write_bytes(file_of(fi), buf, (off_t)size, off));
}

static int delayed_flush(const char *path, struct fuse_file_info *fi)
{
    return ALONE(write_back(file_of(fi)));
}

/* BACKING gets the bytes, where the other mounts see them; they need not be on the disk. */
static int delayed_fsync(const char *path, int datasync, struct fuse_file_info *fi)
{
    return options.lies ? 0 : delayed_flush(path, fi);
}

/* Polls, because no signal interrupts this thread's fcntl when the process that waits ends. */
static int delayed_lock(const char *path, struct fuse_file_info *fi, int cmd, struct flock *lock)
{
    bool unlock = lock->l_type == F_UNLCK;
    int rc = options.locks && unlock ? delayed_flush(path, fi) : 0;
    lock->l_pid = 0;
    while (fcntl(handle_of(fi), cmd == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, lock) != 0) {
        if (cmd != F_SETLKW || errno != EAGAIN)
            return -errno;
        if (fuse_interrupted())
            return -EINTR;
        usleep(1000);
    }
    return options.locks && !unlock ? ALONE(refresh(file_of(fi))) : rc;
}

static int own_size(struct file *file, struct stat *st)
{
    if (file == NULL)
        return 0;
    st->st_size = st->st_size > file->end ? st->st_size : file->end;
    return refresh(file);
}

static int delayed_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    int fd = fi != NULL ? handle_of(fi) : root;
    const char *name = fi != NULL ? "" : below_root(path);
    int rc = status(fstatat(fd, name, st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    return rc < 0 ? rc : ALONE(own_size(find(fd, name), st));
}

static int truncate_file(struct file *file, int fd, off_t size)
{
    int rc = file != NULL ? write_back(file) : 0;
    if (file != NULL && rc == 0)
        drop(file);
    return rc < 0 ? rc : status(ftruncate(fd, size));
}

static int delayed_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
    int fd = fi != NULL ? dup(handle_of(fi)) : openat(root, below_root(path), O_RDWR);
    int rc = fd < 0 ? -errno : ALONE(truncate_file(find(fd, ""), fd, size));
    close(fd);
    return rc;
}

/* --- what is passed on --- */

static int delayed_opendir(const char *path, struct fuse_file_info *fi)
{
    fi->fh = (uintptr_t)fdopendir(openat(root, below_root(path), O_RDONLY | O_DIRECTORY));
    return fi->fh == 0 ? -errno : 0;
}

static int delayed_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
                           struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
    DIR *folder = (DIR *)(uintptr_t)fi->fh;
    rewinddir(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        fill(buf, entry->d_name, NULL, 0, 0);
    return 0;
}

static int delayed_releasedir(const char *path, struct fuse_file_info *fi)
{
    return status(closedir((DIR *)(uintptr_t)fi->fh));
}

static int delayed_mkdir(const char *path, mode_t mode)
{
    return status(mkdirat(root, below_root(path), mode));
}

static int delayed_unlink(const char *path)
{
    return status(unlinkat(root, below_root(path), 0));
}

static int delayed_rmdir(const char *path)
{
    return status(unlinkat(root, below_root(path), AT_REMOVEDIR));
}

static int delayed_rename(const char *from, const char *to, unsigned flags)
{
    return status(renameat2(root, below_root(from), root, below_root(to), flags));
}

static int delayed_statfs(const char *path, struct statvfs *st)
{
    return status(fstatvfs(root, st));
}

static void *delayed_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    config->use_ino = config->nullpath_ok = config->hard_remove = 1;
    config->attr_timeout = options.stale ? 3600 : 0;
    config->entry_timeout = 0;
    return NULL;
}

static const struct fuse_operations operations = {
    .init = delayed_init,
    .create = delayed_create,
    .open = delayed_open,
    .release = delayed_release,
    .read = delayed_read,
    .write = delayed_write,
    .flush = delayed_flush,
    .fsync = delayed_fsync,
    .lock = delayed_lock,
    .getattr = delayed_getattr,
    .truncate = delayed_truncate,
    .opendir = delayed_opendir,
    .readdir = delayed_readdir,
    .releasedir = delayed_releasedir,
    .mkdir = delayed_mkdir,
    .unlink = delayed_unlink,
    .rmdir = delayed_rmdir,
    .rename = delayed_rename,
    .statfs = delayed_statfs,
};

/* The first argument that is no option is BACKING. */
static int keep_argument(void *data, const char *argument, int key, struct fuse_args *args)
{
    if (key != FUSE_OPT_KEY_NONOPT || options.backing != NULL)
        return 1;
    options.backing = argument;
    return 0;
}

int main(int argc, char **argv)
{
    struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
    if (fuse_opt_parse(&args, &options, option_table, keep_argument) != 0)
        return 2;
    options.delay |= options.lies || options.pages;
    root = options.backing == NULL ? -1 : open(options.backing, O_RDONLY | O_DIRECTORY);
    if (root < 0) {
        fprintf(stderr, "delayed: not a folder: %s\n", options.backing ? options.backing : "none");
        return 2;
    }
    umask(0);
    /* Each waiting F_SETLKW takes a thread. Before 3.12 their number has no limit. */
    if (fuse_version() >= 312)
        fuse_opt_add_arg(&args, "-omax_threads=10000");
    return fuse_main(args.argc, args.argv, &operations, NULL);
}
