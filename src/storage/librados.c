/* SPDX-License-Identifier: BSD-3-Clause */
/* CephFS by librados, which is opened at run time: the OSD of an object and the host of an OSD, as
 * the monitors say. It reads the configuration and the key of the user as the programs of Ceph do.
 * No file is opened and nothing is mounted: metadata servers know nothing of it, and no other
 * client has to give anything back. */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include "storage/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

typedef void *rados_cluster; /* the library's */

static const struct timespec millisecond = {.tv_nsec = 1000000};

/* Until the process ends all the same: for questions, and for the end of the connection. */
enum { MOST_SECONDS_AT_EXIT = 3 };

/* At the same time: monitors that do not answer must not make threads without end. */
enum { MOST_QUESTIONS = 100 };

/* After which the library gives up; by default it waits for minutes, or for ever. */
static const char most_seconds[] = "30";

/* More than a pool has. */
enum { MOST_GROUPS = 1 << 20 };

/* In the place of an OSD. */
enum { NO_OSD = -1, NOT_ASKED = -2 };

enum { COMMAND_BYTES = 1024, REPLY_BYTES = 8192, FSID_BYTES = 37, ID_BYTES = 256 };

typedef struct library {
    void *handle;
    int (*create)(rados_cluster *cluster, const char *id);
    int (*read_configuration)(rados_cluster cluster, const char *path);
    int (*set_option)(rados_cluster cluster, const char *option, const char *value);
    int (*connect)(rados_cluster cluster);
    void (*shutdown)(rados_cluster cluster);
    int (*get_fsid)(rados_cluster cluster, char *fsid, size_t length);
    int (*command)(rados_cluster cluster, const char **text, size_t texts, const char *input,
                   size_t input_length, char **output, size_t *length, char **status,
                   size_t *status_length);
    void (*free_buffer)(char *buffer);
} library;

typedef struct server {
    int64_t osd;
    char host[STORAGE_LONGEST_HOST + 1];
} server;

/* What is known of the map of the cluster: objects are in placement groups by a hash of their
 * names, and a group is on an OSD as long as the map is the same. */
typedef struct cluster_map {
    int64_t epoch; /* 0: nothing is known */
    char *pool;
    int64_t groups, *osd_of_group;
    server *servers;
    size_t count, capacity;
} cluster_map;

/* Connecting takes far longer than a question, and so it is done once. It costs the servers nothing
 * if the program is killed. */
static struct {
    pthread_mutex_t lock; /* held while the library is called */
    bool exit_is_noticed;
    library library;
    rados_cluster _Atomic cluster; /* NULL: not connected */
    pid_t process;                 /* that has opened the library */
    char fsid[FSID_BYTES];
    cluster_map map;
    atomic_int asking;     /* questions that hold the lock, or wait for it */
    atomic_bool is_ending; /* the process is: no more questions */
} connection = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the library ---- */

