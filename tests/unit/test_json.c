/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The JSON writer: layouts, numbers and hostile strings, the latter read back by Python's parser.
 */
#include <check.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "json/json.h"

#include "seeded.h"
#include "suite.h"

static char *text;
static size_t length;

static json_writer open_writer(json_layout layout)
{
    json_writer w = {.out = open_memstream(&text, &length), .layout = layout};
    ck_assert_ptr_nonnull(w.out);
    return w;
}

static void assert_written(json_writer *w, const char *expected)
{
    ck_assert_int_eq(ferror(w->out), 0);
    ck_assert_int_eq(fclose(w->out), 0);
    ck_assert_str_eq(text, expected);
    free(text);
}

/* ---- layouts ---- */

static void put_everything(json_writer *w)
{
    json_begin_object(w, NULL);
    json_put_string(w, "a", "b");
    json_put_null(w, "none");
    json_put_bool(w, "yes", true);
    json_begin_array(w, "list");
    json_put_bool(w, NULL, false);
    json_put_string(w, NULL, NULL);
    json_begin_array(w, NULL);
    json_end_array(w);
    json_begin_object(w, NULL);
    json_end_object(w);
    json_begin_object(w, NULL);
    json_put_int64(w, "n", -1);
    json_put_size(w, "m", 1);
    json_end_object(w);
    json_end_array(w);
    json_put_ints(w, "ints", (int[]){1, -2, 3}, 3);
    json_put_int64s(w, "int64s", (int64_t[]){INT64_MIN, INT64_MAX}, 2);
    json_put_sizes(w, "sizes", (size_t[]){0, SIZE_MAX, SIZE_MAX - 1}, 3);
    json_put_ints(w, "empty", NULL, 0);
    json_put_reals(w, "reals", (double[]){1, .5, NAN}, 3);
    json_put_strings(w, "strings", (const char *[]){"a", NULL}, 2);
    json_end_object(w);
}

START_TEST(layouts)
{
    json_writer w = open_writer(JSON_COMPACT);
    put_everything(&w);
    assert_written(&w, "{\"a\":\"b\",\"none\":null,\"yes\":true,\"list\":[false,null,[],{},"
                       "{\"n\":-1,\"m\":1}],\"ints\":[1,-2,3],\"int64s\":[-9223372036854775808,"
                       "9223372036854775807],\"sizes\":[0,null,18446744073709551614],\"empty\":[],"
                       "\"reals\":[1.0,0.5,null],\"strings\":[\"a\",null]}");
    w = open_writer(JSON_SPACED);
    put_everything(&w);
    assert_written(&w,
                   "{\"a\": \"b\", \"none\": null, \"yes\": true, \"list\": [false,null,[], {}, "
                   "{\"n\": -1, \"m\": 1}], \"ints\": [1,-2,3], \"int64s\": [-9223372036854775808,"
                   "9223372036854775807], \"sizes\": [0,null,18446744073709551614], \"empty\": [], "
                   "\"reals\": [1.0,0.5,null], \"strings\": [\"a\",null]}");
}
END_TEST

/* The other one is the longest number. */
START_TEST(one_value_at_the_top)
{
    char expected[400];
    snprintf(expected, sizeof expected, "%.30f", -DBL_MAX);
    json_writer w = open_writer(JSON_SPACED);
    json_put_size(&w, NULL, 10);
    assert_written(&w, "10");
    w = open_writer(JSON_COMPACT);
    json_put_formatted(&w, NULL, "%.30f", -DBL_MAX);
    assert_written(&w, expected);
}
END_TEST

/* ---- numbers ---- */

static const struct {
    double value;
    const char *real, *formatted; /* by %.3f */
} reals[] = {
    {0.0, "0.0", "0.000"},
    {-0.0, "-0.0", "-0.000"},
    {40.0, "40.0", "40.000"},
    {-1.5, "-1.5", "-1.500"},
    {0.1, "0.10000000000000001", "0.100"},
    {1e20, "1e+20", "100000000000000000000.000"},
    {5e-324, "4.9406564584124654e-324", "0.000"},
    {NAN, "null", "null"},
    {INFINITY, "null", "null"},
    {-INFINITY, "null", "null"},
};

START_TEST(real_number)
{
    json_writer w = open_writer(JSON_COMPACT);
    json_put_real(&w, NULL, reals[_i].value);
    assert_written(&w, reals[_i].real);
    w = open_writer(JSON_COMPACT);
    json_put_formatted(&w, NULL, "%.3f", reals[_i].value);
    assert_written(&w, reals[_i].formatted);
}
END_TEST

