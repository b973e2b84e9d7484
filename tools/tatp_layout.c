/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp layout: prints which storage targets hold a file, and their hosts. */
#include "tatp.h"

#include <stdlib.h>

#include "table.h"
#include "tatp_targets.h"
#include "tool.h"
#include "tool_json.h"

/* Up to this number of objects of an extent, the table has the target of each. */
enum { SHOWN_OBJECTS = 16 };

struct layout_options {
    tatp_targets_options targets;
    bool json;
};

struct file_layout {
    storage_layout *layout;
    int64_t size;
    int64_t *bytes; /* of the file, on each target; after the last one, those on none */
};

static error_t parse_layout_option(int key, char *arg, struct argp_state *state)
{
    struct layout_options *options = state->input;
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &options->targets.file;
    state->child_inputs[1] = &options->targets;
    state->child_inputs[2] = &options->json;
    return 0;
}

static const struct argp layout_argp = {
    .parser = parse_layout_option,
    .children = (const struct argp_child[]){{&tool_file_argp, 0, NULL, 0},
                                            {&tatp_targets_argp, 0, NULL, 0},
                                            {&tool_json_argp, 0, NULL, 0},
                                            {0}},
    .doc = "Prints which storage targets hold FILE, and the hosts that serve them.",
};

/* ---- printing ---- */

static void add_objects(tool_table *table, const struct file_layout *f, const storage_extent *e)
{
    char text[SHOWN_OBJECTS * 24 + 8];
    size_t used = 0;
    for (size_t k = 0; k < e->objects && k < SHOWN_OBJECTS; k++) {
        const char *blank = k > 0 ? " " : "";
        int written =
            e->target[k] == STORAGE_NONE
                ? snprintf(text + used, sizeof text - used, "%s-", blank)
                : snprintf(text + used, sizeof text - used, "%s%llu", blank,
                           (unsigned long long)storage_target_number(f->layout, e->target[k]));
        used += (size_t)written;
    }
    text[used] = '\0';
    tool_table_add(table,
                   e->objects == 0              ? "none"
                   : e->objects > SHOWN_OBJECTS ? "%s ..."
                                                : "%s",
                   text);
}

static void print_extents(const struct file_layout *f)
{
    tool_table table = {.align = "rrrrrl"};
    tool_table_add(&table, "from\nto\nstripe unit\nstripe count\nobject size\ntargets");
    for (size_t k = 0; k < storage_extents(f->layout); k++) {
        storage_extent e;
        storage_get_extent(f->layout, k, &e);
        tool_table_add(&table, "%lld", (long long)e.start);
        tool_table_add(&table, e.end == INT64_MAX ? "-" : "%lld", (long long)e.end);
        tool_table_add(&table, "%lld", (long long)e.unit);
        tool_table_add(&table, e.count == 0 ? "-" : "%zu", e.count);
        tool_table_add(&table, e.object == 0 ? "-" : "%lld", (long long)e.object);
        add_objects(&table, f, &e);
    }
    tool_table_print(&table);
}

static void print_targets(const struct file_layout *f)
{
    tool_table table = {.align = "rlr"};
    size_t targets = storage_targets(f->layout);
    tool_table_add(&table, "target\nhost\nbytes");
    for (size_t t = 0; t < targets; t++) {
        const char *host = storage_target_host(f->layout, t);
        tool_table_add(&table, "%llu", (unsigned long long)storage_target_number(f->layout, t));
        tool_table_add_text(&table, host == NULL ? "-" : host);
        tool_table_add(&table, "%lld", (long long)f->bytes[t]);
    }
    if (f->bytes[targets] > 0)
        tool_table_add(&table, "none\n-\n%lld", (long long)f->bytes[targets]);
    tool_table_print(&table);
}

static void print_layout(const struct file_layout *f)
{
    tool_table table = {.align = "ll"};
    tool_table_add(&table, "source\n%s\nbytes\n%lld", storage_file_system(f->layout),
                   (long long)f->size);
    tool_table_print(&table);
    putchar('\n');
    print_extents(f);
    putchar('\n');
    print_targets(f);
}

static void put_extent(json_writer *w, const struct file_layout *f, size_t index)
{
    storage_extent e;
    storage_get_extent(f->layout, index, &e);
    json_begin_object(w, NULL);
    json_put_int64(w, "from", e.start);
    json_put_size(w, "to", e.end == INT64_MAX ? SIZE_MAX : (size_t)e.end);
    json_put_int64(w, "stripe_unit", e.unit);
    json_put_size(w, "stripe_count", e.count == 0 ? SIZE_MAX : e.count);
    json_put_size(w, "object_size", e.object == 0 ? SIZE_MAX : (size_t)e.object);
    json_begin_array(w, "targets");
    for (size_t k = 0; k < e.objects; k++)
        json_put_size(w, NULL,
                      e.target[k] == STORAGE_NONE ? SIZE_MAX
                                                  : storage_target_number(f->layout, e.target[k]));
    json_end_array(w);
    json_end_object(w);
}

static void put_target(json_writer *w, const struct file_layout *f, size_t target)
{
    json_begin_object(w, NULL);
    json_put_size(w, "target", storage_target_number(f->layout, target));
    json_put_string(w, "host", storage_target_host(f->layout, target));
    json_put_int64(w, "bytes", f->bytes[target]);
    json_end_object(w);
}

static void print_layout_json(const struct file_layout *f)
{
    size_t extents = storage_extents(f->layout), targets = storage_targets(f->layout);
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_begin_object(w, NULL);
    json_put_string(w, "source", storage_file_system(f->layout));
    json_put_int64(w, "bytes", f->size);
    json_put_int64(w, "bytes_on_no_target", f->bytes[targets]);
    json_begin_array(w, "extents");
    for (size_t k = 0; k < extents; k++)
        put_extent(w, f, k);
    json_end_array(w);
    json_begin_array(w, "targets");
    for (size_t t = 0; t < targets; t++)
        put_target(w, f, t);
    json_end_array(w);
    json_end_object(w);
    tool_json_end(&json);
}

/* ---- the command ---- */

int tatp_layout(int argc, char **argv)
{
    struct layout_options options = {.json = false};
    struct file_layout f = {.layout = NULL};
    tool_parse(&layout_argp, argc, argv, &options);
    f.layout = tatp_targets_read(&options.targets, &f.size);
    f.bytes = tool_allocate(storage_targets(f.layout) + 1, sizeof *f.bytes);
    storage_count(f.layout, 0, f.size, f.bytes);
    (options.json ? print_layout_json : print_layout)(&f);
    free(f.bytes);
    storage_free(f.layout);
    return 0;
}
