/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* tdestroy, FNM_EXTMATCH */
#include "nodes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text.h"
#include "tool.h"
#include "topo/topo.h"

enum { LONGEST_NAME = 255 };

/* Limits that catch mistyped numbers, and files of something else. */
enum {
    MOST_SLOTS = 1 << 20,
    MOST_RANKS = 1 << 26,
    MOST_NODES = 1 << 20,
    MOST_CHARACTERS = 1 << 24
};

struct known_node {
    char *name; /* owned by the list */
    size_t node;
};

static int compare_node_names(const void *a, const void *b)
{
    const struct known_node *x = a, *y = b;
    return strcasecmp(x->name, y->name);
}

static struct known_node *known_node_find(const node_list *nodes, const char *name)
{
    struct known_node wanted = {(char *)(size_t)name, 0};
    void *found = tfind(&wanted, &nodes->by_name, compare_node_names);
    return found == NULL ? NULL : *(struct known_node **)found;
}

/* Adds the node without slots if it is new. */
static size_t number_node(node_list *nodes, const char *name)
{
    struct known_node *known = known_node_find(nodes, name);
    if (known != NULL)
        return known->node;
    if (nodes->count == MOST_NODES)
        exit(tool_fail("more than %d hosts", MOST_NODES));
    known = tool_allocate(1, sizeof *known);
    *known = (struct known_node){tool_copy(name), nodes->count};
    if (tsearch(known, &nodes->by_name, compare_node_names) == NULL)
        exit(tool_fail("out of memory"));
    size_t capacity = nodes->capacity;
    tool_reserve(&nodes->name, &capacity, nodes->count + 1, sizeof *nodes->name);
    tool_reserve(&nodes->slots, &nodes->capacity, nodes->count + 1, sizeof *nodes->slots);
    nodes->name[nodes->count] = known->name;
    nodes->slots[nodes->count] = 0;
    return nodes->count++;
}

static int add_slots(node_list *nodes, size_t node, size_t slots)
{
    if (__builtin_add_overflow(nodes->slots[node], slots, &nodes->slots[node]))
        return tool_fail("%s has too many slots", nodes->name[node]);
    return 0;
}

static int add_ranks(tool_hosts *h, const char *name, size_t slots)
{
    if (slots > MOST_RANKS - h->ranks)
        return tool_fail("more than %d ranks on the hosts", MOST_RANKS);
    size_t host = number_node(&h->nodes, name);
    tool_reserve(&h->of_rank, &h->capacity, h->ranks + slots, sizeof *h->of_rank);
    for (; slots > 0; slots--)
        h->of_rank[h->ranks++] = host;
    return 0;
}

/* ---- names ---- */

/* The dot is first: users have none. */
static const char letters[] = "._-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static bool is_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

static bool may_be_host(const char *name)
{
    size_t length = strlen(name);
    return is_address(name) || (length > 0 && length <= LONGEST_NAME && *name != '.' &&
                                strspn(name, letters) == length);
}

/* ---- lists ---- */

/* One of them receives the names. */
struct list_parser {
    node_list *nodes;
    tool_hosts *hosts;
    size_t names;
    int status;
};

/* "NAME" (1 slot) or "NAME:SLOTS". */
static int add_list_name(const char *text, void *context)
{
    struct list_parser *p = context;
    bool ranks = p->hosts != NULL;
    char name[LONGEST_NAME + 1];
    size_t slots = 1, length = strcspn(text, ":");
    p->names++;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (!may_be_host(name) ||
        (text[length] == ':' &&
         tool_number(text + length + 1, ranks, ranks ? MOST_SLOTS : SIZE_MAX, &slots) != 0))
        return p->status = tool_fail("'%s' is not the name of a host, or NAME:SLOTS", text);
    return p->status = ranks ? add_ranks(p->hosts, name, slots)
                             : add_slots(p->nodes, number_node(p->nodes, name), slots);
}

