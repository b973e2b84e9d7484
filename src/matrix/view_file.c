/* SPDX-License-Identifier: BSD-3-Clause */
/* View files: the matrix, and the profile in ACCESS sections. */
#include "matrix/view_file.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "matrix/fileview.h"
#include "matrix/market.h"

void view_file_release(view_file *f)
{
    for (size_t k = 0; k < f->patterns; k++) {
        free(f->pattern[k].file);
        matrix_release(&f->bytes[k]);
    }
    free(f->pattern);
    free(f->bytes);
    free(f->comments);
    free(f->order);
    matrix_release(&f->view);
    memset(f, 0, sizeof *f);
}

int view_file_append(view_file *f, access_pattern *pattern, matrix *bytes)
{
    size_t patterns = f->capacity, matrices = f->capacity;
    if (base_reserve(&f->pattern, &patterns, f->patterns + 1, sizeof *f->pattern) != 0 ||
        base_reserve(&f->bytes, &matrices, f->patterns + 1, sizeof *f->bytes) != 0)
        return -ENOMEM;
    f->capacity = patterns < matrices ? patterns : matrices;
    f->pattern[f->patterns] = *pattern;
    f->bytes[f->patterns++] = *bytes;
    *pattern = (access_pattern){0};
    *bytes = (matrix){0};
    return 0;
}

/* ---- file names, escaped to be part of a line ---- */

/* Also white space at either end, which is ambiguous in the format. */
static int needs_escape(const char *name, size_t i)
{
    unsigned char c = (unsigned char)name[i];
    return c < ' ' || c == 0x7f || c == '%' || (c == ' ' && (i == 0 || name[i + 1] == '\0'));
}

static void write_name(FILE *stream, const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++)
        if (needs_escape(name, i))
            fprintf(stream, "%%%02X", (unsigned)(unsigned char)name[i]);
        else
            fputc(name[i], stream);
}

