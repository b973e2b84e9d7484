/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include "storage/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int set_lock(int fd, short type, int64_t offset, int64_t bytes)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = bytes};
    if (TEMP_FAILURE_RETRY(fcntl(fd, F_SETLKW, &lock)) == 0)
        return 0;
    bool has_locks = errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL;
    return has_locks ? -errno : 0;
}

int storage_lock(int fd, bool exclusive, int64_t offset, int64_t bytes)
{
    int rc = set_lock(fd, exclusive ? F_WRLCK : F_RDLCK, offset, bytes);
    return rc == -EBADF && !exclusive ? set_lock(fd, F_WRLCK, offset, bytes) : rc;
}

/* The system may have no memory to split a lock, but needs none to give up all. Others would wait
 * for one that stays while this rank waits for them. */
int storage_unlock(int fd, int64_t offset, int64_t bytes)
{
    int rc = set_lock(fd, F_UNLCK, offset, bytes);
    return rc == 0 ? rc : set_lock(fd, F_UNLCK, 0, 0);
}