static int parse_name_list(const char *list, node_list *nodes, tool_hosts *hosts)
{
    struct list_parser p = {.nodes = nodes, .hosts = hosts};
    matrix_error error;
    int rc = topo_expand_hostlist(list, add_list_name, &p, &error);
    if (rc != 0 && p.status == 0)
        return tool_fail("'%s': %s", list, error.reason);
    if (p.names == 0)
        return tool_fail("'%s' names no host", list);
    return p.status;
}

int nodes_parse(node_list *nodes, const char *list)
{
    return parse_name_list(list, nodes, NULL);
}

/* ---- hostfiles ---- */

static const char blanks[] = " \t\f\v\r\n";

struct text_file {
    const char *name;
    FILE *stream;
    char *line; /* without its newline */
    size_t capacity, number;
};

/* Whether there is another line; ends the program after a message if it is unusable. */
static bool read_text_line(struct text_file *text)
{
    size_t length = 0;
    int rc = base_append_line(text->stream, MOST_CHARACTERS, &text->line, &text->capacity, &length);
    text->number++;
    if (rc == -EILSEQ)
        exit(tool_fail("%s:%zu: a NUL byte", text->name, text->number));
    if (rc == -EMSGSIZE)
        exit(tool_fail("%s:%zu: a line of more than %d characters", text->name, text->number,
                       MOST_CHARACTERS));
    if (rc < 0)
        exit(tool_fail("%s: %s", text->name, strerror(-rc)));
    return rc > 0;
}

static struct text_file open_text_file(const char *name)
{
    struct text_file text = {.name = name, .stream = tool_open(name)};
    if (text.stream == NULL)
        exit(TOOL_FAILURE);
    return text;
}

static void close_text_file(struct text_file *text)
{
    fclose(text->stream);
    free(text->line);
}

static void check_host_name(const struct text_file *text, const char *name)
{
    if (strlen(name) > LONGEST_NAME)
        exit(tool_fail("%s:%zu: a host name of more than %d characters", text->name, text->number,
                       LONGEST_NAME));
    if (!may_be_host(name))
        exit(tool_fail("%s:%zu: '%s' is not the name of a host", text->name, text->number, name));
}

/* What the words of a line say of its host. */
struct hostfile_line {
    const struct text_file *text;
    const char *name;
    size_t slots, most; /* 0: no max_slots */
    bool given;         /* the slots, also by a line before */
};

static void set_line_slots(struct hostfile_line *line, size_t slots)
{
    if (line->given)
        exit(tool_fail("%s:%zu: the slots of %s are given twice: write them once", line->text->name,
                       line->text->number, line->name));
    line->slots = slots;
    line->given = true;
}

static void set_line_most(struct hostfile_line *line, size_t most)
{
    if (most < line->slots)
        exit(tool_fail("%s:%zu: %zu slots of %s are more than max_slots=%zu", line->text->name,
                       line->text->number, line->slots, line->name, most));
    line->most = most;
}

static bool is_key(const char *pattern, const char *word)
{
    return fnmatch(pattern, word, FNM_EXTMATCH) == 0;
}

/* One KEY=VALUE, written without blanks; keys as in Open MPI's hostfiles. */
static void parse_hostfile_word(struct hostfile_line *line, const char *word)
{
    size_t length = strcspn(word, "="), number;
    const char *value = word[length] == '=' ? word + length + 1 : "";
    bool is_number = tool_number(value, 0, INT_MAX, &number) == 0;
    bool is_text = *value != '\0' && strchr(value, '=') == NULL;
    if (is_number && is_key("@(slots|count|cpu)=*", word))
        set_line_slots(line, number);
    else if (is_number && is_key("@(max[-_]@(slots|count|cpu)|@(slots|count|cpu)[-_]max)=*", word))
        set_line_most(line, number);
    else if (!(is_number && is_key("port=*", word)) &&
             !(is_text && is_key("user?([-_])name=*", word)))
        exit(tool_fail("%s:%zu: '%s' is not slots=N or max_slots=N", line->text->name,
                       line->text->number, word));
}

/* Removes the blanks around '='. */
static void strip_blanks(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        const char *next = from + strspn(from, blanks);
        bool around = next > from && (*next == '=' || (to > text && to[-1] == '='));
        if (around)
            from = next;
        *to++ = *from;
        if (*from == '\0')
            return;
    }
    *to = '\0';
}