static bool find_symbol(const library *lib, const char *name, void *function)
{
    void *symbol = dlsym(lib->handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Stays open: a thread of it may still run. */
static int open_library(library *opened, matrix_error *error)
{
    library made = {.handle = dlopen("librados.so.2", RTLD_NOW | RTLD_LOCAL)}, *lib = &made;
    if (lib->handle != NULL && find_symbol(lib, "rados_create", &lib->create) &&
        find_symbol(lib, "rados_conf_read_file", &lib->read_configuration) &&
        find_symbol(lib, "rados_conf_set", &lib->set_option) &&
        find_symbol(lib, "rados_connect", &lib->connect) &&
        find_symbol(lib, "rados_shutdown", &lib->shutdown) &&
        find_symbol(lib, "rados_cluster_fsid", &lib->get_fsid) &&
        find_symbol(lib, "rados_mon_command", &lib->command) &&
        find_symbol(lib, "rados_buffer_free", &lib->free_buffer)) {
        *opened = made;
        return 0;
    }
    const char *reason = dlerror();
    matrix_refuse(error, 0, "%s", reason != NULL ? reason : "librados.so.2");
    return -ENOTSUP;
}

static int refuse_access(matrix_error *error, const char *what, int rc)
{
    matrix_refuse(error, 0, "librados: %s: %s", what, strerror(-rc));
    return -EACCES;
}

static int refuse_reply(matrix_error *error, const char *command)
{
    matrix_refuse(error, 0, "librados: the answer to %.200s is not understood", command);
    return -ENOTSUP;
}

/* ---- commands to the monitors: JSON ---- */

/* *reply: of REPLY_BYTES; what is longer is cut off. */
static int send_command(const char *text, char *reply, matrix_error *error)
{
    const library *lib = &connection.library;
    const char *texts[] = {text};
    char *output = NULL, *status = NULL;
    size_t length = 0, status_length = 0;
    int rc = lib->command(connection.cluster, texts, 1, "", 0, &output, &length, &status,
                          &status_length);
    length = output == NULL ? 0 : length < REPLY_BYTES ? length : REPLY_BYTES - 1;
    memcpy(reply, output != NULL ? output : "", length);
    reply[length] = '\0';
    lib->free_buffer(output);
    lib->free_buffer(status);
    return rc < 0 ? refuse_access(error, text, rc) : 0;
}

/* What follows "KEY": in a reply; NULL: nothing. Quotes within its strings have a backslash. */
static const char *find_value(const char *reply, const char *key)
{
    char pattern[40];
    int length = snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(reply, pattern);
    return at != NULL ? at + length : NULL;
}

static bool read_number(const char *reply, const char *key, int64_t *number)
{
    char *end;
    const char *at = find_value(reply, key);
    if (at == NULL)
        return false;
    errno = 0;
    *number = strtoll(at, &end, 10);
    return end > at && errno == 0;
}

/* "POOL.GROUP", the latter hexadecimal. */
static bool read_group(const char *reply, int64_t *group)
{
    char *end;
    const char *at = find_value(reply, "pgid");
    size_t digits = at != NULL && *at == '"' ? strspn(at + 1, "0123456789") : 0;
    if (digits == 0 || at[1 + digits] != '.')
        return false;
    at += digits + 2;
    errno = 0;
    *group = strtoll(at, &end, 16);
    return end > at && *end == '"' && errno == 0;
}

/* Of its CRUSH location; "": there is none. */
static void read_host(const char *reply, char host[STORAGE_LONGEST_HOST + 1])
{
    const char *place = find_value(reply, "crush_location");
    const char *at = place != NULL ? find_value(place, "host") : NULL;
    size_t length = at != NULL && *at == '"' ? strcspn(at + 1, "\"") : 0;
    if (length > STORAGE_LONGEST_HOST)
        length = 0;
    if (length > 0)
        memcpy(host, at + 1, length);
    host[length] = '\0';
}

/* ---- objects ---- */

static void forget_map(cluster_map *map)
{
    free(map->pool);
    free(map->osd_of_group);
    free(map->servers);
    *map = (cluster_map){0};
}

/* On errors map->epoch is 0. */
static int renew_map(cluster_map *map, const char *pool, int64_t epoch, matrix_error *error)
{
    char command[COMMAND_BYTES], reply[REPLY_BYTES];
    forget_map(map);
    snprintf(command, sizeof command,
             "{\"prefix\":\"osd pool get\",\"pool\":\"%s\",\"var\":\"pg_num\",\"format\":\"json\"}",
             pool);
    int rc = send_command(command, reply, error);
    if (rc != 0)
        return rc;
    if (!read_number(reply, "pg_num", &map->groups) || map->groups < 1 || map->groups > MOST_GROUPS)
        return refuse_reply(error, command);
    map->pool = strdup(pool);
    map->osd_of_group = base_alloc((size_t)map->groups, sizeof *map->osd_of_group);
    if (map->pool == NULL || map->osd_of_group == NULL)
        return -ENOMEM;
    for (int64_t k = 0; k < map->groups; k++)
        map->osd_of_group[k] = NOT_ASKED;
    map->epoch = epoch;
    return 0;
}

/* Also learns what is on other objects of its placement group. */
static int ask_for_object(cluster_map *map, const ceph_names *names, size_t object,
                          matrix_error *error)
{
    char command[COMMAND_BYTES], reply[REPLY_BYTES], name[CEPH_OBJECT_BYTES];
    int64_t epoch, osd, group;
    ceph_name_object(names->inode, object, name);
    snprintf(command, sizeof command,
             "{\"prefix\":\"osd map\",\"pool\":\"%s\",\"object\":\"%s\",\"nspace\":\"%s\","
             "\"format\":\"json\"}",
             names->pool, name, names->name_space);
    int rc = send_command(command, reply, error);
    if (rc != 0)
        return rc;
    if (!read_number(reply, "epoch", &epoch) || epoch < 1 ||
        !read_number(reply, "acting_primary", &osd) || !read_group(reply, &group))
        return refuse_reply(error, command);
    if (map->epoch != epoch || strcmp(map->pool, names->pool) != 0)
        rc = renew_map(map, names->pool, epoch, error);
    if (rc == 0 && group != ceph_find_group(names->name_space, name, map->groups)) {
        forget_map(map);
        return refuse_reply(error, command);
    }
    if (rc == 0)
        map->osd_of_group[group] = osd < 0 ? NO_OSD : osd;
    return rc;
}

/* The first object is always asked for: its answer says whether the map is still the same. */
static int find_osds(cluster_map *map, const ceph_names *names, int64_t *osd, size_t first,
                     size_t end, matrix_error *error)
{
    char name[CEPH_OBJECT_BYTES];
    int rc = ask_for_object(map, names, first, error);
    for (size_t k = first; rc == 0 && k < end; k++) {
        ceph_name_object(names->inode, k, name);
        int64_t group = ceph_find_group(names->name_space, name, map->groups);
        if (map->osd_of_group[group] == NOT_ASKED)
            rc = ask_for_object(map, names, k, error);
        if (rc == 0)
            osd[k] = map->osd_of_group[ceph_find_group(names->name_space, name, map->groups)];
    }
    return rc;
}

/* ---- hosts ---- */

/* *found: in the map, until the next call. */
static int find_server(cluster_map *map, int64_t osd, const server **found, matrix_error *error)
{
    char command[COMMAND_BYTES], reply[REPLY_BYTES];
    for (size_t k = 0; k < map->count; k++)
        if (map->servers[k].osd == osd) {
            *found = &map->servers[k];
            return 0;
        }
    int rc = base_reserve(&map->servers, &map->capacity, map->count + 1, sizeof *map->servers);
    if (rc != 0)
        return rc;
    snprintf(command, sizeof command,
             "{\"prefix\":\"osd find\",\"id\":%" PRId64 ",\"format\":\"json\"}", osd);
    rc = send_command(command, reply, error);
    if (rc != 0)
        return rc;
    server *made = &map->servers[map->count++];
    made->osd = osd;
    read_host(reply, made->host);
    *found = made;
    return 0;
}

static int name_osds(cluster_map *map, storage_layout *layout, matrix_error *error)
{
    const server *found;
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < storage_targets(layout); k++) {
        rc = find_server(map, (int64_t)storage_target_number(layout, k), &found, error);
        if (rc == 0)
            rc = storage_set_host(layout, k, found->host);
    }
    return rc;
}

/* ---- the connection ---- */

static void *disconnect(void *context)
{
    (void)context;
    connection.library.shutdown(connection.cluster);
    connection.cluster = NULL;
    return NULL;
}

/* Exit calls the library's destructors, which must find no thread in it, nor one of its own. A
 * process that was forked has none. */
static void finish_at_exit(void)
{
    pthread_t thread;
    struct timespec until;
    if (getpid() != connection.process || atomic_exchange(&connection.is_ending, true))
        return;
    for (int tries = 0; connection.asking > 0 && tries < MOST_SECONDS_AT_EXIT * 1000; tries++)
        nanosleep(&millisecond, NULL);
    if (connection.asking > 0 || connection.cluster == NULL ||
        pthread_create(&thread, NULL, disconnect, NULL) != 0)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += MOST_SECONDS_AT_EXIT;
    (void)pthread_timedjoin_np(thread, NULL, &until);
}

static int notice_exit(matrix_error *error)
{
    if (atexit(finish_at_exit) == 0)
        return 0;
    matrix_refuse(error, 0, "librados: the end of the program cannot be noticed");
    return -ENOTSUP;
}

/* What is registered last comes first at exit: before the library is opened, for an exit meanwhile,
 * and again afterwards, to come before its destructors. */
static int open_once(matrix_error *error)
{
    library made;
    connection.process = getpid();
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

/* The user's, "--id ID" in CEPH_ARGS, which programs of Ceph take and the library leaves to its
 * callers. "": the library's default, admin. */
static void read_id(char id[ID_BYTES])
{
    const char *arguments = getenv("CEPH_ARGS");
    const char *at = arguments != NULL ? strstr(arguments, "--id") : NULL;
    id[0] = '\0';
    if (at == NULL || (at[4] != ' ' && at[4] != '='))
        return;
    at += 5 + strspn(at + 5, " ");
    size_t length = strcspn(at, " ");
    if (length < ID_BYTES) {
        memcpy(id, at, length);
        id[length] = '\0';
    }
}

static int connect_cluster(const library *lib, matrix_error *error)
{
    rados_cluster made = NULL;
    char id[ID_BYTES];
    read_id(id);
    int rc = lib->create(&made, id[0] != '\0' ? id : NULL);
    if (rc != 0)
        return refuse_access(error, "no handle", rc);
    rc = lib->set_option(made, "client_mount_timeout", most_seconds);
    if (rc == 0)
        rc = lib->set_option(made, "rados_mon_op_timeout", most_seconds);
    if (rc == 0)
        rc = lib->read_configuration(made, NULL);
    if (rc == 0)
        rc = lib->connect(made);
    if (rc == 0)
        rc = lib->get_fsid(made, connection.fsid, sizeof connection.fsid);
    if (rc < 0) {
        lib->shutdown(made);
        return refuse_access(error, "no access to the cluster", rc);
    }
    connection.cluster = made;
    return 0;
}

static int connect_once(const char *fsid, matrix_error *error)
{
    int rc = 0;
    if (connection.library.handle == NULL)
        rc = open_once(error);
    if (rc == 0 && connection.cluster == NULL)
        rc = connect_cluster(&connection.library, error);
    if (rc == 0 && strcmp(connection.fsid, fsid) != 0) {
        matrix_refuse(error, 0, "librados: the file is on cluster %.40s, not on %s", fsid,
                      connection.fsid);
        rc = -ENOTSUP;
    }
    return rc;
}

static int begin_asking(matrix_error *error)
{
    if (connection.asking++ < MOST_QUESTIONS && !connection.is_ending)
        return 0;
    connection.asking--;
    matrix_refuse(error, 0, "librados: too many questions, or the end of the program");
    return -ENOTSUP;
}

int ceph_ask_monitors(const ceph_names *names, const char *attribute, int64_t *osd, size_t first,
                      size_t end, storage_layout **layout, matrix_error *error)
{
    cluster_map *map = &connection.map;
    storage_layout *built = NULL;
    int rc = begin_asking(error);
    if (rc != 0)
        return rc;
    pthread_mutex_lock(&connection.lock);
    rc = connect_once(names->fsid, error);
    if (rc == 0)
        rc = find_osds(map, names, osd, first, end, error);
    if (rc == 0)
        rc = storage_from_ceph(attribute, osd, end, &built, error);
    if (rc == 0)
        rc = name_osds(map, built, error);
    pthread_mutex_unlock(&connection.lock);
    connection.asking--;
    return storage_hand_over(built, rc, layout);
}
