/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* The code of a control character, which has one or two bytes. */
static unsigned control_code(const char *s)
{
    return (unsigned char)s[*s == '\xc2'];
}

static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (size_t length; *text != '\0'; text += length) {
        bool valid;
        length = base_character(text, &valid);
        if (!valid)
            fputs("\xef\xbf\xbd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (base_is_control(text))
            fprintf(out, "\\u%04x", control_code(text));
        else
            fwrite(text, 1, length, out);
    }
    fputc('"', out);
}

/* Writes the comma and the key that precede a value, and the value or its first character. */
static void put_value(json_writer *w, const char *key, const char *value)
{
    bool spaced = w->layout == JSON_SPACED;
    if (w->comma)
        fputs(spaced && (key != NULL || *value == '{') ? ", " : ",", w->out);
    if (key != NULL) {
        put_quoted(w->out, key);
        fputs(spaced ? ": " : ":", w->out);
    }
    fputs(value, w->out);
    w->comma = *value != '{' && *value != '[';
}

void json_begin_object(json_writer *w, const char *key)
{
    put_value(w, key, "{");
}

void json_end_object(json_writer *w)
{
    fputc('}', w->out);
    w->comma = true;
}

void json_begin_array(json_writer *w, const char *key)
{
    put_value(w, key, "[");
}

void json_end_array(json_writer *w)
{
    fputc(']', w->out);
    w->comma = true;
}

void json_put_string(json_writer *w, const char *key, const char *text)
{
    put_value(w, key, text != NULL ? "" : "null");
    if (text != NULL)
        put_quoted(w->out, text);
}

void json_put_bool(json_writer *w, const char *key, bool value)
{
    put_value(w, key, value ? "true" : "false");
}

/* Writes the comma in an array, too, so that each element takes one call of stdio. */
static void put_integer(json_writer *w, const char *key, bool negative, uint64_t rest)
{
    char text[24], *end = text + sizeof text, *first = end;
    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (negative)
        *--first = '-';
    if (key == NULL && w->comma)
        *--first = ',';
    else
        put_value(w, key, "");
    fwrite(first, 1, (size_t)(end - first), w->out);
}

void json_put_int64(json_writer *w, const char *key, int64_t value)
{
    put_integer(w, key, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_put_size(json_writer *w, const char *key, size_t value)
{
    if (value == SIZE_MAX)
        put_value(w, key, "null");
    else
        put_integer(w, key, false, value);
}

/* Replaces the decimal point of the locale, which may have several bytes. */
void json_put_formatted(json_writer *w, const char *key, const char *format, double value)
{
    static const char kept[] = "0123456789+-e";
    char text[352];
    snprintf(text, sizeof text, format, value);
    size_t point = strspn(text, kept), length = strcspn(text + point, kept);
    if (length > 0) {
        text[point] = '.';
        memmove(text + point + 1, text + point + length, strlen(text + point + length) + 1);
    }
    put_value(w, key, isfinite(value) ? text : "null");
}

void json_put_real(json_writer *w, const char *key, double value)
{
    bool whole = fabs(value) < 1e17 && value == (double)(int64_t)value;
    json_put_formatted(w, key, whole ? "%.1f" : "%.17g", value);
}

#define DEFINE_PUT_ARRAY(name, type, put_element)                                                  \
    void name(json_writer *w, const char *key, const type *value, size_t count)                    \
    {                                                                                              \
        json_begin_array(w, key);                                                                  \
        for (size_t i = 0; i < count; i++)                                                         \
            put_element(w, NULL, value[i]);                                                        \
        json_end_array(w);                                                                         \
    }
DEFINE_PUT_ARRAY(json_put_ints, int, json_put_int64)
DEFINE_PUT_ARRAY(json_put_int64s, int64_t, json_put_int64)
DEFINE_PUT_ARRAY(json_put_sizes, size_t, json_put_size)
DEFINE_PUT_ARRAY(json_put_reals, double, json_put_real)
DEFINE_PUT_ARRAY(json_put_strings, char *const, json_put_string)
