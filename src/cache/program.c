/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf, strchrnul */
#include "cache/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mix.h"

static uint64_t digest_text(uint64_t digest, const char *text)
{
    return base_digest(base_digest_text(digest, text), 256); /* the end: no byte */
}

/* ---- files ---- */

/* The absolute name, without links, of what relative names from the folder mean. The caller frees
 * it. */
static int program_find_file(const char *name, const char *folder, char **file)
{
    char *path = NULL;
    int length =
        name[0] == '/' ? asprintf(&path, "%s", name) : asprintf(&path, "%s/%s", folder, name);
    if (length < 0)
        return -ENOMEM;
    *file = realpath(path, NULL);
    free(path);
    return *file == NULL ? -errno : 0;
}

static int digest_file(const char *file, uint64_t *digest)
{
    struct stat status;
    if (stat(file, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -ENOEXEC;
    *digest = digest_text(*digest, file);
    *digest = base_digest(*digest, (uint64_t)status.st_size);
    *digest = base_digest(*digest, (uint64_t)status.st_mtim.tv_sec);
    *digest = base_digest(*digest, (uint64_t)status.st_mtim.tv_nsec);
    return 0;
}

/* ---- interpreters ---- */

/* The name of the file decides, whatever links lead to it: "python3.11". */
static bool is_interpreter(const char *file)
{
    static const char *const names[] = {"python", "pypy", "perl", "ruby", "julia"};
    const char *name = strrchr(file, '/') + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t prefix = strlen(names[i]);
        if (strncmp(name, names[i], prefix) == 0 &&
            name[prefix + strspn(name + prefix, "0123456789.-dbgmt")] == '\0')
            return true;
    }
    return false;
}

/* The file that counts, and the last argument that does not: of an interpreter the first one that
 * is a file; what comes before it is for the interpreter. *file: NULL where there is none, or the
 * program is a module or a text; the caller frees it. */
static int find_counted(const cache_program *program, char **file, char *const **argument)
{
    char *const *a = *argument = program->argument;
    struct stat status;
    int rc = program_find_file(program->file, program->folder, file);
    if (rc != 0 || !is_interpreter(*file))
        return rc;
    free(*file);
    *file = NULL;
    for (a += *a != NULL; *a != NULL; a++) {
        if (strcmp(*a, "-m") == 0 || strcmp(*a, "-c") == 0 || strcmp(*a, "-e") == 0)
            break;
        if ((*a)[0] == '-' || program_find_file(*a, program->folder, file) != 0)
            continue;
        if (stat(*file, &status) == 0 && S_ISREG(status.st_mode))
            break;
        free(*file);
        *file = NULL;
    }
    *argument = a;
    return 0;
}

const char *cache_find_script_name(const cache_program *program)
{
    char *file = NULL, *const * argument;
    const char *name = NULL;
    if (find_counted(program, &file, &argument) == 0 && file != NULL &&
        argument > program->argument)
        name = basename(*argument);
    free(file);
    return name;
}

/* ---- the key ---- */

int cache_key_make(const cache_program *program, size_t ranks, cache_key *key, char **file)
{
    uint64_t which = 0, arguments = 0;
    char *counted, *const *argument;
    int rc = find_counted(program, &counted, &argument);
    if (rc != 0)
        return rc;
    rc = counted == NULL ? -ENOEXEC : digest_file(counted, &which);
    if (rc == 0 && file != NULL)
        *file = counted;
    else
        free(counted);
    if (rc != 0)
        return rc;
    for (argument += *argument != NULL; *argument != NULL; argument++)
        arguments = digest_text(arguments, *argument);
    which = base_mix(base_digest(which, ranks));
    snprintf(key->text, sizeof key->text, "%016" PRIx64 "-%08" PRIx32, which,
             (uint32_t)base_mix(arguments));
    return 0;
}

void cache_command_make(char *const *word, const char *folder, size_t slots,
                        char command[CACHE_PROGRAM_LENGTH + 1])
{
    uint64_t digest = base_digest(digest_text(0, folder), slots);
    for (; *word != NULL; word++)
        digest = digest_text(digest, *word);
    snprintf(command, CACHE_PROGRAM_LENGTH + 1, "%016" PRIx64, base_mix(digest));
}

void cache_key_set_command(cache_key *key, const char *command)
{
    memcpy(key->text + CACHE_PROGRAM_LENGTH + 1, key->text,
           CACHE_KEY_LENGTH - CACHE_PROGRAM_LENGTH - 1);
    memcpy(key->text, command, CACHE_PROGRAM_LENGTH);
}

/* ---- what is executed ---- */

static bool is_executable(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 && S_ISREG(status.st_mode) && access(file, X_OK) == 0;
}

int cache_find_program(const char *name, const char *folder, const char *path, char **file)
{
    bool is_path = strchr(name, '/') != NULL;
    const char *entry = is_path ? "" : path != NULL ? path : "/bin:/usr/bin", *end;
    int length;
    for (;; entry = end + 1) {
        end = strchrnul(entry, ':');
        /* an empty entry is the current folder */
        const char *before = is_path && name[0] == '/' ? "" : folder;
        if (end > entry && entry[0] == '/')
            before = "";
        length = asprintf(file, "%s%s%.*s%s%s", before, before[0] != '\0' ? "/" : "",
                          (int)(end - entry), entry, end > entry ? "/" : "", name);
        if (length < 0)
            return -ENOMEM;
        if (is_executable(*file))
            return 0;
        free(*file);
        if (*end == '\0')
            return -ENOENT;
    }
}
