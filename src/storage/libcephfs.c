/* SPDX-License-Identifier: BSD-3-Clause */
/* CephFS by its library, which is opened at run time: the OSD of an object and the host of an OSD.
 * It reads the configuration and the key of the user as the programs of Ceph do. */
#include "storage/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct ceph_mount; /* the library's */

static const struct timespec millisecond = {.tv_nsec = 1000000};

/* For questions that come soon. A mount of Ceph 16 that ends within a few milliseconds often takes
 * a second for that. */
static const struct timespec idle = {.tv_nsec = 50000000};

/* Of a millisecond: for the map of the cluster, and until the process ends all the same. */
enum { MOST_TRIES = 5000, MOST_TRIES_AT_EXIT = 3000 };

/* At the same time: servers that do not answer must not make threads without end. */
enum { MOST_QUESTIONS = 100 };

/* More copies, or parts of coded objects, than a pool has; in the place of one that is missing. */
enum { MOST_COPIES = 64, NO_OSD = 0x7fffffff };

typedef struct library {
    void *handle;
    int (*create)(struct ceph_mount **mount, const char *id);
    int (*read_configuration)(struct ceph_mount *mount, const char *path);
    int (*mount)(struct ceph_mount *mount, const char *root);
    int (*unmount)(struct ceph_mount *mount);
    int (*release)(struct ceph_mount *mount);
    int (*open)(struct ceph_mount *mount, const char *path, int flags, mode_t mode);
    int (*close)(struct ceph_mount *mount, int file);
    int (*get_status)(struct ceph_mount *mount, int file, struct stat *status);
    int (*get_pool)(struct ceph_mount *mount, int file);
    int (*name_pool)(struct ceph_mount *mount, int pool, char *name, size_t length);
    int (*find_osds)(struct ceph_mount *mount, int file, int64_t offset, int64_t *length, int *osd,
                     int most);
    int (*find_place)(struct ceph_mount *mount, int osd, char *place, size_t length);
} library;