/* Open MPI takes host names without their domain. */
static void drop_domain(char *name)
{
    if (!is_address(name))
        name[strcspn(name, ".")] = '\0';
}

/* Open MPI reads digits alone as a number, and what follows "rank" as a line of a rankfile. */
static bool is_hostfile_name(const char *name)
{
    size_t number;
    if (!is_address(name) && name[strspn(name, ".0123456789")] == '\0')
        return *name != '0' && tool_number(name, 1, INT_MAX, &number) == 0;
    return may_be_host(name) && strcmp(name, "rank") != 0;
}

/* Replaces by blanks what begins with "//" or "#", and what is between the marks of C's comments,
 * which may go over several lines: `inside` is whether one has begun. Returns whether one
 * continues. */
static bool blank_comments(char *text, bool inside)
{
    for (; *text != '\0'; text++) {
        bool ends = inside && text[0] == '*' && text[1] == '/';
        if (!inside && (*text == '#' || (text[0] == '/' && text[1] == '/'))) {
            *text = '\0';
            return false;
        }
        inside = (inside || (text[0] == '/' && text[1] == '*')) && !ends;
        if (ends)
            *text++ = ' ';
        if (inside || ends)
            *text = ' ';
    }
    return inside;
}

struct hostfile {
    struct text_file text;
    node_list nodes, excluded;
    node_list written, named; /* all names, as they are written and without domain */
};

/* The host of USER@NAME or NAME. Where releases of Open MPI differ, or read something else than
 * what is meant, it is refused. */
static char *parse_host(struct hostfile *h, char *word)
{
    size_t user = strspn(word, letters + 1);
    char *name = word[user] == '@' ? word + user + 1 : word + (*word == '^');
    if (!is_hostfile_name(name))
        exit(tool_fail("%s:%zu: '%s' is not the name of a host: lines are NAME slots=N",
                       h->text.name, h->text.number, word));
    size_t written = number_node(&h->written, name);
    bool alike = strcmp(h->written.name[written], name) == 0;
    drop_domain(name);
    if (number_node(&h->named, name) != written || !alike)
        exit(tool_fail("%s:%zu: another line has another name of %s: write it alike in both",
                       h->text.name, h->text.number, name));
    return name;
}

/* Counts as Open MPI does: a host without slots=N has 1 slot, or max_slots; repeated, it gets 1
 * more. A line that begins with '^' excludes a host, also from lines before it. */
static void parse_hostfile_line(struct hostfile *h)
{
    char *save = NULL;
    strip_blanks(h->text.line);
    char *first = strtok_r(h->text.line, blanks, &save);
    if (first == NULL)
        return;
    char *name = parse_host(h, first);
    node_list *list = *first == '^' ? &h->excluded : &h->nodes;
    struct hostfile_line line = {&h->text, name, 0, 0, known_node_find(list, name) != NULL};
    size_t node = number_node(list, name);
    line.slots = list->slots[node] + 1;
    for (char *word = strtok_r(NULL, blanks, &save); word != NULL;
         word = strtok_r(NULL, blanks, &save))
        parse_hostfile_word(&line, word);
    list->slots[node] = !line.given && line.most > 0 ? line.most : line.slots;
}

static void copy_included(const struct hostfile *h, node_list *nodes)
{
    for (size_t n = 0; n < h->nodes.count; n++) {
        if (known_node_find(&h->excluded, h->nodes.name[n]) != NULL)
            continue;
        size_t node = number_node(nodes, h->nodes.name[n]);
        nodes->slots[node] = h->nodes.slots[n];
    }
}

static void read_hostfile(node_list *nodes, const char *file)
{
    struct hostfile h = {.text = open_text_file(file)};
    bool in_comment = false;
    while (read_text_line(&h.text)) {
        in_comment = blank_comments(h.text.line, in_comment);
        parse_hostfile_line(&h);
    }
    if (in_comment)
        exit(tool_fail("%s: the last comment has no end", file));
    close_text_file(&h.text);
    copy_included(&h, nodes);
    if (nodes->count == 0)
        exit(tool_fail("%s: no hosts", file));
    nodes_release(&h.nodes);
    nodes_release(&h.excluded);
    nodes_release(&h.written);
    nodes_release(&h.named);
}

