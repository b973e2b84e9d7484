/* SPDX-License-Identifier: BSD-3-Clause */
/* dla: shows view matrices, and places ranks on nodes as the rmaps/dla component does. */
#include "setmatch/setmatch.h"
#include "tool.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *argp_program_version = "dla (" PACKAGE_STRING ")";

/* ---- hosts ---- */

/* name[n] has slots[n] slots; nodes are numbered as they were named. */
struct hosts {
    char **name;
    size_t *slots;
    size_t count;
};

/* A host that is named again gets more slots, as in Open MPI. 0, or -1 on overflow. */
static int add_host(struct hosts *hosts, const char *name, size_t slots)
{
    for (size_t n = 0; n < hosts->count; n++)
        if (strcmp(hosts->name[n], name) == 0)
            return __builtin_add_overflow(hosts->slots[n], slots, &hosts->slots[n]) ? -1 : 0;
    hosts->name = tool_grow(hosts->name, hosts->count, sizeof *hosts->name);
    hosts->slots = tool_grow(hosts->slots, hosts->count, sizeof *hosts->slots);
    hosts->name[hosts->count] = tool_allocate(strlen(name) + 1, 1);
    strcpy(hosts->name[hosts->count], name);
    hosts->slots[hosts->count++] = slots;
    return 0;
}

static void release_hosts(struct hosts *hosts)
{
    for (size_t n = 0; n < hosts->count; n++)
        free(hosts->name[n]);
    free(hosts->name);
    free(hosts->slots);
}

/* NAME[:SLOTS],... with 1 slot where none are given. Cuts `list` up. */
static int parse_hosts(char *list, struct hosts *hosts)
{
    char *item;
    while ((item = strsep(&list, ",")) != NULL) {
        size_t slots = 1;
        char *colon = strrchr(item, ':');
        if (colon != NULL) {
            *colon = '\0';
            if (tool_number(colon + 1, 0, SIZE_MAX, &slots) != 0)
                return -1;
        }
        if (*item == '\0' || add_host(hosts, item, slots) != 0)
            return -1;
    }
    return 0;
}

/* The words behind a host's name; of these only slots=N matters here. NULL, or the bad word. */
static const char *parse_host_words(char *rest, size_t *slots)
{
    char *save = NULL;
    for (char *word = strtok_r(rest, " \t\r\n", &save); word != NULL;
         word = strtok_r(NULL, " \t\r\n", &save)) {
        char *value = strchr(word, '=');
        int limits = strncasecmp(word, "max_slots=", 10) == 0 ||
                     strncasecmp(word, "max-slots=", 10) == 0;
        size_t number;
        if (value == NULL || tool_number(value + 1, 0, SIZE_MAX, &number) != 0)
            return word;
        if (strncasecmp(word, "slots=", 6) == 0)
            *slots = number;
        else if (!limits)
            return word;
    }
    return NULL;
}

static int parse_host_line(const char *file, size_t line, char *text, struct hosts *hosts)
{
    size_t slots = 1;
    text[strcspn(text, "#")] = '\0';
    text += strspn(text, " \t\r\n");
    if (*text == '\0')
        return 0;
    char *rest = text + strcspn(text, " \t\r\n");
    if (*rest != '\0')
        *rest++ = '\0';
    const char *bad = parse_host_words(rest, &slots);
    if (bad != NULL)
        return tool_fail("%s:%zu: '%s' is not slots=N", file, line, bad);
    if (add_host(hosts, text, slots) != 0)
        return tool_fail("%s:%zu: too many slots", file, line);
    return 0;
}

static int read_hostfile(const char *file, struct hosts *hosts)
{
    char *text = NULL;
    size_t room = 0, line = 0;
    int status = 0;
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    while (status == 0 && getline(&text, &room, stream) >= 0)
        status = parse_host_line(file, ++line, text, hosts);
    if (status == 0 && ferror(stream))
        status = tool_fail("%s: %s", file, strerror(errno));
    if (status == 0 && hosts->count == 0)
        status = tool_fail("%s: no hosts", file);
    fclose(stream);
    free(text);
    return status;
}

/* ---- view matrices ---- */

static int read_view(const char *file, matrix *view)
{
    matrix_error error;
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = matrix_read_fileview(stream, view, &error);
    fclose(stream);
    return rc == 0 ? 0 : tool_fail_reading(file, rc, &error);
}

struct cart {
    size_t *dims;
    size_t ndims;
};

/* AxB[xC...]; cuts `text` up. */
static int parse_cart(char *text, struct cart *cart)
{
    char *extent;
    while ((extent = strsep(&text, "x")) != NULL) {
        cart->dims = tool_grow(cart->dims, cart->ndims, sizeof *cart->dims);
        if (tool_number(extent, 1, SIZE_MAX, &cart->dims[cart->ndims++]) != 0)
            return -1;
    }
    return 0;
}

