/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of the C library's calls, loaded before it: every regular file is one of Lustre, in
 * stripes of 65,536 bytes on OSTs 0, 10, 20 and 30, whose hosts are not known. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum { LUSTRE = 0x0BD00BD0, PLAIN = 0x0BD10BD0, IN_TURN = 1, STRIPE = 65536, COUNT = 4 };

/* As lustre_user.h has them, little-endian as this host. */
static const struct {
    uint32_t magic, pattern;
    uint64_t file[2];
    uint32_t stripe;
    uint16_t count, generation;
    struct {
        uint64_t object[2];
        uint32_t generation, target;
    } on[COUNT];
} attribute = {.magic = PLAIN,
               .pattern = IN_TURN,
               .stripe = STRIPE,
               .count = COUNT,
               .on = {{.target = 0}, {.target = 10}, {.target = 20}, {.target = 30}}};

int fstatfs(int fd, struct statfs *status)
{
    int (*call)(int, struct statfs *) = (int (*)(int, struct statfs *))dlsym(RTLD_NEXT, "fstatfs");
    struct stat file;
    int rc = call(fd, status);
    if (rc == 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
        status->f_type = LUSTRE;
    return rc;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    (void)path;
    if (strcmp(name, "lustre.lov") != 0 || (size > 0 && size < sizeof attribute)) {
        errno = strcmp(name, "lustre.lov") != 0 ? ENODATA : ERANGE;
        return -1;
    }
    if (size > 0)
        memcpy(value, &attribute, sizeof attribute);
    return sizeof attribute;
}
