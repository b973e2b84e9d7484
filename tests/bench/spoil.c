/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to be loaded before libc: of what is written (SPOIL=write) or read (SPOIL=read) at an
 * offset through a descriptor for both, or read through one for reading (SPOIL=readonly), one bit
 * is wrong. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int spoils(const char *operation, int mode, int fd, size_t bytes)
{
    const char *wanted = getenv("SPOIL");
    int flags = fcntl(fd, F_GETFL);
    return bytes > 0 && wanted != NULL && strcmp(wanted, operation) == 0 && flags >= 0 &&
           (flags & O_ACCMODE) == mode;
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    char last = bytes > 0 ? ((const char *)from)[bytes - 1] : 0;
    ssize_t done = syscall(SYS_pwrite64, fd, from, bytes, offset);
    if (done == (ssize_t)bytes && spoils("write", O_RDWR, fd, bytes)) {
        last ^= 1;
        syscall(SYS_pwrite64, fd, &last, 1, offset + done - 1);
    }
    return done;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    ssize_t done = syscall(SYS_pread64, fd, to, bytes, offset);
    if (done > 0 && (spoils("read", O_RDWR, fd, bytes) || spoils("readonly", O_RDONLY, fd, bytes)))
        ((char *)to)[done - 1] ^= 1;
    return done;
}
