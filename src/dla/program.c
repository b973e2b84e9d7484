/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "dla/program.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "topo/network.h"

typedef struct checked {
    enum parameter parameter;
    const char *value, *folder;
    bool strict;
    dla_reports *reports;
} checked;

/* NULL if it is not set. */
static const char *find_variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* What several programs have in common is reported once. */
static bool show_once(dla_reports *reports, const char *line)
{
    char *lines;
    if (reports->lines != NULL && strstr(reports->lines, line) != NULL)
        return false;
    reports->show(line);
    if (asprintf(&lines, "%s%s\n", reports->lines == NULL ? "" : reports->lines, line) >= 0) {
        free(reports->lines);
        reports->lines = lines;
    }
    return true;
}

/* unusable: by fcoll/tatp, which need not report it. */
__attribute__((format(printf, 3, 4))) static void report(const checked *c, bool unusable,
                                                         const char *format, ...)
{
    char line[512], value[128], text[256];
    size_t used = strlen(c->reports->marks);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    base_escape(value, sizeof value, c->value);
    snprintf(line, sizeof line, "rmaps:dla: fcoll_tatp_%s %s %s%s",
             parameter_table[c->parameter].name, value, text,
             unusable && c->strict ? "; because of fcoll_tatp_strict, collective I/O by fcoll/tatp "
                                     "will fail where it cannot be used"
                                   : "");
    if (show_once(c->reports, line) && unusable && used + PARAMETER_MARK_BYTES <= DLA_MARKS_SIZE)
        parameter_write_mark(c->parameter, c->value, c->strict, c->reports->marks + used);
}

/* ---- what fcoll/tatp cannot use ---- */

static void check_value(const checked *c)
{
    char valid[PARAMETER_VALID_BYTES];
    int64_t number;
    if (parameter_parse(c->parameter, c->value, &number))
        return;
    parameter_list_valid(c->parameter, valid);
    report(c, true, "is not valid, the default is %s; valid values: %s",
           parameter_table[c->parameter].initial, valid);
}

/* The file, or the first `length` bytes of its name; false: the name is too long. */
static bool make_path(const checked *c, size_t length, char path[PATH_MAX])
{
    bool is_absolute = *c->value == '/';
    return snprintf(path, PATH_MAX, "%s%s%.*s", is_absolute ? "" : c->folder,
                    is_absolute ? "" : "/", (int)length, c->value) < PATH_MAX;
}

/* What a pattern stands for only the ranks know. */
static void check_folder(const checked *c)
{
    char path[PATH_MAX];
    const char *slash = strrchr(c->value, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash + 1 - c->value);
    bool is_pattern = memchr(c->value, '%', length) != NULL;
    if (strcmp(c->value, "auto") == 0 || strcmp(c->value, "-") == 0 || is_pattern)
        return;
    if (!make_path(c, length, path))
        report(c, true, "is too long for the name of a file");
    else if (access(path, W_OK | X_OK) != 0)
        report(c, true, "cannot be written on the node of mpirun: %s", strerror(errno));
}

static void check_topology(const checked *c)
{
    char path[PATH_MAX];
    const char *cause = strerror(ENAMETOOLONG);
    if (strcmp(c->value, "auto") == 0 || strcmp(c->value, "none") == 0)
        return;
    FILE *stream = make_path(c, strlen(c->value), path) ? base_open_regular(path, &cause) : NULL;
    topo_fabric *fabric = NULL;
    matrix_error error = {0, ""};
    if (stream == NULL) {
        report(c, true, "cannot be read on the node of mpirun: %s", cause);
        return;
    }
    if (topo_fabric_read(stream, &fabric, &error) != 0 && error.line > 0)
        report(c, true, "cannot be used: line %zu: %s", error.line, error.reason);
    else if (fabric == NULL)
        report(c, true, "cannot be used: %s", error.reason);
    topo_fabric_free(fabric);
    fclose(stream);
}

/* ---- what has no effect ---- */

/* Of a list of components: those that may be used or, after ^, those that may not; empty: all may.
 */
static bool allows(const char *list, const char *component)
{
    bool excludes = *list == '^' || *list == '\0';
    return base_lists(list + strspn(list, "^"), component) != excludes;
}

static void check_record(const checked *c, char *const *environment)
{
    static const char *const needed[][2] = {{"OMPI_MCA_io", "ompio"}, {"OMPI_MCA_fcoll", "tatp"}};
    char shown[64];
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const char *list = find_variable(environment, needed[i][0]);
        if (list != NULL && !allows(list, needed[i][1])) {
            base_escape(shown, sizeof shown, list);
            report(c, false, "has no effect with --mca %s %s: use --mca io ompio --mca fcoll tatp",
                   needed[i][0] + strlen("OMPI_MCA_"), shown);
            return;
        }
    }
    if (c->folder != NULL)
        check_folder(c);
}

void dla_check_program(const char *folder, char *const *environment, dla_reports *reports)
{
    if (environment == NULL)
        return;
    const char *strict = find_variable(environment, "OMPI_MCA_fcoll_tatp_strict");
    bool is_strict = parameter_value(PARAMETER_STRICT, strict) != 0;
    for (enum parameter i = 0; i < PARAMETERS; i++) {
        char name[64], path[PATH_MAX];
        snprintf(name, sizeof name, "OMPI_MCA_fcoll_tatp_%s", parameter_table[i].name);
        const char *value = find_variable(environment, name), *home = getenv("HOME");
        if (value == NULL || *value == '\0')
            continue;
        if (home != NULL && strncmp(value, "~/", 2) == 0) { /* as Open MPI does */
            snprintf(path, sizeof path, "%s%s", home, value + 1);
            value = path;
        }
        const checked c = {i, value, folder, is_strict, reports};
        check_value(&c);
        if (i == PARAMETER_RECORD || i == PARAMETER_STATS)
            check_record(&c, environment);
        if (i == PARAMETER_TOPOLOGY && folder != NULL)
            check_topology(&c);
    }
}

void dla_tell_ranks(char ***environment, const char *name, const char *value)
{
    size_t count = 0, capacity = 0;
    char *variable;
    while (*environment != NULL && (*environment)[count] != NULL)
        count++;
    if (*value == '\0' || base_reserve(environment, &capacity, count + 2, sizeof variable) != 0)
        return;
    if (asprintf(&variable, "%s=%s", name, value) < 0)
        variable = NULL;
    (*environment)[count] = variable;
    (*environment)[count + 1] = NULL;
}