static bool find_symbol(const library *lib, const char *name, void *function)
{
    void *symbol = dlsym(lib->handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Stays open: a thread of it may still run. */
static int open_library(library *opened, matrix_error *error)
{
    library made = {.handle = dlopen("libcephfs.so.2", RTLD_NOW | RTLD_LOCAL)}, *lib = &made;
    if (lib->handle != NULL && find_symbol(lib, "ceph_create", &lib->create) &&
        find_symbol(lib, "ceph_conf_read_file", &lib->read_configuration) &&
        find_symbol(lib, "ceph_mount", &lib->mount) &&
        find_symbol(lib, "ceph_unmount", &lib->unmount) &&
        find_symbol(lib, "ceph_release", &lib->release) &&
        find_symbol(lib, "ceph_open", &lib->open) && find_symbol(lib, "ceph_close", &lib->close) &&
        find_symbol(lib, "ceph_fstat", &lib->get_status) &&
        find_symbol(lib, "ceph_get_file_pool", &lib->get_pool) &&
        find_symbol(lib, "ceph_get_file_extent_osds", &lib->find_osds) &&
        find_symbol(lib, "ceph_get_pool_name", &lib->name_pool) &&
        find_symbol(lib, "ceph_get_osd_crush_location", &lib->find_place)) {
        *opened = made;
        return 0;
    }
    const char *reason = dlerror();
    matrix_refuse(error, 0, "%s", reason != NULL ? reason : "libcephfs.so.2");
    return -ENOTSUP;
}

static int refuse_access(matrix_error *error, const char *what, int rc)
{
    matrix_refuse(error, 0, "libcephfs: %s: %s", what, strerror(-rc));
    return -ENOTSUP;
}

/* ---- hosts ---- */

/* The name after "host" in pairs of strings, one after another, or "". */
static void copy_host(const char *place, size_t length, char host[STORAGE_LONGEST_HOST + 1])
{
    host[0] = '\0';
    for (const char *at = place; at < place + length; at += strlen(at) + 1) {
        const char *name = at + strlen(at) + 1;
        if (name >= place + length)
            return;
        if (strcmp(at, "host") == 0 && strlen(name) <= STORAGE_LONGEST_HOST)
            strcpy(host, name);
        at = name;
    }
}

static int name_osds(const library *lib, struct ceph_mount *mount, storage_layout *hosts)
{
    char place[4096], host[STORAGE_LONGEST_HOST + 1];
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < storage_targets(hosts); k++) {
        int length =
            lib->find_place(mount, (int)storage_target_number(hosts, k), place, sizeof place - 1);
        if (length <= 0 || length >= (int)sizeof place)
            continue;
        place[length] = '\0';
        copy_host(place, (size_t)length, host);
        rc = storage_set_host(hosts, k, host);
    }
    return rc;
}

static int list_hosts(const library *lib, struct ceph_mount *mount, const int64_t *osd,
                      size_t first, size_t end, storage_layout **hosts)
{
    storage_layout *built = storage_begin("CephFS");
    int rc = built == NULL ? -ENOMEM : 0;
    for (size_t k = first; rc == 0 && k < end; k++)
        if (osd[k] >= 0)
            rc = storage_add_object(built, (uint64_t)osd[k]);
    if (rc == 0)
        rc = storage_finish(built);
    if (rc == 0)
        rc = name_osds(lib, mount, built);
    return storage_hand_over(built, rc, hosts);
}

/* ---- objects ---- */

/* Whether the map of the cluster is there: without it the library would end the program. */
static bool wait_for_map(const library *lib, struct ceph_mount *mount, int file)
{
    char name[256];
    int pool = lib->get_pool(mount, file);
    for (int tries = 0; pool >= 0 && tries < MOST_TRIES; tries++) {
        if (lib->name_pool(mount, pool, name, sizeof name) > 0)
            return true;
        nanosleep(&millisecond, NULL);
    }
    return false;
}

/* The first one is the primary, to which all is sent. */
static int64_t find_osd(const library *lib, struct ceph_mount *mount, int file, int64_t offset)
{
    int osd[MOST_COPIES];
    int64_t length;
    int copies = lib->find_osds(mount, file, offset, &length, osd, MOST_COPIES);
    for (int k = 0; k < copies; k++)
        if (osd[k] != NO_OSD)
            return osd[k];
    return -1;
}

/* On a mount of another cluster or folder that path may be another file, or none. */
static int find_osds(const library *lib, struct ceph_mount *mount, const ceph_path *where,
                     const file_striping *striping, int64_t *osd, size_t first, size_t end,
                     matrix_error *error)
{
    struct stat status;
    int file = lib->open(mount, where->path, O_RDONLY, 0);
    int rc = file < 0 ? file : lib->get_status(mount, file, &status);
    if (rc == 0 && status.st_ino != where->inode)
        rc = -ESTALE;
    if (rc == 0 && !wait_for_map(lib, mount, file))
        rc = -ETIMEDOUT;
    for (size_t k = first; rc == 0 && k < end; k++)
        osd[k] = find_osd(lib, mount, file, ceph_object_offset(striping, k));
    if (file >= 0)
        lib->close(mount, file);
    return rc == 0 ? 0 : refuse_access(error, where->path, rc);
}

/* ---- the connection ---- */

/* Mounting takes far longer than all the rest: questions that are asked at the same time, or soon
 * after each other, share a mount. It ends with them, because for a client that is killed the
 * servers wait, and with them all who access its files. */
static struct {
    pthread_mutex_t lock; /* held while the library is called */
    bool exit_is_noticed;
    library library;
    struct ceph_mount *_Atomic mount; /* NULL: not mounted */
    size_t answers;                   /* until now */
    atomic_int asking;                /* questions that hold the lock, or wait for it */
    atomic_bool is_ending;            /* the process is: no more questions */
} connection = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Exit calls the library's destructors, which must find no thread in it. */
static void finish_at_exit(void)
{
    connection.is_ending = true;
    for (int tries = 0;
         (connection.asking > 0 || connection.mount != NULL) && tries < MOST_TRIES_AT_EXIT; tries++)
        nanosleep(&millisecond, NULL);
}

static int notice_exit(matrix_error *error)
{
    if (atexit(finish_at_exit) == 0)
        return 0;
    matrix_refuse(error, 0, "libcephfs: the end of the program cannot be noticed");
    return -ENOTSUP;
}

/* What is registered last comes first at exit: before the library is opened, for an exit meanwhile,
 * and again afterwards, to come before its destructors. */
static int open_once(matrix_error *error)
{
    library made;
    int rc = connection.exit_is_noticed ? 0 : notice_exit(error);
    if (rc != 0)
        return rc;
    connection.exit_is_noticed = true;
    rc = open_library(&made, error);
    if (rc == 0)
        rc = notice_exit(error);
    if (rc == 0)
        connection.library = made;
    return rc;
}

static int connect_cluster(const library *lib, matrix_error *error)
{
    struct ceph_mount *made = NULL;
    int rc = lib->create(&made, NULL);
    if (rc != 0)
        return refuse_access(error, "no handle", rc);
    rc = lib->read_configuration(made, NULL);
    if (rc == 0)
        rc = lib->mount(made, NULL);
    if (rc != 0) {
        lib->release(made);
        return refuse_access(error, "no access to the file system", rc);
    }
    connection.mount = made;
    return 0;
}

static int connect_once(matrix_error *error)
{
    int rc = 0;
    if (connection.library.handle == NULL)
        rc = open_once(error);
    if (rc == 0 && connection.mount == NULL)
        rc = connect_cluster(&connection.library, error);
    return rc;
}

int ceph_ask_library(const ceph_path *where, const file_striping *striping, int64_t *osd,
                     size_t first, size_t end, storage_layout **hosts, matrix_error *error)
{
    const library *lib = &connection.library;
    if (connection.asking++ >= MOST_QUESTIONS || connection.is_ending) {
        connection.asking--;
        matrix_refuse(error, 0, "libcephfs: too many questions, or the end of the program");
        return -ENOTSUP;
    }
    pthread_mutex_lock(&connection.lock);
    int rc = connect_once(error);
    if (rc == 0)
        rc = find_osds(lib, connection.mount, where, striping, osd, first, end, error);
    if (rc == 0)
        rc = list_hosts(lib, connection.mount, osd, first, end, hosts);
    connection.answers++;
    connection.asking--;
    pthread_mutex_unlock(&connection.lock);
    return rc;
}

/* The thread of the last answer does it. */
void ceph_disconnect(void)
{
    const library *lib = &connection.library;
    if (connection.mount == NULL)
        return;
    pthread_mutex_lock(&connection.lock);
    size_t answers = connection.answers;
    pthread_mutex_unlock(&connection.lock);
    nanosleep(&idle, NULL);
    pthread_mutex_lock(&connection.lock);
    if (connection.mount != NULL && connection.asking == 0 && connection.answers == answers) {
        lib->unmount(connection.mount);
        lib->release(connection.mount);
        connection.mount = NULL;
    }
    pthread_mutex_unlock(&connection.lock);
}
