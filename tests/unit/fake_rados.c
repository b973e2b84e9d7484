/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_rados.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL: the variable is not set. */
static fake_rados *find_fake(void)
{
    const char *text = getenv(FAKE_RADOS);
    void *address = NULL;
    return text != NULL && sscanf(text, "%p", &address) == 1 ? address : NULL;
}

/* As the destructors of objects in C++ are. */
static void end_library(void)
{
    const fake_rados *fake = find_fake();
    if (fake != NULL && ((fake->inside > 0 && !fake->may_stay_in_use) ||
                         (fake->connected > 0 && !fake->may_stay_connected)))
        _exit(FAKE_RADOS_IN_USE);
}

__attribute__((constructor)) static void begin_library(void)
{
    if (atexit(end_library) != 0)
        abort();
}

int rados_create(void **cluster, const char *id)
{
    fake_rados *fake = find_fake();
    snprintf(fake->id, sizeof fake->id, "%s", id != NULL ? id : "");
    *cluster = fake;
    return 0;
}

int rados_conf_read_file(void *cluster, const char *path)
{
    (void)cluster;
    (void)path;
    return 0;
}

int rados_conf_set(void *cluster, const char *option, const char *value)
{
    (void)cluster;
    (void)option;
    (void)value;
    return 0;
}

static void wait_for(sem_t *posted)
{
    if (posted != NULL)
        sem_wait(posted);
}

int rados_connect(void *cluster)
{
    fake_rados *fake = cluster;
    fake->inside++;
    fake->connects++;
    wait_for(fake->connect);
    int rc = fake->connect_error;
    if (rc == 0)
        fake->connected++;
    fake->inside--;
    return rc;
}

/* Also of what is not connected. */
void rados_shutdown(void *cluster)
{
    fake_rados *fake = cluster;
    fake->inside++;
    fake->shutdowns++;
    wait_for(fake->shutdown);
    if (fake->connected > 0)
        fake->connected--;
    fake->inside--;
}

int rados_cluster_fsid(void *cluster, char *fsid, size_t length)
{
    (void)cluster;
    return length < sizeof FAKE_RADOS_FSID ? -ERANGE : snprintf(fsid, length, FAKE_RADOS_FSID);
}

/* ---- commands ---- */

/* The string after a key; "": none. */
static void read_string(const char *text, const char *key, char value[300])
{
    char pattern[40];
    snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    const char *at = strstr(text, pattern);
    size_t length = at != NULL ? strcspn(at + strlen(pattern), "\"") : 0;
    if (length >= 300)
        abort();
    if (length > 0)
        memcpy(value, at + strlen(pattern), length);
    value[length] = '\0';
}

static int print_map(const fake_rados *fake, const char *text, char reply[1000])
{
    char name[300], name_space[300], pool[300];
    read_string(text, "object", name);
    read_string(text, "nspace", name_space);
    read_string(text, "pool", pool);
    int64_t group = fake->find_group(name_space, name, fake->groups);
    return snprintf(reply, 1000,
                    "{\"epoch\":%d,\"pool\":\"%s\",\"pool_id\":2,\"objname\":\"%s\","
                    "\"raw_pgid\":\"2.f\",\"pgid\":\"2.%" PRIx64 "\",\"up\":[0],\"up_primary\":0,"
                    "\"acting\":[0],\"acting_primary\":%d}",
                    fake->epoch, pool, name, group, (int)((group + fake->epoch) % 3));
}

static int print_osd(const char *text, char reply[1000])
{
    const char *at = strstr(text, "\"id\":");
    int osd = at != NULL ? atoi(at + 5) : -1;
    return snprintf(reply, 1000,
                    "{\"osd\":%d,\"host\":\"name\",\"crush_location\":{\"host\":\"osd%d\","
                    "\"root\":\"default\"}}",
                    osd, osd);
}

static int print_reply(const fake_rados *fake, const char *text, char reply[1000])
{
    char prefix[300];
    read_string(text, "prefix", prefix);
    if (fake->reply != NULL && strcmp(prefix, fake->replied_command) == 0)
        return snprintf(reply, 1000, "%s", fake->reply);
    if (strcmp(prefix, "osd map") == 0)
        return print_map(fake, text, reply);
    if (strcmp(prefix, "osd find") == 0)
        return print_osd(text, reply);
    if (strcmp(prefix, "osd pool get") == 0)
        return snprintf(reply, 1000, "{\"pool\":\"data\",\"pool_id\":2,\"pg_num\":%d}\n",
                        fake->groups);
    return -EINVAL;
}

/* Without a NUL, as the library does it. */
int rados_mon_command(void *cluster, const char **text, size_t texts, const char *input,
                      size_t input_length, char **output, size_t *length, char **status,
                      size_t *status_length)
{
    fake_rados *fake = cluster;
    char reply[1000];
    (void)input;
    fake->commands++;
    int bytes = texts == 1 && input_length == 0 ? print_reply(fake, text[0], reply) : -EINVAL;
    *output = bytes > 0 ? malloc((size_t)bytes) : NULL;
    *length = *output != NULL ? (size_t)bytes : 0;
    if (*output != NULL)
        memcpy(*output, reply, *length);
    *status = NULL;
    *status_length = 0;
    return bytes < 0 ? bytes : 0;
}

void rados_buffer_free(char *buffer)
{
    free(buffer);
}
