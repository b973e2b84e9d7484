/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A JSON writer that streams to a FILE: no tree in memory, no allocation.
 *
 * The caller nests begin and end calls correctly; the writer places commas and quotes. In an object
 * each value takes its key; in an array and at the top level the key is NULL. The output is valid
 * JSON in UTF-8 for any bytes of a string, any double and any locale. It contains no newline and no
 * other control character.
 * Write errors show in ferror(out).
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* JSON_SPACED: a blank after ':', after the commas between members, and before an object in an
 * array; the other values of an array are compact: {"a": 1, "b": [1,2,3]}. */
typedef enum json_layout { JSON_COMPACT, JSON_SPACED } json_layout;

/* Initialise to {.out = stream, .layout = layout}. */
typedef struct json_writer {
    FILE *out; /* not owned */
    json_layout layout;
    bool comma; /* private: a comma precedes the next key or element */
} json_writer;

void json_begin_object(json_writer *w, const char *key);
void json_end_object(json_writer *w);
void json_begin_array(json_writer *w, const char *key);
void json_end_array(json_writer *w);

/* Replaces each maximal invalid part of a UTF-8 sequence by U+FFFD, as Unicode recommends:
 * overlong forms, surrogates, truncated sequences and code points above U+10FFFF. NULL for null. */
void json_put_string(json_writer *w, const char *key, const char *text);

static inline void json_put_null(json_writer *w, const char *key)
{
    json_put_string(w, key, NULL);
}

void json_put_bool(json_writer *w, const char *key, bool value);
void json_put_int64(json_writer *w, const char *key, int64_t value);

/* SIZE_MAX, for "none": null. */
void json_put_size(json_writer *w, const char *key, size_t value);

/* 17 significant digits, which identify the double. Has a decimal point or an exponent, so that
 * readers with types recognise a real. NaN and infinities: null. */
void json_put_real(json_writer *w, const char *key, double value);

/* The printf format is for one double, such as "%.6f", and yields at most 350 characters. NaN and
 * infinities become null. */
void json_put_formatted(json_writer *w, const char *key, const char *format, double value);

/* Arrays; those of integers are several times as fast as printf. */
void json_put_ints(json_writer *w, const char *key, const int *value, size_t count);
void json_put_int64s(json_writer *w, const char *key, const int64_t *value, size_t count);
void json_put_sizes(json_writer *w, const char *key, const size_t *value, size_t count);
void json_put_reals(json_writer *w, const char *key, const double *value, size_t count);
void json_put_strings(json_writer *w, const char *key, const char *const *value, size_t count);

#endif