/* ---- allocations ---- */

/* "6,2,4(x2)": the slots of each node in turn. */
static bool set_slurm_slots(node_list *nodes, const char *text)
{
    size_t n = 0, slots, times;
    int length = 0;
    while (n < nodes->count && sscanf(text, "%zu%n", &slots, &length) == 1 && slots <= MOST_SLOTS) {
        text += length;
        times = 1;
        length = 0;
        (void)sscanf(text, "(x%zu)%n", &times, &length);
        for (text += length + (text[length] == ','); times > 0 && n < nodes->count; times--)
            nodes->slots[n++] = slots;
    }
    return n > 0 && n == nodes->count && *text == '\0';
}

/* A line for each slot. */
static bool count_lines(node_list *nodes, const char *file)
{
    char names[PATH_MAX + 1];
    tool_hosts hosts;
    snprintf(names, sizeof names, "@%s", file);
    tool_parse_hosts(names, &hosts);
    for (size_t i = 0; i < hosts.ranks; i++)
        hosts.nodes.slots[hosts.of_rank[i]]++;
    *nodes = hosts.nodes;
    free(hosts.of_rank);
    return true;
}

static bool add_allocated(node_list *nodes)
{
    static const char *const variables[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"};
    const char *list = getenv("SLURM_JOB_NODELIST"), *slots = getenv("SLURM_TASKS_PER_NODE"), *file;
    if (list != NULL && slots != NULL && getenv("SLURM_HET_SIZE") == NULL)
        return nodes_parse(nodes, list) == 0 && set_slurm_slots(nodes, slots);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if ((file = getenv(variables[i])) != NULL && access(file, R_OK) == 0)
            return count_lines(nodes, file);
    return false;
}

bool nodes_find(node_list *nodes, const char *hostfile)
{
    if (hostfile != NULL)
        read_hostfile(nodes, hostfile);
    else if (nodes->count == 0 && !add_allocated(nodes))
        nodes_release(nodes);
    return nodes->count > 0;
}

size_t nodes_count_runs(const size_t *node_of_rank, size_t ranks, size_t nodes, size_t *used)
{
    bool *is_used = tool_allocate(nodes, sizeof *is_used);
    size_t runs = 0;
    *used = 0;
    for (size_t rank = 0; rank < ranks; rank++) {
        size_t node = node_of_rank[rank];
        runs += rank == 0 || node != node_of_rank[rank - 1];
        *used += !is_used[node];
        is_used[node] = true;
    }
    free(is_used);
    return runs;
}

void nodes_release(node_list *nodes)
{
    tdestroy(nodes->by_name, free);
    for (size_t n = 0; n < nodes->count; n++)
        free(nodes->name[n]);
    free(nodes->name);
    free(nodes->slots);
    *nodes = (node_list){0};
}

/* ---- hosts of ranks ---- */

static void add_host_line(tool_hosts *h, const struct text_file *text)
{
    char *rest = NULL;
    for (char *name = strtok_r(text->line, blanks, &rest); name != NULL;
         name = strtok_r(NULL, blanks, &rest)) {
        check_host_name(text, name);
        if (add_ranks(h, name, 1) != 0)
            exit(TOOL_FAILURE);
    }
}

static void read_host_file(tool_hosts *h, const char *file)
{
    struct text_file text = open_text_file(file);
    while (read_text_line(&text))
        add_host_line(h, &text);
    if (h->ranks == 0)
        exit(tool_fail("%s: no hosts in it", file));
    close_text_file(&text);
}

void tool_parse_hosts(const char *text, tool_hosts *hosts)
{
    *hosts = (tool_hosts){0};
    if (*text == '@')
        read_host_file(hosts, text + 1);
    else if (parse_name_list(text, NULL, hosts) != 0)
        exit(TOOL_FAILURE);
}

void tool_hosts_release(tool_hosts *hosts)
{
    nodes_release(&hosts->nodes);
    free(hosts->of_rank);
}