/* Passes where no such locale is installed. */
START_TEST(decimal_point_of_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "ps_AF"};
    for (size_t k = 0; k < LENGTH(names); k++) {
        if (setlocale(LC_NUMERIC, names[k]) == NULL)
            continue;
        json_writer w = open_writer(JSON_COMPACT);
        json_begin_array(&w, NULL);
        json_put_real(&w, NULL, 0.5);
        json_put_real(&w, NULL, 2.0);
        json_put_formatted(&w, NULL, "%.3f", -2.5);
        json_end_array(&w);
        assert_written(&w, "[0.5,2.0,-2.500]");
    }
    setlocale(LC_NUMERIC, "C");
}
END_TEST

/* ---- strings ---- */

#define BAD "\xef\xbf\xbd"
static const struct {
    const char *bytes, *written;
} strings[] = {
    {"", ""},
    {"plain /path", "plain /path"},
    {"\"\\", "\\\"\\\\"},
    {"\b\t\n\x1f\x7f", "\\u0008\\u0009\\u000a\\u001f\\u007f"},
    {"\xc2\x80\xc2\x9f", "\\u0080\\u009f"},   /* further control characters */
    {"\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf"}, /* U+00A0, U+07FF */
    {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
     "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"}, /* U+0800, D7FF, E000, FFFF */
    {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"}, /* U+10000, 10FFFF */
    {"a\xe9z", "a" BAD "z"},                                                  /* Latin-1 */
    {"\xc3", BAD}, /* truncated by the end */
    {"\xe2\x82", BAD},
    {"\xf0\x9f\x98", BAD},
    {"\xf0\x9f\x98\"", BAD "\\\""}, /* truncated by the next character */
    {"\xe2\x82\xe2\x82\xac", BAD "\xe2\x82\xac"},
};

START_TEST(hostile_string)
{
    char expected[100];
    snprintf(expected, sizeof expected, "{\"%s\": \"%s\"}", strings[_i].written,
             strings[_i].written);
    json_writer w = open_writer(JSON_SPACED);
    json_begin_object(&w, NULL);
    json_put_string(&w, strings[_i].bytes, strings[_i].bytes);
    json_end_object(&w);
    assert_written(&w, expected);
}
END_TEST

/* Python's decoder replaces in the same way as Unicode recommends. */
static const char parser[] =
    "import json, sys\n"
    "for line in sys.stdin.buffer:\n"
    "    sent, read = line.split(b' ', 1)\n"
    "    sent, read = bytes.fromhex(sent.decode()), json.loads(read.decode())\n"
    "    if read != sent.decode('utf-8', 'replace'):\n"
    "        sys.exit('%r was read as %r' % (sent, read))\n";

static void put_line(json_writer *w, const unsigned char *bytes)
{
    for (const unsigned char *c = bytes; *c != '\0'; c++)
        fprintf(w->out, "%02x", *c);
    fputc(' ', w->out);
    w->comma = false;
    json_put_string(w, NULL, (const char *)bytes);
    fputc('\n', w->out);
}

/* Mostly bytes at the limits of their ranges. */
static unsigned char draw_byte(uint64_t *state)
{
    static const unsigned char limits[] = {0x01, 0x1f, 0x22, 0x5c, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                           0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
                                           0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    if (pick(state, 0, 3) == 0)
        return (unsigned char)pick(state, 1, 255);
    return limits[pick(state, 0, sizeof limits - 1)];
}

START_TEST(random_strings_by_another_parser)
{
    const char *python = getenv("PYTHON3") != NULL ? getenv("PYTHON3") : "python3";
    uint64_t state = first_seed();
    if (*python == '\0')
        return;
    setenv("JSON_PARSER", parser, 1);
    char command[500];
    snprintf(command, sizeof command, "LC_ALL=C exec %s -c \"$JSON_PARSER\"", python);
    json_writer w = {.out = popen(command, "w")};
    ck_assert_ptr_nonnull(w.out);
    for (uint64_t k = random_cases(100000); k > 0; k--) {
        unsigned char bytes[9] = {0};
        for (int64_t n = pick(&state, 1, 8); n > 0; n--)
            bytes[n - 1] = draw_byte(&state);
        put_line(&w, bytes);
    }
    ck_assert_int_eq(pclose(w.out), 0);
}
END_TEST

START_TEST(errors_show_in_the_stream)
{
    json_writer w = {.out = fopen("/dev/full", "w")};
    ck_assert_ptr_nonnull(w.out);
    setbuf(w.out, NULL);
    json_put_string(&w, NULL, "text");
    ck_assert_int_ne(ferror(w.out), 0);
    fclose(w.out);
}
END_TEST

int main(void)
{
    return run_tests("json", ONCE(layouts), ONCE(one_value_at_the_top),
                     TIMES(real_number, LENGTH(reals)), ONCE(decimal_point_of_the_locale),
                     TIMES(hostile_string, LENGTH(strings)), ONCE(random_strings_by_another_parser),
                     ONCE(errors_show_in_the_stream));
}
