/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that several file systems are asked by. */
#include "storage/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/xattr.h>

#include "base/memory.h"

int storage_fail(matrix_error *error, const char *what)
{
    int number = errno;
    matrix_refuse(error, 0, "%s: %s", what, strerror(number));
    return -number;
}

void storage_path_of_fd(int fd, char path[STORAGE_FD_PATH])
{
    snprintf(path, STORAGE_FD_PATH, "/proc/self/fd/%d", fd);
}

int storage_get_attribute(int fd, const char *name, char **value, size_t *length,
                          matrix_error *error)
{
    enum { MOST_BYTES = 65536 }; /* XATTR_SIZE_MAX */
    char path[STORAGE_FD_PATH], *buffer = base_alloc(MOST_BYTES + 1, 1);
    if (buffer == NULL)
        return -ENOMEM;
    storage_path_of_fd(fd, path);
    ssize_t got = getxattr(path, name, buffer, MOST_BYTES);
    if (got < 0) {
        int rc = storage_fail(error, name);
        free(buffer);
        return rc;
    }
    buffer[got] = '\0';
    *value = buffer;
    *length = (size_t)got;
    return 0;
}

void storage_name_address(char host[STORAGE_LONGEST_HOST + 1])
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    char name[STORAGE_LONGEST_HOST + 1] = "";
    int found = EAI_NONAME;
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1)
        found = getnameinfo((const struct sockaddr *)&four, sizeof four, name, sizeof name, NULL, 0,
                            NI_NAMEREQD);
    else if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1)
        found = getnameinfo((const struct sockaddr *)&six, sizeof six, name, sizeof name, NULL, 0,
                            NI_NAMEREQD);
    if (found == 0)
        strcpy(host, name);
}
