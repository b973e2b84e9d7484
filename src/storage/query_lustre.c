/* SPDX-License-Identifier: BSD-3-Clause */
/* Lustre: the attribute of a file, and what the client says about its servers. */
#include "storage/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { DEVICE_BYTES = 128, PATH_BYTES = 512 };

/* The name of the device that has the data of a mount, "FS-clilov-MOUNT": by the newer number, and
 * by that of older releases. */
#define GET_DEVICE _IOR('f', 127, char[DEVICE_BYTES])
#define GET_DEVICE_BEFORE _IOWR('f', 131, long)

static const char between[] = "-clilov-";

/* The file's first line, the identifier of the server. */
static bool read_server(const char *path, char *nid, int bytes)
{
    FILE *stream = fopen(path, "re");
    bool read = stream != NULL && fgets(nid, bytes, stream) != NULL;
    if (stream != NULL)
        fclose(stream);
    return read;
}

int lustre_name_servers(storage_layout *layout, const char *folder, const char *device)
{
    const char *middle = strstr(device, between);
    char path[PATH_BYTES], nid[STORAGE_LONGEST_HOST + 1], host[STORAGE_LONGEST_HOST + 1];
    int rc = 0;
    for (size_t k = 0; middle != NULL && rc == 0 && k < storage_targets(layout); k++) {
        int length = snprintf(path, sizeof path, "%s/%.*s-OST%04llx-osc-%s/ost_conn_uuid", folder,
                              (int)(middle - device), device,
                              (unsigned long long)storage_target_number(layout, k),
                              middle + strlen(between));
        if (length >= (int)sizeof path || !read_server(path, nid, sizeof nid))
            continue;
        lustre_host_of_nid(nid, host);
        storage_name_address(host);
        rc = storage_set_host(layout, k, host);
    }
    return rc;
}

/* The folder's place depends on the release. */
static int name_servers(int fd, storage_layout *layout)
{
    char device[DEVICE_BYTES + 1] = "";
    if (ioctl(fd, GET_DEVICE, device) != 0 && ioctl(fd, GET_DEVICE_BEFORE, device) != 0)
        return 0;
    int rc = lustre_name_servers(layout, "/proc/fs/lustre/osc", device);
    return rc == 0 ? lustre_name_servers(layout, "/sys/fs/lustre/osc", device) : rc;
}

int lustre_query(int fd, storage_range range, storage_layout **layout, matrix_error *error)
{
    char *attribute;
    size_t length;
    storage_layout *built = NULL;
    (void)range;
    int rc = storage_get_attribute(fd, "lustre.lov", &attribute, &length, error);
    if (rc != 0)
        return rc;
    rc = storage_from_lustre(attribute, length, &built, error);
    free(attribute);
    if (rc == 0)
        rc = name_servers(fd, built);
    return storage_hand_over(built, rc, layout);
}