static int build_cart(const struct cart *cart, matrix *view)
{
    int rc = setmatch_cartesian(cart->dims, cart->ndims, view);
    return rc == 0 ? 0 : tool_fail("the grid: %s", strerror(-rc));
}

/* ---- dla map ---- */

struct map_options {
    const char *file, *hostfile;
    struct cart cart;
    struct hosts hosts;
    unsigned threshold;
    const setmatch_method *method;
    bool no_refine;
    void (*print)(const struct map_options *options, const matrix *view, const size_t *node);
};

static int64_t weight_inside(const matrix *view, const size_t *node, int64_t *total)
{
    int64_t inside;
    int rc = setmatch_weight(view, node, &inside, total);
    if (rc != 0)
        exit(tool_fail("the weights: %s", strerror(-rc)));
    return inside;
}

/* Ranks in order, each node filled before the next. */
static void place_by_slot(const struct hosts *hosts, size_t ranks, size_t *node)
{
    size_t rank = 0;
    for (size_t n = 0; n < hosts->count; n++)
        for (size_t slot = 0; slot < hosts->slots[n] && rank < ranks; slot++)
            node[rank++] = n;
}

static void print_table(const struct map_options *options, const matrix *view, const size_t *node)
{
    int64_t total;
    size_t *by_slot = tool_allocate(view->rows, sizeof *by_slot);
    place_by_slot(&options->hosts, view->rows, by_slot);
    int64_t before = weight_inside(view, by_slot, &total);
    int64_t inside = weight_inside(view, node, &total);
    printf("# weight inside nodes: %" PRId64 " of %" PRId64 "; by slot %" PRId64 "\n", inside, total,
           before);
    printf("# rank node\n");
    for (size_t rank = 0; rank < view->rows; rank++)
        printf("%zu %s\n", rank, options->hosts.name[node[rank]]);
    free(by_slot);
}

/* The slot is the rank's place among the ranks of its node. */
static void print_rankfile(const struct map_options *options, const matrix *view,
                           const size_t *node)
{
    size_t *used = tool_allocate(options->hosts.count, sizeof *used);
    for (size_t rank = 0; rank < view->rows; rank++)
        printf("rank %zu=%s slot=%zu\n", rank, options->hosts.name[node[rank]],
               used[node[rank]]++);
    free(used);
}

static void print_hostfile(const struct map_options *options, const matrix *view,
                           const size_t *node)
{
    for (size_t rank = 0; rank < view->rows; rank++)
        printf("%s\n", options->hosts.name[node[rank]]);
}

static void parse_format(struct map_options *options, const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "table") == 0)
        options->print = print_table;
    else if (strcmp(arg, "rankfile") == 0)
        options->print = print_rankfile;
    else if (strcmp(arg, "hostfile") == 0)
        options->print = print_hostfile;
    else
        argp_error(state, "'%s' is not a format: table, rankfile or hostfile", arg);
}

static void parse_threshold(struct map_options *options, const char *arg, struct argp_state *state)
{
    size_t threshold;
    if (tool_number(arg, 0, 100, &threshold) != 0)
        argp_error(state, "the threshold is 0 to 100 per cent, not '%s'", arg);
    else
        options->threshold = (unsigned)threshold;
}

static void parse_method(struct map_options *options, const char *arg, struct argp_state *state)
{
    options->method = setmatch_find_method(arg);
    if (options->method == NULL)
        argp_error(state, "'%s' is not a method: auto, setmatch, levelled, agglomerative, bisection, "
                          "byslot, bynode or mpipp", arg);
}

static void parse_refine(struct map_options *options, const char *arg, struct argp_state *state)
{
    options->no_refine = strcmp(arg, "off") == 0;
    if (!options->no_refine && strcmp(arg, "on") != 0)
        argp_error(state, "--refine is on or off, not '%s'", arg);
}

static void check_map_options(const struct map_options *options, struct argp_state *state)
{
    if ((options->file != NULL) + (options->cart.ndims > 0) != 1)
        argp_error(state, "one of --file and --cart is needed");
    if ((options->hostfile != NULL) + (options->hosts.count > 0) != 1)
        argp_error(state, "one of --nodes and --hostfile is needed");
}

