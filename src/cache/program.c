/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* ElfW, asprintf, strchrnul */
#include "cache/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mix.h"

#define MOST_CONTENTS ((off_t)256 << 20)
#define MOST_NOTES 4096

/* What a program is identified by. */
enum kind { BUILD_ID = 1, CONTENTS, SCRIPT };

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    return at <= INT32_MAX && pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static uint64_t digest_bytes(uint64_t digest, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest = base_digest(digest, bytes[i]);
    return base_digest(digest, 256); /* the end: no byte */
}

/* ---- build id ---- */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Whether a segment of notes has a build id. */
static bool digest_note(int fd, const ElfW(Phdr) * segment, uint64_t *digest)
{
    unsigned char notes[MOST_NOTES];
    uint64_t align = segment->p_align == 8 ? 8 : 4, at = 0;
    uint64_t length = segment->p_filesz < MOST_NOTES ? segment->p_filesz : MOST_NOTES;
    ElfW(Nhdr) note;

    if (!read_at(fd, notes, length, segment->p_offset))
        return false;
    while (at + sizeof note <= length) {
        memcpy(&note, notes + at, sizeof note);
        uint64_t name = at + sizeof note, contents = round_up(name + note.n_namesz, align);
        if (contents + note.n_descsz > length)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes + name, "GNU", sizeof "GNU") == 0 && note.n_descsz > 0) {
            *digest = digest_bytes(*digest, notes + contents, note.n_descsz);
            return true;
        }
        at = round_up(contents + note.n_descsz, align);
    }
    return false;
}

static bool digest_build_id(int fd, uint64_t *digest)
{
    unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;

    if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != class || header.e_phentsize != sizeof segment)
        return false;
    for (size_t i = 0; i < header.e_phnum; i++) {
        if (!read_at(fd, &segment, sizeof segment, header.e_phoff + i * sizeof segment))
            return false;
        if (segment.p_type == PT_NOTE && digest_note(fd, &segment, digest))
            return true;
    }
    return false;
}

/* ---- contents ---- */

/* In words, so that a large executable does not delay its start. */
static int digest_contents(int fd, uint64_t *digest)
{
    uint64_t word[8192];
    struct stat status;
    off_t at = 0;
    ssize_t count = 1;

    if (fstat(fd, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -ENOEXEC;
    if (status.st_size > MOST_CONTENTS)
        return -EFBIG;
    while (at < status.st_size && count > 0) {
        memset(word, 0, sizeof word);
        count = TEMP_FAILURE_RETRY(pread(fd, word, sizeof word, at));
        for (size_t i = 0; count > 0 && i < ((size_t)count + 7) / 8; i++)
            *digest = base_digest(*digest, word[i]);
        at += count;
    }
    *digest = base_digest(*digest, (uint64_t)status.st_size);
    return count < 0 ? -errno : 0;
}

/* Relative names count from the folder. Negative errno. */
static int open_program(const char *file, const char *folder)
{
    char *path = NULL;
    int fd, length = file[0] == '/' ? asprintf(&path, "%s", file)
                                    : asprintf(&path, "%s/%s", folder, file);
    if (length < 0)
        return -ENOMEM;
    fd = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    fd = fd < 0 ? -errno : fd;
    free(path);
    return fd;
}

static int digest_script(const char *file, const char *folder, uint64_t *digest)
{
    int fd = open_program(file, folder), rc = fd;

    if (fd < 0)
        return fd;
    *digest = base_digest(*digest, SCRIPT);
    rc = digest_contents(fd, digest);
    close(fd);
    return rc;
}

/* ---- interpreters ---- */

/* By the name of the file that is executed, whatever links lead to it: "python3.11". */
static bool is_interpreter(int fd)
{
    static const char *const names[] = {"python", "pypy", "perl", "ruby", "julia"};
    char link[64], target[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    const char *slash = strrchr(target, '/'), *name = slash == NULL ? target : slash + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t prefix = strlen(names[i]);
        if (strncmp(name, names[i], prefix) == 0 &&
            name[prefix + strspn(name + prefix, "0123456789.-dbgmt")] == '\0')
            return true;
    }
    return false;
}

static bool is_regular(const char *file, const char *folder)
{
    struct stat status;
    int fd = open_program(file, folder);
    bool regular = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);

    if (fd >= 0)
        close(fd);
    return regular;
}

/* The first argument that is a file; what comes before it is for the interpreter. NULL: there is
 * none, or the program is a module or a text. */
static char *const *find_script(const cache_program *program)
{
    for (char *const *a = program->argument + (program->argument[0] != NULL); *a != NULL; a++) {
        if (strcmp(*a, "-m") == 0 || strcmp(*a, "-c") == 0 || strcmp(*a, "-e") == 0)
            return NULL;
        if ((*a)[0] != '-' && is_regular(*a, program->folder))
            return a;
    }
    return NULL;
}

/* ---- the key ---- */

/* *argument: what comes before the first argument that counts. */
static int digest_open_program(const cache_program *program, int fd, uint64_t *digest,
                               char *const **argument)
{
    char first[2];

    if (read_at(fd, first, sizeof first, 0) && memcmp(first, "#!", sizeof first) == 0) {
        *digest = base_digest(*digest, SCRIPT);
        return digest_contents(fd, digest);
    }
    if (is_interpreter(fd)) {
        *argument = find_script(program);
        return *argument == NULL ? -ENOEXEC : digest_script(**argument, program->folder, digest);
    }
    uint64_t build = base_digest(*digest, BUILD_ID);
    if (digest_build_id(fd, &build)) {
        *digest = build;
        return 0;
    }
    *digest = base_digest(*digest, CONTENTS);
    return digest_contents(fd, digest);
}

int cache_key_make(const cache_program *program, size_t ranks, cache_key *key)
{
    char *const *argument = program->argument;
    uint64_t which = 0, arguments = 0;
    int fd = open_program(program->file, program->folder);

    if (fd < 0)
        return fd;
    int rc = digest_open_program(program, fd, &which, &argument);
    close(fd);
    if (rc != 0)
        return rc;
    for (argument += *argument != NULL; *argument != NULL; argument++)
        arguments = digest_bytes(arguments, (const unsigned char *)*argument, strlen(*argument));
    which = base_mix(base_digest(which, ranks));
    snprintf(key->text, sizeof key->text, "%016" PRIx64 "-%08" PRIx32, which,
             (uint32_t)base_mix(arguments));
    return 0;
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
    const char *entry = is_path || path == NULL ? "" : path, *end;
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
