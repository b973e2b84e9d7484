/* SPDX-License-Identifier: BSD-3-Clause */
/* Small pieces of a file, written through a mapping of its pages. */
#define _GNU_SOURCE /* madvise */
#include "access/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Linux 5.14; C libraries may be older. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* What a mapping costs, in requests; a page costs one and a half, a stretch of pages one besides.
 */
#define MAPPING_COST 20

/* File systems, as statfs names them. Not here: those with servers, whose clients write back whole
 * pages; btrfs and f2fs, which move a page whenever it is written back, so that a later store may
 * find no space; overlayfs, which hides what is below it. */
enum { EXT_MAGIC = 0xef53, XFS_MAGIC = 0x58465342, TMPFS_MAGIC = 0x01021994 };

/* Adjacent pages with extents, by their numbers in the file. */
typedef struct page_stretch {
    int64_t first, last;
} page_stretch;

static int64_t page_size(void)
{
    return sysconf(_SC_PAGESIZE);
}

static int64_t last_page(const access_extent *extent, int64_t page)
{
    return (extent->offset + extent->bytes - 1) / page;
}

/* The stretch that begins with extent *next, which is advanced past its extents. */
static page_stretch take_stretch(const access_extent *extent, size_t count, int64_t page,
                                 size_t *next)
{
    page_stretch stretch = {extent[*next].offset / page, last_page(&extent[*next], page)};
    for (++*next; *next < count && extent[*next].offset / page <= stretch.last + 1; ++*next)
        stretch.last = last_page(&extent[*next], page);
    return stretch;
}

bool access_pages_pay(const access_extent *extent, size_t count)
{
    int64_t page = page_size(), cost = MAPPING_COST, requests = (int64_t)count, pages = 0;
    for (size_t i = 0; i < count && cost + pages < requests; cost++) {
        page_stretch stretch = take_stretch(extent, count, page, &i);
        pages += stretch.last - stretch.first + 1;
    }
    return cost + pages + pages / 2 < requests;
}

int64_t access_pages_estimate(const access_list *list)
{
    int64_t page = page_size(), requests = 0, last = -2;
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        int64_t end = run->offset + (run->count - 1) * run->stride + run->length - 1;
        int64_t first = run->offset / page, new_pages = end / page - first + (first != last);
        int64_t cost = new_pages + (first > last + 1);
        requests += cost < run->count ? cost : run->count;
        last = end / page;
    }
    return requests;
}

bool access_pages_are_shared(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    return fs.f_type == EXT_MAGIC || fs.f_type == XFS_MAGIC || fs.f_type == TMPFS_MAGIC;
}

/* Makes all pages with extents present and writable. A store to another page would raise a signal
 * where this returns an error. `map` begins with page `first`. */
static int populate(char *map, int64_t first, const access_extent *extent, size_t count,
                    int64_t page)
{
    for (size_t i = 0; i < count;) {
        page_stretch stretch = take_stretch(extent, count, page, &i);
        size_t pages = (size_t)(stretch.last - stretch.first + 1);
        char *begin = map + (size_t)(stretch.first - first) * (size_t)page;
        if (madvise(begin, pages * (size_t)page, MADV_POPULATE_WRITE) != 0)
            return -errno;
    }
    return 0;
}

int access_pages_write(int fd, const access_extent *extent, size_t count)
{
    int64_t page = page_size(), first = extent[0].offset / page, begin = first * page;
    size_t bytes = (size_t)(last_page(&extent[count - 1], page) - first + 1) * (size_t)page;
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, begin);
    if (map == MAP_FAILED)
        return -errno;
    int rc = populate(map, first, extent, count, page);
    for (size_t i = 0; i < count && rc == 0; i++)
        memcpy(map + (extent[i].offset - begin), extent[i].data, (size_t)extent[i].bytes);
    munmap(map, bytes);
    return rc;
}
