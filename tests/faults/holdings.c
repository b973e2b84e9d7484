/* SPDX-License-Identifier: BSD-3-Clause */
#include "holdings.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long count_entries(const char *folder)
{
    long count = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static long count_maps(void)
{
    long count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; maps != NULL && (c = getc(maps)) != EOF;)
        count += c == '\n';
    if (maps != NULL)
        fclose(maps);
    return count;
}

static long count_kilobytes(void)
{
    long size, present = 0;
    FILE *memory = fopen("/proc/self/statm", "r");
    if (memory != NULL && fscanf(memory, "%ld %ld", &size, &present) != 2)
        present = 0;
    if (memory != NULL)
        fclose(memory);
    return present * (sysconf(_SC_PAGESIZE) / 1024);
}

struct holdings take_holdings(void)
{
    return (struct holdings){
        .kilobytes = count_kilobytes(),
        .descriptors = count_entries("/proc/self/fd"),
        .maps = count_maps(),
    };
}
