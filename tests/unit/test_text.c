/* SPDX-License-Identifier: BSD-3-Clause */
/* src/base/text.h: lines of bounded length, and text for a terminal; src/base/unknown.h: settings
 * that do not exist. */
#include "base/text.h"

#include <unistd.h>

#include "base/unknown.h"
#include "failing_malloc.h"
#include "suite.h"

static const struct {
    const char *text, *escaped;
} texts[] = {
    {"", ""},
    {"plain /path \\ \"", "plain /path \\ \""},
    {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x90\x80\x80",
     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x90\x80\x80"},
    {"a\033[31m\nb\r\x7f", "a\\x1b[31m\\x0ab\\x0d\\x7f"},
    {"\xc2\x9b"
     "2J \xc2\xa0",
     "\\xc2\\x9b2J \xc2\xa0"}, /* U+009B begins a sequence as ESC [ does */
    {"\x9b\xff", "\\x9b\\xff"},
    {"\xe2\x80\xae \xe2\x80\x90 \xe2\x81\xa6 \xef\xbb\xbf", /* U+202E, 2010, 2066, FEFF */
     "\\xe2\\x80\\xae \xe2\x80\x90 \\xe2\\x81\\xa6 \\xef\\xbb\\xbf"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
    {"\xf4\x8f\xbf", "\\xf4\\x8f\\xbf"}, /* truncated */
};

START_TEST(text_is_escaped)
{
    char escaped[64], *printed = NULL;
    size_t length;
    base_escape(escaped, sizeof escaped, texts[_i].text);
    ck_assert_str_eq(escaped, texts[_i].escaped);
    FILE *stream = open_memstream(&printed, &length);
    base_put_escaped(stream, texts[_i].text);
    fclose(stream);
    ck_assert_str_eq(printed, texts[_i].escaped);
    free(printed);
}
END_TEST

/* At every size, as many whole characters as fit. */
START_TEST(escaped_text_is_cut)
{
    static const char *const cut[] = {"", "a", "a", "a", "a", "a\\x1b", "a\\x1b", "a\\x1b\xc3\xbc"};
    for (size_t size = 1; size <= LENGTH(cut); size++) {
        char escaped[] = "################";
        base_escape(escaped, size, "a\033\xc3\xbc");
        ck_assert_str_eq(escaped, cut[size - 1]);
        ck_assert_int_eq(escaped[size], '#');
    }
}
END_TEST

static int append_line_of(const char *text, size_t length, size_t most, char **line, size_t *used)
{
    size_t capacity = 0;
    FILE *stream = fmemopen((void *)(uintptr_t)text, length, "r");
    ck_assert_ptr_nonnull(stream);
    *line = NULL;
    *used = 0;
    int rc = base_append_line(stream, most, line, &capacity, used);
    if (rc > 0)
        ck_assert_int_eq((*line)[*used], '\0');
    fclose(stream);
    return rc;
}

static const struct {
    const char *text;
    size_t length;
    int rc;
    const char *line;
} lines[] = {
    {"one\ntwo\n", 8, 1, "one"},  {"\n", 1, 1, ""},
    {"1234", 4, 1, "1234"},       {"12345", 5, -EMSGSIZE, ""},
    {"1\0002\n", 4, -EILSEQ, ""}, {"\000", 1, -EILSEQ, ""},
};

START_TEST(one_line)
{
    char *line;
    size_t used;
    int rc = append_line_of(lines[_i].text, lines[_i].length, 4, &line, &used);
    ck_assert_int_eq(rc, lines[_i].rc);
    if (rc > 0)
        ck_assert_str_eq(line, lines[_i].line);
    free(line);
}
END_TEST

/* A folder opens, but cannot be read. An endless device has no line end; no more of it is held than
 * the limit. */
START_TEST(unusable_streams)
{
    char *line = NULL;
    size_t capacity = 0, used = 0;
    FILE *stream = fopen(".", "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(base_append_line(stream, 4, &line, &capacity, &used), -EISDIR);
    fclose(stream);
    stream = popen("yes | tr -d '\\n'", "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(base_append_line(stream, 100000, &line, &capacity, &used), -EMSGSIZE);
    ck_assert_uint_lt(capacity, 300000);
    pclose(stream);
    free(line);
}
END_TEST

START_TEST(line_without_memory)
{
    int rc = -ENOMEM;
    for (long nth = 0; rc == -ENOMEM; nth++) {
        char text[] = "a line of some length\n", *line = NULL;
        size_t capacity = 0, used = 0;
        FILE *stream = fmemopen(text, sizeof text - 1, "r");
        (void)ungetc(getc(stream), stream); /* allocates its buffer */
        fail_allocation(nth);
        rc = base_append_line(stream, 100, &line, &capacity, &used);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 1);
        free(line);
        fclose(stream);
    }
}
END_TEST

/* ---- unknown names ---- */

static char told[512];

static void tell(const char *message)
{
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s.", message);
}

/* Of equally near names the first, of others none; what begins otherwise, and comments, do not
 * count. */
START_TEST(unknown_names_are_told)
{
    static const char *const known[] = {"record", "stats", "strategy", "record_weight", NULL};
    static const base_removed removed[] = {{"recrod", "see record"}, {NULL, NULL}};
    static const base_settings settings = {"T_MCA_", "tatp_", known, "7 tatp", tell, removed};
    char path[] = "/tmp/test_text.XXXXXX", files[64];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    dprintf(fd,
            "# tatp_one = 1\n  tatp_recrod = a\ntatp_stats=b\nother_stats = c\ntatp_ = d\n"
            "tatp_a\033c=1\ntatp_strat\tegy = e\n# -mca tatp_two 2\n"
            "tatp_record=tatp_three -mca tatp_stats tatp_four  --mca\ttatp_five 5 -x "
            "A=tatp_six\ntatp_%0*d = f",
            70, 1);
    close(fd);
    setenv("T_MCA_tatp_record_wieght", "1", 1);
    setenv("T_MCA_tatp_record", "1", 1);
    setenv("U_MCA_tatp_nothing", "1", 1);
    snprintf(files, sizeof files, "/nowhere,%s:/", path);
    base_check_environment(&settings);
    ck_assert_str_eq(told, "tatp_record_wieght; did you mean tatp_record_weight?.");
    unsetenv("T_MCA_tatp_record_wieght");
    told[0] = '\0';
    base_check_files(&settings, files);
    ck_assert_str_eq(told, "tatp_recrod; see record.tatp_; man 7 tatp lists them."
                           "tatp_a\\x1bc; man 7 tatp lists them."
                           "tatp_strat; did you mean tatp_stats?."
                           "tatp_five; man 7 tatp lists them."
                           "tatp_000000000000000000000000000000000000000000000000000000000000000; "
                           "man 7 tatp lists them.");
    unlink(path);
}
END_TEST

START_TEST(lists_have_whole_items)
{
    ck_assert(base_lists("dla", "dla") && base_lists("basic,dla", "dla"));
    ck_assert(base_lists("dla,basic", "dla") && base_lists("dlax,,dla", "dla"));
    ck_assert(!base_lists("", "dla") && !base_lists("dlax,xdla", "dla"));
    ck_assert(!base_lists("dl,a", "dla") && !base_lists("^dla", "dla"));
}
END_TEST

int main(void)
{
    return run_tests("base", TIMES(text_is_escaped, LENGTH(texts)), ONCE(escaped_text_is_cut),
                     TIMES(one_line, LENGTH(lines)), ONCE(unusable_streams),
                     ONCE(line_without_memory), ONCE(unknown_names_are_told),
                     ONCE(lists_have_whole_items));
}
