/* SPDX-License-Identifier: BSD-3-Clause */
/* dla list, dla forget: the records in the user's cache. */
#define _GNU_SOURCE /* strftime with localtime_r */
#include "dla.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache/cache.h"
#include "output.h"
#include "record/record_header.h"
#include "tool.h"

typedef struct cache_contents {
    int folder;
    cache_entry *entry;
    size_t count;
} cache_contents;

/* A folder that does not exist is empty. Ends the program after a message. */
static cache_contents read_cache(void)
{
    cache_contents c = {.folder = cache_open(false)};
    char *path = NULL;
    int rc = c.folder < 0 ? c.folder : cache_list(c.folder, &c.entry, &c.count);
    if (rc == 0 || rc == -ENOENT)
        return c;
    (void)cache_path(&path);
    exit(tool_fail("%s: %s", path != NULL ? path : "the cache", cache_reason(rc)));
}

static void release_cache(cache_contents *c)
{
    if (c->folder >= 0)
        close(c->folder);
    free(c->entry);
}

/* ---- list ---- */

static void cache_add_day(tool_table *table, int64_t seconds)
{
    char day[32] = "-";
    struct tm tm;
    time_t when = (time_t)seconds;
    if (localtime_r(&when, &tm) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
    tool_table_add(table, "%s", day);
}

static void cache_add_row(tool_table *table, int folder, const cache_entry *e)
{
    record_header header = {.ranks = 0};
    int fd = cache_open_record(folder, &e->key, false);
    bool is_whole = fd >= 0 && record_header_read(&header, fd) == 0;
    if (fd >= 0)
        close(fd);
    tool_table_add(table, "%s\n%zu", e->key.text, header.ranks);
    cache_add_day(table, e->recorded);
    cache_add_day(table, e->used);
    tool_table_add_text(table, is_whole ? header.program : "(damaged)");
}

static const struct argp list_argp = {
    .doc =
        "Lists the records in your cache, which fcoll_tatp_record=auto and tatp run --auto write.",
};

int dla_list(int argc, char **argv)
{
    tool_table table = {.align = "lrlll"};
    tool_parse(&list_argp, 0, argc, argv, NULL);
    cache_contents c = read_cache();
    tool_table_add(&table, "key\nranks\nrecorded\nused\nprogram");
    for (size_t i = 0; i < c.count; i++)
        cache_add_row(&table, c.folder, &c.entry[i]);
    tool_table_print(&table);
    release_cache(&c);
    return 0;
}

/* ---- forget ---- */

typedef struct forget_options {
    bool all;
    size_t keys;
    char **key; /* of argv */
} forget_options;

static error_t parse_forget_option(int key, char *arg, struct argp_state *state)
{
    forget_options *options = state->input;
    (void)arg;
    switch (key) {
    case 'a': options->all = true; return 0;
    case ARGP_KEY_ARGS:
        options->key = state->argv + state->next;
        options->keys = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (options->all == (options->keys > 0))
            argp_error(state, "give keys, or --all");
        for (size_t i = 0; i < options->keys; i++)
            if (*options->key[i] == '\0')
                argp_error(state, "a key is empty; --all removes all records");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp forget_argp = {
    .options =
        (const struct argp_option[]){
            {"all", 'a', NULL, 0, "remove all records", 0},
            {0},
        },
    .parser = parse_forget_option,
    .args_doc = "KEY...",
    .doc = "Removes records from your cache: those whose keys, which dla list prints, begin so.",
};

static int remove_entries(const cache_contents *c, const char *key)
{
    bool found = false;
    for (size_t i = 0; i < c->count; i++) {
        if (strncmp(c->entry[i].key.text, key, strlen(key)) != 0)
            continue;
        int rc = cache_remove(c->folder, &c->entry[i].key);
        if (rc != 0)
            return tool_fail("%s: %s", c->entry[i].key.text, strerror(-rc));
        found = true;
    }
    return found || *key == '\0'
               ? 0
               : tool_fail("%s: no record has a key that begins so; dla list prints the keys", key);
}

int dla_forget(int argc, char **argv)
{
    forget_options options = {.all = false};
    int status = 0;
    tool_parse(&forget_argp, 0, argc, argv, &options);
    cache_contents c = read_cache();
    if (options.all)
        status = remove_entries(&c, "");
    for (size_t i = 0; i < options.keys && status == 0; i++)
        status = remove_entries(&c, options.key[i]);
    release_cache(&c);
    return status;
}
