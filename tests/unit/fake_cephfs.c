/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_cephfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ceph_mount {
    fake_cephfs *of;
};

int ceph_create(struct ceph_mount **mount, const char *id);
int ceph_conf_read_file(struct ceph_mount *mount, const char *path);
int ceph_mount(struct ceph_mount *mount, const char *root);
int ceph_unmount(struct ceph_mount *mount);
int ceph_release(struct ceph_mount *mount);
int ceph_open(struct ceph_mount *mount, const char *path, int flags, mode_t mode);
int ceph_close(struct ceph_mount *mount, int file);
int ceph_fstat(struct ceph_mount *mount, int file, struct stat *status);
int ceph_get_file_pool(struct ceph_mount *mount, int file);
int ceph_get_pool_name(struct ceph_mount *mount, int pool, char *name, size_t length);
int ceph_get_file_extent_osds(struct ceph_mount *mount, int file, int64_t offset, int64_t *length,
                              int *osd, int most);
int ceph_get_osd_crush_location(struct ceph_mount *mount, int osd, char *place, size_t length);

/* NULL: the variable is not set. */
static fake_cephfs *find_fake(void)
{
    const char *text = getenv(FAKE_CEPHFS);
    void *address = NULL;
    return text != NULL && sscanf(text, "%p", &address) == 1 ? address : NULL;
}

/* As the destructors of objects in C++ are. */
static void end_library(void)
{
    const fake_cephfs *fake = find_fake();
    if (fake != NULL && !fake->may_stay_in_use && (fake->inside > 0 || fake->mounted > 0))
        _exit(FAKE_CEPHFS_IN_USE);
}

__attribute__((constructor)) static void begin_library(void)
{
    if (atexit(end_library) != 0)
        abort();
}

int ceph_create(struct ceph_mount **mount, const char *id)
{
    (void)id;
    struct ceph_mount *made = malloc(sizeof *made);
    if (made == NULL)
        return -1;
    made->of = find_fake();
    *mount = made;
    return 0;
}

int ceph_conf_read_file(struct ceph_mount *mount, const char *path)
{
    (void)mount;
    (void)path;
    return 0;
}

static void wait_for(sem_t *posted)
{
    if (posted != NULL)
        sem_wait(posted);
}

int ceph_mount(struct ceph_mount *mount, const char *root)
{
    fake_cephfs *fake = mount->of;
    (void)root;
    fake->inside++;
    fake->mounts++;
    wait_for(fake->mount);
    int rc = fake->mount_error;
    if (rc == 0)
        fake->mounted++;
    fake->inside--;
    return rc;
}

int ceph_unmount(struct ceph_mount *mount)
{
    fake_cephfs *fake = mount->of;
    fake->inside++;
    fake->unmounts++;
    wait_for(fake->unmount);
    fake->mounted--;
    fake->inside--;
    return 0;
}

int ceph_release(struct ceph_mount *mount)
{
    free(mount);
    return 0;
}

int ceph_open(struct ceph_mount *mount, const char *path, int flags, mode_t mode)
{
    (void)mount;
    (void)flags;
    (void)mode;
    return path[0] == '/' ? 3 : -1;
}

int ceph_close(struct ceph_mount *mount, int file)
{
    (void)mount;
    (void)file;
    return 0;
}

int ceph_fstat(struct ceph_mount *mount, int file, struct stat *status)
{
    (void)file;
    memset(status, 0, sizeof *status);
    status->st_ino = mount->of->inode;
    return 0;
}

int ceph_get_file_pool(struct ceph_mount *mount, int file)
{
    (void)mount;
    (void)file;
    return 1;
}

int ceph_get_pool_name(struct ceph_mount *mount, int pool, char *name, size_t length)
{
    (void)mount;
    (void)pool;
    return snprintf(name, length, "data");
}

int ceph_get_file_extent_osds(struct ceph_mount *mount, int file, int64_t offset, int64_t *length,
                              int *osd, int most)
{
    (void)mount;
    (void)file;
    (void)most;
    *length = FAKE_CEPHFS_OBJECT;
    osd[0] = (int)(offset / FAKE_CEPHFS_OBJECT % 3);
    return 1;
}

/* Pairs of strings, each with its NUL. */
int ceph_get_osd_crush_location(struct ceph_mount *mount, int osd, char *place, size_t length)
{
    (void)mount;
    return snprintf(place, length, "host%cosd%d%croot%cdefault", 0, osd, 0, 0) + 1;
}
