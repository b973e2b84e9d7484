/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What identifies a program in the cache: the absolute name of its file, its size and the time of
 * its last change; the number of ranks; the arguments. mpirun and the ranks find the same key: one
 * by what it is to start, the others by what they run.
 *
 * What `tatp run --auto` has recorded has the command, as it was typed, in place of the arguments.
 *
 * The file of a script, whether it names its interpreter ("#!") or is an argument of one (python,
 * pypy, perl, ruby, julia), is the script; the arguments are those behind it.
 *
 * Functions return 0 or a negative errno value.
 */
#ifndef CACHE_PROGRAM_H
#define CACHE_PROGRAM_H

#include <stddef.h>

/* A program and its number of ranks, 16 hexadecimal digits, '-', its arguments, 8 digits. */
#define CACHE_PROGRAM_LENGTH 16
#define CACHE_KEY_LENGTH 25

typedef struct cache_key {
    char text[CACHE_KEY_LENGTH + 1];
} cache_key;

/* Borrowed. */
typedef struct cache_program {
    const char *file;      /* the executable; /proc/self/exe is one */
    char *const *argument; /* ends with NULL; argument[0] is the name of the program */
    const char *folder;    /* from which names that are relative count */
} cache_program;

/* *file: that of the program or script, which the caller frees; NULL: it is not needed. -ENOEXEC:
 * an interpreter without a script in a file, or no regular file; errors of the file system. */
int cache_key_make(const cache_program *program, size_t ranks, cache_key *key, char **file);

/* The digits of a command, as it was typed, in a folder, for so many slots. The launcher's words
 * mean nothing here. */
void cache_command_make(char *const *word, const char *folder, size_t slots,
                        char command[CACHE_PROGRAM_LENGTH + 1]);

/* The key of a program becomes that of a command that starts it, of which it has the digits; behind
 * them are those of the program and its number of ranks. */
void cache_key_set_command(cache_key *key, const char *command);

/* The name of the script that an interpreter executes, a part of an argument; NULL: another
 * program, or no script in a file. */
const char *cache_find_script_name(const cache_program *program);

/* The file that execvp would execute for a name: `folder` is the current one and `path` the value
 * of PATH. The caller frees it. -ENOENT: none; -ENOMEM. */
int cache_find_program(const char *name, const char *folder, const char *path, char **file);

#endif