static error_t parse_map_option(int key, char *arg, struct argp_state *state)
{
    struct map_options *options = state->input;
    switch (key) {
    case 'f':
        options->file = arg;
        return 0;
    case 'H':
        options->hostfile = arg;
        return 0;
    case 'c':
        if (options->cart.ndims > 0 || parse_cart(arg, &options->cart) != 0)
            argp_error(state, "the grid is one AxB[xC...]");
        return 0;
    case 'n':
        if (parse_hosts(arg, &options->hosts) != 0)
            argp_error(state, "the nodes are NAME[:SLOTS],...");
        return 0;
    case 't':
        parse_threshold(options, arg, state);
        return 0;
    case 'm':
        parse_method(options, arg, state);
        return 0;
    case 'r':
        parse_refine(options, arg, state);
        return 0;
    case 'o':
        parse_format(options, arg, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one argument too many", arg);
        return 0;
    case ARGP_KEY_END:
        check_map_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp map_argp = {
    .options =
        (const struct argp_option[]){
            {"file", 'f', "FILE", 0, "View matrix: FILEVIEW format", 0},
            {"cart", 'c', "AxB[xC...]", 0, "The view of a grid of ranks in C order instead", 0},
            {"nodes", 'n', "NAME[:SLOTS],...", 0, "The nodes, 1 slot where none are given", 0},
            {"hostfile", 'H', "FILE", 0, "The nodes, as an Open MPI hostfile", 0},
            {"threshold", 't', "PERCENT", 0, "Count values so near the largest (default 10)", 0},
            {"method", 'm', "METHOD", 0, "How to place: auto (default), setmatch, ...; see dla(1)", 0},
            {"refine", 'r', "on|off", 0, "Improve the placement pair by pair of nodes (default on)", 0},
            {"format", 'o', "FORMAT", 0, "table (default), rankfile or hostfile (for seq)", 0},
            {0},
        },
    .parser = parse_map_option,
    .doc = "Places ranks on nodes so that neighbours in the file share a node.",
};

static int place(const struct map_options *options, const matrix *view, size_t *node)
{
    const struct hosts *hosts = &options->hosts;
    const setmatch_input input = {.view = view, .slots = hosts->slots, .nodes = hosts->count,
                                  .threshold = options->threshold, .refine = !options->no_refine};
    int rc = options->method->place(&input, node);
    if (rc == -ENOSPC)
        return tool_fail("%zu ranks are more than the nodes have slots", view->rows);
    return rc == 0 ? 0 : tool_fail("placing: %s", strerror(-rc));
}

static int map_view(const struct map_options *options, const matrix *view)
{
    size_t *node = tool_allocate(view->rows, sizeof *node);
    int status = place(options, view, node);
    if (status == 0)
        options->print(options, view, node);
    free(node);
    return status;
}

static int run_map(int argc, char **argv)
{
    struct map_options options = {.threshold = SETMATCH_DEFAULT_THRESHOLD, .method = setmatch_methods,
                                  .print = print_table};
    matrix view = {0};
    int status = 0;
    if (argp_parse(&map_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    if (options.hostfile != NULL)
        status = read_hostfile(options.hostfile, &options.hosts);
    if (status == 0)
        status = options.file != NULL ? read_view(options.file, &view)
                                      : build_cart(&options.cart, &view);
    if (status == 0)
        status = map_view(&options, &view);
    matrix_release(&view);
    release_hosts(&options.hosts);
    free(options.cart.dims);
    return status;
}

/* ---- dla show ---- */

static error_t parse_show_option(int key, char *arg, struct argp_state *state)
{
    const char **file = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (*file != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        *file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file is given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp show_argp = {
    .parser = parse_show_option,
    .args_doc = "FILE",
    .doc = "Tells what a view matrix holds.",
};

static void print_largest(const matrix *view)
{
    int64_t largest = 0;
    size_t row_of = 0, col_of = 0;
    for (size_t row = 0; row < view->rows; row++) {
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++) {
            if (view->col[i] == row || view->value[i] <= largest)
                continue;
            largest = view->value[i];
            row_of = row;
            col_of = view->col[i];
        }
    }
    printf("largest %" PRId64, largest);
    if (largest > 0)
        printf(" between ranks %zu and %zu", row_of, col_of);
    putchar('\n');
}

static void print_summary(const matrix *view)
{
    int64_t total;
    size_t *node = tool_allocate(view->rows, sizeof *node);
    weight_inside(view, node, &total);
    free(node);
    printf("ranks %zu\nentries %zu\nweight %" PRId64 "\n", view->rows, view->row_start[view->rows],
           total);
    print_largest(view);
}

/* The file has been read without an error. */
static int print_comments(const char *file)
{
    char *comments, *rest = NULL;
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = matrix_read_comments(stream, &comments);
    fclose(stream);
    if (rc != 0)
        return tool_fail("%s: %s", file, strerror(-rc));
    for (char *line = strtok_r(comments, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        printf("%% %s\n", line);
    free(comments);
    return 0;
}

static int run_show(int argc, char **argv)
{
    const char *file = NULL;
    matrix view;
    if (argp_parse(&show_argp, argc, argv, 0, NULL, &file) != 0)
        return tool_fail("out of memory");
    int status = read_view(file, &view);
    if (status != 0)
        return status;
    print_summary(&view);
    matrix_release(&view);
    return print_comments(file);
}

int main(int argc, char **argv)
{
    static const tool_command commands[] = {{"map", run_map}, {"show", run_show}, {NULL, NULL}};
    return tool_run(commands,
                    "Places ranks on nodes by what they access in a file.\v"
                    "Commands:\n"
                    "  map   place ranks on nodes\n"
                    "  show  tell what a view matrix holds\n"
                    "'dla COMMAND --help' lists the options of a command.",
                    argc, argv);
}