/* -1: not a digit. */
static int hexadecimal(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place; the line begins with a space, unless the name is empty. -EBADMSG: a '%' without two
 * digits. */
static int decode_name(matrix_scan *scan, size_t line, char *text)
{
    char *to = text;
    for (const char *from = text + (text[0] == ' '); *from != '\0'; from++) {
        int high = *from == '%' ? hexadecimal(from[1]) : 0;
        int low = *from == '%' && high >= 0 ? hexadecimal(from[2]) : 0;
        if (high < 0 || low < 0 || (*from == '%' && high == 0 && low == 0))
            return matrix_refuse(scan->error, line,
                                 "'%%' in a file name where '%%' and two digits 0-9 "
                                 "A-F are expected");
        *to++ = *from == '%' ? (char)(16 * high + low) : *from;
        from += *from == '%' ? 2 : 0;
    }
    *to = '\0';
    return 0;
}

/* ---- reading ---- */

/* The numbers of a section's first line. */
struct header {
    size_t calls, first, unit, bins, rows, entries;
};

/* An entry takes two numbers, a row two more; a number takes a separator and a digit. */
static int check_header(matrix_scan *scan, const struct header *h, size_t ranks)
{
    size_t numbers, bytes;
    int64_t end;
    if (h->calls < 1)
        return matrix_refuse(scan->error, scan->word_line, "0 calls where at least 1 is expected");
    if (h->unit < 1 || (h->unit & (h->unit - 1)) != 0)
        return matrix_refuse(scan->error, scan->word_line,
                             "a bin of %zu bytes where a power of two is expected", h->unit);
    if (h->bins < 1 || h->bins > VIEW_FILE_MOST_BINS)
        return matrix_refuse(scan->error, scan->word_line, "%zu bins where 1 to %zu are expected",
                             h->bins, VIEW_FILE_MOST_BINS);
    if (__builtin_mul_overflow(h->unit, h->bins, &end) ||
        __builtin_add_overflow(end, h->first, &end))
        return matrix_refuse(scan->error, scan->word_line, "the bins end beyond 64 bits");
    if (h->rows > ranks)
        return matrix_refuse(scan->error, scan->word_line, "%zu rows in a file of %zu ranks",
                             h->rows, ranks);
    if (__builtin_add_overflow(h->entries, h->rows, &numbers) ||
        __builtin_mul_overflow(numbers, 4, &bytes) || bytes > matrix_scan_left(scan))
        return matrix_refuse(scan->error, scan->word_line,
                             "%zu entries in %zu rows cannot be in a file of %" PRIu64 " bytes",
                             h->entries, h->rows, scan->length);
    return 0;
}

static int read_header(matrix_scan *scan, size_t ranks, struct header *h, struct matrix_text *file)
{
    const struct {
        const char *what;
        size_t *number;
    } field[] = {{"the number of calls", &h->calls}, {"the first byte", &h->first},
                 {"the bytes of a bin", &h->unit},   {"the number of bins", &h->bins},
                 {"the number of rows", &h->rows},   {"the number of entries", &h->entries}};
    size_t line = scan->word_line;
    int rc = 0;
    for (size_t k = 0; k < sizeof field / sizeof *field && rc == 0; k++) {
        rc = matrix_scan_count(scan, field[k].what, field[k].number);
        if (rc == 0 && scan->word_line != line)
            rc = matrix_refuse(scan->error, line, "the line ends where %s is expected",
                               field[k].what);
    }
    if (rc == 0)
        rc = check_header(scan, h, ranks);
    return rc == 0 ? matrix_scan_rest_of_line(scan, MATRIX_SCAN_LINE, file) : rc;
}

/* Reads an entry of a row that begins at entry `first`. */
static int read_access_entry(matrix_scan *scan, matrix *m, size_t first, size_t at)
{
    size_t bytes = 0;
    int rc = matrix_scan_count(scan, "a bin", &m->col[at]);
    if (rc == 0 && m->col[at] >= m->cols)
        rc = matrix_refuse(scan->error, scan->word_line, "bin %zu of %zu", m->col[at], m->cols);
    if (rc == 0 && at > first && m->col[at] <= m->col[at - 1])
        rc = matrix_refuse(scan->error, scan->word_line, "bin %zu after bin %zu", m->col[at],
                           m->col[at - 1]);
    if (rc == 0)
        rc = matrix_scan_count(scan, "a number of bytes", &bytes);
    if (rc == 0 && bytes == 0)
        rc = matrix_refuse(scan->error, scan->word_line, "0 bytes in bin %zu", m->col[at]);
    m->value[at] = (int64_t)bytes;
    return rc;
}

/* Reads a row, which begins at entry *at; its rank must be at least *least. */
static int read_access_row(matrix_scan *scan, matrix *m, size_t entries, size_t *least, size_t *at)
{
    size_t rank = 0, count = 0, first = *at;
    int rc = matrix_scan_count(scan, "a rank", &rank);
    if (rc == 0 && (rank < *least || rank >= m->rows))
        rc = matrix_refuse(scan->error, scan->word_line, "rank %zu, not in %zu..%zu", rank, *least,
                           m->rows - 1);
    if (rc == 0)
        rc = matrix_scan_count(scan, "the entries of a rank", &count);
    if (rc == 0 && count > entries - first)
        rc = matrix_refuse(scan->error, scan->word_line,
                           "%zu entries of rank %zu where %zu at most are expected", count, rank,
                           entries - first);
    for (; rc == 0 && *at < first + count; (*at)++)
        rc = read_access_entry(scan, m, first, *at);
    if (rc == 0)
        m->row_start[rank + 1] = count;
    *least = rank + 1;
    return rc;
}

static int read_access_rows(matrix_scan *scan, matrix *m, const struct header *h)
{
    size_t least = 0, at = 0;
    int rc = 0;
    for (size_t k = 0; k < h->rows && rc == 0; k++)
        rc = read_access_row(scan, m, h->entries, &least, &at);
    if (rc == 0 && at != h->entries)
        rc = matrix_refuse(scan->error, scan->word_line, "%zu entries where %zu are expected", at,
                           h->entries);
    for (size_t rank = 0; rank < m->rows; rank++)
        m->row_start[rank + 1] += m->row_start[rank];
    return rc;
}

/* Reads a section whose first word, ACCESS, has been read. */
static int read_pattern(matrix_scan *scan, view_file *f)
{
    struct header h = {0};
    matrix bytes = {0};
    struct matrix_text file = {0};
    size_t line = scan->word_line;
    int rc = read_header(scan, f->view.rows, &h, &file);
    if (rc == 0)
        rc = decode_name(scan, line, file.string);
    if (rc == 0)
        rc = matrix_allocate(&bytes, f->view.rows, h.bins, h.entries);
    if (rc == 0)
        rc = read_access_rows(scan, &bytes, &h);
    access_pattern pattern = {
        .file = file.string,
        .calls = (int64_t)h.calls,
        .first = (int64_t)h.first,
        .unit = (int64_t)h.unit,
    };
    if (rc == 0)
        rc = view_file_append(f, &pattern, &bytes);
    free(pattern.file);
    matrix_release(&bytes);
    return rc;
}

/* A number of a DIVISION section. */
static int read_division_number(matrix_scan *scan, const char *what, int64_t most, int64_t *number)
{
    size_t value = 0;
    int rc = matrix_scan_count(scan, what, &value);
    if (rc == 0 && value > (size_t)most)
        rc = matrix_refuse(scan->error, scan->word_line, "%s is %zu, not in 0..%" PRId64, what,
                           value, most);
    *number = (int64_t)value;
    return rc;
}

/* Reads a section about the pattern before it, whose first word, DIVISION, has been read. */
static int read_division(matrix_scan *scan, access_division *d)
{
    int64_t unit;
    const struct {
        const char *what;
        int64_t most, *number;
    } field[] = {
        {"the kind of file domains", VIEW_FILE_MOST_KIND, &d->kind},
        {"the number of aggregators", VIEW_FILE_MOST_AGGREGATORS, &d->aggregators},
        {"the bytes of a stripe", VIEW_FILE_LARGEST_STRIPE, &d->stripe},
        {"the number of storage targets", VIEW_FILE_MOST_TARGETS, &d->targets},
        {"the bytes of a unit", VIEW_FILE_LARGEST_STRIPE, &unit},
    };
    int rc = 0;
    for (size_t k = 0; k < sizeof field / sizeof *field && rc == 0; k++)
        rc = read_division_number(scan, field[k].what, field[k].most, field[k].number);
    if (rc == 0 && d->stripe == 0 && d->targets > 0)
        rc = matrix_refuse(scan->error, scan->word_line, "storage targets without a stripe");
    return rc;
}

/* Reads the ranks of a section whose first word, ORDER, has been read. */
static int read_order(matrix_scan *scan, view_file *f)
{
    const size_t ranks = f->view.rows;
    int rc = 0;
    bool *is_taken = base_zeroed(ranks, sizeof *is_taken, &rc);
    f->order = base_zeroed(ranks, sizeof *f->order, &rc);
    for (size_t r = 0; r < ranks && rc == 0; r++) {
        size_t *rank = &f->order[r];
        rc = matrix_scan_count(scan, "a rank", rank);
        if (rc == 0 && (*rank >= ranks || is_taken[*rank]))
            rc = matrix_refuse(scan->error, scan->word_line, "rank %zu twice, or not in 0..%zu",
                               *rank, ranks - 1);
        if (rc == 0)
            is_taken[*rank] = true;
    }
    free(is_taken);
    return rc;
}

static int read_section(matrix_scan *scan, view_file *f)
{
    if (strcmp(scan->word, "ORDER") == 0)
        return read_order(scan, f);
    if (strcmp(scan->word, "DIVISION") == 0)
        return read_division(scan, &f->pattern[f->patterns - 1].division);
    if (f->patterns == VIEW_FILE_MOST_PATTERNS)
        return matrix_refuse(scan->error, scan->word_line, "more than %d sections",
                             VIEW_FILE_MOST_PATTERNS);
    return read_pattern(scan, f);
}

static bool is_known_section(const matrix_scan *scan, const view_file *f)
{
    return scan->word_length > 0 && (strcmp(scan->word, "ACCESS") == 0 ||
                                     (f->order == NULL && strcmp(scan->word, "ORDER") == 0) ||
                                     (f->patterns > 0 && strcmp(scan->word, "DIVISION") == 0));
}

static int read_patterns(matrix_scan *scan, view_file *f)
{
    int rc = 0;
    while (rc == 0 && is_known_section(scan, f)) {
        rc = read_section(scan, f);
        if (rc == 0)
            rc = fileview_scan_section(scan);
    }
    return rc;
}

static int read_market_view(matrix_scan *scan, view_file *f)
{
    int rc = market_scan_matrix(scan, &f->view, &f->comments);
    if (rc == 0 && f->view.rows != f->view.cols)
        rc = matrix_refuse(scan->error, 0, "%zu rows and %zu columns: a view is square",
                           f->view.rows, f->view.cols);
    return rc;
}

static int read_recorded_view(matrix_scan *scan, view_file *f)
{
    int rc = fileview_scan_matrix(scan, &f->view, &f->comments);
    return rc == 0 ? read_patterns(scan, f) : rc;
}

static int check_sums(const view_file *f, matrix_error *error)
{
    int64_t sum, bytes = 0;
    if (matrix_sum(&f->view, &sum) != 0)
        return matrix_refuse(error, 0, "the weights are so large that their sum is out of range");
    for (size_t k = 0; k < f->patterns; k++)
        if (matrix_sum(&f->bytes[k], &sum) != 0 || __builtin_add_overflow(bytes, sum, &bytes))
            return matrix_refuse(error, 0,
                                 "the calls have so many bytes that their sum is out of range");
    return 0;
}

int view_file_read(FILE *stream, view_file *f, matrix_error *error)
{
    matrix_scan scan;
    view_file read = {0};
    int rc = matrix_scan_init(&scan, stream, error);
    if (rc == 0)
        rc = matrix_scan_at_comment(&scan) ? read_market_view(&scan, &read)
                                           : read_recorded_view(&scan, &read);
    if (rc == 0)
        rc = check_sums(&read, error);
    if (rc != 0)
        view_file_release(&read);
    else
        *f = read;
    return rc;
}

int64_t view_file_independent(const view_file *f)
{
    static const char key[] = "independent: ";
    for (const char *line = f->comments; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        int64_t bytes;
        if (strncmp(line, key, sizeof key - 1) == 0 &&
            sscanf(line + sizeof key - 1, "%" SCNd64, &bytes) == 1)
            return bytes > 0 ? bytes : 0;
        line = end != NULL ? end + 1 : NULL;
    }
    return 0;
}

/* ---- writing ---- */

static int division_is_writable(const access_division *d)
{
    return d->kind >= 0 && d->kind <= VIEW_FILE_MOST_KIND && d->aggregators >= 0 &&
           d->aggregators <= VIEW_FILE_MOST_AGGREGATORS && d->stripe >= 0 &&
           d->stripe <= VIEW_FILE_LARGEST_STRIPE && d->targets >= 0 &&
           d->targets <= (d->stripe > 0 ? VIEW_FILE_MOST_TARGETS : 0);
}

static int pattern_is_writable(const view_file *f, size_t k)
{
    const access_pattern *p = &f->pattern[k];
    const matrix *m = &f->bytes[k];
    int64_t end;
    if (!division_is_writable(&p->division) || m->rows != f->view.rows || m->rows == 0 ||
        m->cols < 1 || m->cols > VIEW_FILE_MOST_BINS || p->calls < 1 || p->first < 0 ||
        p->unit < 1 || (p->unit & (p->unit - 1)) != 0 ||
        __builtin_mul_overflow((int64_t)m->cols, p->unit, &end) ||
        __builtin_add_overflow(end, p->first, &end))
        return 0;
    for (size_t i = 0; i < m->row_start[m->rows]; i++)
        if (m->value[i] < 1)
            return 0;
    return 1;
}

static size_t count_rows(const matrix *m)
{
    size_t rows = 0;
    for (size_t r = 0; r < m->rows; r++)
        rows += m->row_start[r + 1] > m->row_start[r];
    return rows;
}

static void write_access_row(FILE *stream, const matrix *m, size_t rank)
{
    size_t first = m->row_start[rank], end = m->row_start[rank + 1];
    if (first == end)
        return;
    fprintf(stream, "%zu %zu", rank, end - first);
    for (size_t i = first; i < end; i++)
        fprintf(stream, " %zu %" PRId64, m->col[i], m->value[i]);
    fputc('\n', stream);
}

static void write_pattern(FILE *stream, const access_pattern *p, const matrix *m)
{
    const access_division *d = &p->division;
    fprintf(stream, "ACCESS %" PRId64 " %" PRId64 " %" PRId64 " %zu %zu %zu ", p->calls, p->first,
            p->unit, m->cols, count_rows(m), m->row_start[m->rows]);
    write_name(stream, p->file);
    fputc('\n', stream);
    for (size_t rank = 0; rank < m->rows; rank++)
        write_access_row(stream, m, rank);
    if (d->kind > 0 || d->aggregators > 0 || d->stripe > 0)
        fprintf(stream, "DIVISION %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " 0\n", d->kind,
                d->aggregators, d->stripe, d->targets);
}

int view_file_write(FILE *stream, const view_file *f)
{
    if (f->patterns > VIEW_FILE_MOST_PATTERNS)
        return -EINVAL;
    for (size_t k = 0; k < f->patterns; k++)
        if (!pattern_is_writable(f, k))
            return -EINVAL;
    int rc = matrix_write_fileview(stream, &f->view, f->comments);
    for (size_t k = 0; k < f->patterns && rc == 0; k++)
        write_pattern(stream, &f->pattern[k], &f->bytes[k]);
    for (size_t r = 0; f->order != NULL && r < f->view.rows && rc == 0; r++)
        fprintf(stream, "%s%zu%s", r == 0 ? "ORDER " : " ", f->order[r],
                r + 1 == f->view.rows ? "\n" : "");
    return rc != 0 ? rc : matrix_finish_writing(stream);
}
