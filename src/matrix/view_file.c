/* SPDX-License-Identifier: BSD-3-Clause */
/* View files: the matrix, and the profile in ACCESS sections. */
#include "matrix/view_file.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* White space at either end is ambiguous in the format. */
static int needs_escape(const char *name, size_t i)
{
    unsigned char c = (unsigned char)name[i];
    return c < ' ' || c == 0x7f || c == '%' || (c == ' ' && (i == 0 || name[i + 1] == '\0'));
}

static size_t escaped_length(const char *name)
{
    size_t length = 0;
    for (size_t i = 0; name[i] != '\0'; i++)
        length += needs_escape(name, i) ? 3 : 1;
    return length;
}

static void write_name(FILE *stream, const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++)
        if (needs_escape(name, i))
            fprintf(stream, "%%%02X", (unsigned)(unsigned char)name[i]);
        else
            fputc(name[i], stream);
}

/* Decodes in place; the line begins with a space, unless the name is empty. Refuses a '%' without
 * two digits. */
static void decode_name(matrix_scan *scan, size_t line, char *text)
{
    char *to = text;
    for (const char *from = text + (text[0] == ' '); *from != '\0' && scan->rc == 0; from++) {
        unsigned byte = (unsigned char)*from;
        if (*from == '%') {
            bool digits = strspn(from + 1, "0123456789ABCDEF") >= 2;
            SCAN_EXPECT_AT(scan, line, digits && sscanf(from + 1, "%2X", &byte) == 1 && byte > 0,
                           "'%%' in a file name where '%%' and two digits 0-9 A-F are expected");
            from += digits ? 2 : 0;
        }
        *to++ = (char)byte;
    }
    *to = '\0';
}

/* ---- the matrix: FILEVIEW, as Open MPI's io/ompio writes fileview_info.out ---- */

static void read_signature(matrix_scan *scan)
{
    matrix_scan_word(scan);
    SCAN_EXPECT_AT(scan, 0, scan->word_length > 0, "the file is empty");
    SCAN_EXPECT(scan, strcmp(scan->word, "FILEVIEW") == 0, "does not begin with the word FILEVIEW");
}

/* Returns the number of rows. */
static size_t read_counts(matrix_scan *scan, size_t *nnz)
{
    *nnz = matrix_scan_count(scan, "the number of entries");
    size_t pointers = matrix_scan_count(scan, "the number of row pointers");
    SCAN_EXPECT(scan, pointers > 0, "the number of row pointers is 0");
    SCAN_EXPECT(scan, matrix_scan_holds(scan, *nnz, 2, pointers),
                "%zu entries in %zu rows cannot be in a file of %" PRIu64 " bytes", *nnz,
                pointers - 1, scan->length);
    return pointers - 1;
}

static void read_view_entries(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t i = 0; i < nnz && scan->rc == 0; i++) {
        m->col[i] = matrix_scan_count(scan, "a column");
        SCAN_EXPECT(scan, m->col[i] < m->cols, "column %zu in a matrix of %zu", m->col[i], m->cols);
    }
    for (size_t i = 0; i < nnz && scan->rc == 0; i++)
        m->value[i] = (int64_t)matrix_scan_count(scan, "a value");
}

static void check_row(matrix_scan *scan, const matrix *m, size_t row)
{
    for (size_t i = m->row_start[row] + 1; i < m->row_start[row + 1] && scan->rc == 0; i++)
        SCAN_EXPECT(scan, m->col[i] > m->col[i - 1], "row %zu has column %zu after column %zu", row,
                    m->col[i], m->col[i - 1]);
}

static void read_row_pointers(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t row = 0; row <= m->rows && scan->rc == 0; row++) {
        size_t least = row > 0 ? m->row_start[row - 1] + 1 : 1, most = row > 0 ? nnz + 1 : 1;
        size_t pointer = matrix_scan_count(scan, "a row pointer");
        SCAN_EXPECT(scan, pointer >= least && pointer <= most, "row pointer %zu, not in %zu..%zu",
                    pointer, least, most);
        m->row_start[row] = pointer - 1;
        if (row > 0)
            check_row(scan, m, row - 1);
    }
    SCAN_EXPECT(scan, m->row_start[m->rows] == nnz, "the last row pointer is %zu, not %zu",
                m->row_start[m->rows] + 1, nnz + 1);
}

/* Reads the word that begins the next section, word_length 0 at the end of the text; refuses
 * anything else. */
static void next_section(matrix_scan *scan)
{
    matrix_scan_word(scan);
    if (scan->word_length > 0 &&
        !(scan->word_first &&
          strspn(scan->word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == scan->word_length))
        matrix_scan_unexpected(scan, "the end of the file or a section");
}

/* Reads from the word FILEVIEW to the word after the last row pointer. */
static void read_matrix(matrix_scan *scan, matrix *m, char **comments)
{
    size_t nnz, rows;
    read_signature(scan);
    *comments = matrix_scan_comments(scan);
    rows = read_counts(scan, &nnz);
    if (scan->rc == 0)
        matrix_scan_fail(scan, matrix_allocate(m, rows, rows, nnz));
    if (scan->rc != 0)
        return;
    read_view_entries(scan, m, nnz);
    read_row_pointers(scan, m, nnz);
    next_section(scan);
}

/* ---- reading ---- */

/* The numbers of a section's first line. */
struct header {
    size_t calls, first, unit, bins, rows, entries;
};

static void check_header(matrix_scan *scan, const struct header *h, size_t ranks)
{
    int64_t end;
    SCAN_EXPECT(scan, h->calls > 0, "0 calls where at least 1 is expected");
    SCAN_EXPECT(scan, h->unit > 0 && (h->unit & (h->unit - 1)) == 0,
                "a bin of %zu bytes where a power of two is expected", h->unit);
    SCAN_EXPECT(scan, h->bins > 0 && h->bins <= VIEW_FILE_MOST_BINS,
                "%zu bins where 1 to %zu are expected", h->bins, VIEW_FILE_MOST_BINS);
    SCAN_EXPECT(scan,
                !__builtin_mul_overflow(h->unit, h->bins, &end) &&
                    !__builtin_add_overflow(end, h->first, &end),
                "the bins end beyond 64 bits");
    SCAN_EXPECT(scan, h->rows <= ranks, "%zu rows in a file of %zu ranks", h->rows, ranks);
    SCAN_EXPECT(scan, matrix_scan_holds(scan, h->entries, 2, 2 * h->rows),
                "%zu entries in %zu rows cannot be in a file of %" PRIu64 " bytes", h->entries,
                h->rows, scan->length);
}

static void read_header(matrix_scan *scan, size_t ranks, struct header *h, struct matrix_text *file)
{
    const struct {
        const char *what;
        size_t *number;
    } field[] = {{"the number of calls", &h->calls}, {"the first byte", &h->first},
                 {"the bytes of a bin", &h->unit},   {"the number of bins", &h->bins},
                 {"the number of rows", &h->rows},   {"the number of entries", &h->entries}};
    size_t line = scan->word_line;
    for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
        *field[k].number = matrix_scan_count(scan, field[k].what);
        SCAN_EXPECT_AT(scan, line, scan->word_line == line, "the line ends where %s is expected",
                       field[k].what);
    }
    check_header(scan, h, ranks);
    matrix_scan_rest_of_line(scan, MATRIX_SCAN_LINE, file);
}

/* Reads an entry of a row that begins at entry `first`. */
static void read_access_entry(matrix_scan *scan, matrix *m, size_t first, size_t at)
{
    size_t *bin = &m->col[at];
    *bin = matrix_scan_count(scan, "a bin");
    SCAN_EXPECT(scan, *bin < m->cols, "bin %zu of %zu", *bin, m->cols);
    SCAN_EXPECT(scan, at == first || *bin > bin[-1], "bin %zu after bin %zu", *bin, bin[-1]);
    m->value[at] = (int64_t)matrix_scan_count(scan, "a number of bytes");
    SCAN_EXPECT(scan, m->value[at] > 0, "0 bytes in bin %zu", *bin);
}

/* Reads a row, which begins at entry *at; its rank must be at least *least. */
static void read_access_row(matrix_scan *scan, matrix *m, size_t entries, size_t *least, size_t *at)
{
    size_t first = *at, rank = matrix_scan_count(scan, "a rank");
    SCAN_EXPECT(scan, rank >= *least && rank < m->rows, "rank %zu, not in %zu..%zu", rank, *least,
                m->rows - 1);
    size_t count = matrix_scan_count(scan, "the entries of a rank");
    SCAN_EXPECT(scan, count <= entries - first,
                "%zu entries of rank %zu where %zu at most are expected", count, rank,
                entries - first);
    for (; scan->rc == 0 && *at < first + count; (*at)++)
        read_access_entry(scan, m, first, *at);
    if (scan->rc == 0)
        m->row_start[rank + 1] = count;
    *least = rank + 1;
}

static void read_access_rows(matrix_scan *scan, matrix *m, const struct header *h)
{
    size_t least = 0, at = 0;
    for (size_t k = 0; k < h->rows && scan->rc == 0; k++)
        read_access_row(scan, m, h->entries, &least, &at);
    SCAN_EXPECT(scan, at == h->entries, "%zu entries where %zu are expected", at, h->entries);
    for (size_t rank = 0; rank < m->rows; rank++)
        m->row_start[rank + 1] += m->row_start[rank];
}

/* Reads a section whose first word, ACCESS, has been read. */
static void read_pattern(matrix_scan *scan, view_file *f)
{
    struct header h = {0};
    matrix bytes = {0};
    struct matrix_text file = {0};
    size_t line = scan->word_line;
    read_header(scan, f->view.rows, &h, &file);
    if (scan->rc == 0) {
        decode_name(scan, line, file.string);
        matrix_scan_fail(scan, matrix_allocate(&bytes, f->view.rows, h.bins, h.entries));
        read_access_rows(scan, &bytes, &h);
    }
    access_pattern pattern = {
        .file = file.string,
        .calls = (int64_t)h.calls,
        .first = (int64_t)h.first,
        .unit = (int64_t)h.unit,
    };
    if (scan->rc == 0)
        matrix_scan_fail(scan, view_file_append(f, &pattern, &bytes));
    free(pattern.file);
    matrix_release(&bytes);
}

/* Reads a section about the pattern before it, whose first word, DIVISION, has been read. */
static void read_division(matrix_scan *scan, access_division *d)
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
    for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
        *field[k].number = (int64_t)matrix_scan_count(scan, field[k].what);
        SCAN_EXPECT(scan, *field[k].number <= field[k].most, "%s is %zu, not in 0..%" PRId64,
                    field[k].what, (size_t)*field[k].number, field[k].most);
    }
    SCAN_EXPECT(scan, d->stripe > 0 || d->targets == 0, "storage targets without a stripe");
}

/* Reads the ranks of a section whose first word, ORDER, has been read. */
static void read_order(matrix_scan *scan, view_file *f)
{
    const size_t ranks = f->view.rows;
    int rc = 0;
    bool *is_taken = base_zeroed(ranks, sizeof *is_taken, &rc);
    f->order = base_zeroed(ranks, sizeof *f->order, &rc);
    matrix_scan_fail(scan, rc);
    for (size_t r = 0; r < ranks && scan->rc == 0; r++) {
        size_t rank = f->order[r] = matrix_scan_count(scan, "a rank");
        SCAN_EXPECT(scan, rank < ranks && !is_taken[rank], "rank %zu twice, or not in 0..%zu", rank,
                    ranks - 1);
        if (scan->rc == 0)
            is_taken[rank] = true;
    }
    free(is_taken);
}

/* Whether it was of a known name. */
static bool read_section(matrix_scan *scan, view_file *f)
{
    if (f->order == NULL && strcmp(scan->word, "ORDER") == 0) {
        read_order(scan, f);
    } else if (f->patterns > 0 && strcmp(scan->word, "DIVISION") == 0) {
        read_division(scan, &f->pattern[f->patterns - 1].division);
    } else if (strcmp(scan->word, "ACCESS") == 0) {
        SCAN_EXPECT(scan, f->patterns < VIEW_FILE_MOST_PATTERNS, "more than %d sections",
                    VIEW_FILE_MOST_PATTERNS);
        read_pattern(scan, f);
    } else {
        return false;
    }
    return true;
}

static void read_view_body(matrix_scan *scan, view_file *f)
{
    if (matrix_scan_at_comment(scan)) {
        market_scan_matrix(scan, &f->view, &f->comments);
        SCAN_EXPECT_AT(scan, 0, f->view.rows == f->view.cols,
                       "%zu rows and %zu columns: a view is square", f->view.rows, f->view.cols);
        return;
    }
    read_matrix(scan, &f->view, &f->comments);
    while (read_section(scan, f))
        next_section(scan);
}

/* NULL, or which sum is beyond int64. */
static const char *find_large_sum(const view_file *f)
{
    int64_t sum, bytes = 0;
    if (matrix_sum(&f->view, &sum) != 0)
        return "the weights are so large that their sum is out of range";
    for (size_t k = 0; k < f->patterns; k++)
        if (matrix_sum(&f->bytes[k], &sum) != 0 || __builtin_add_overflow(bytes, sum, &bytes))
            return "the calls have so many bytes that their sum is out of range";
    return NULL;
}

int view_file_read(FILE *stream, view_file *f, matrix_error *error)
{
    matrix_scan scan;
    view_file read = {0};
    matrix_scan_init(&scan, stream, error);
    read_view_body(&scan, &read);
    const char *large = scan.rc == 0 ? find_large_sum(&read) : NULL;
    SCAN_EXPECT_AT(&scan, 0, large == NULL, "%s", large);
    if (scan.rc != 0)
        view_file_release(&read);
    else
        *f = read;
    return scan.rc;
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

static int write_matrix(FILE *stream, const matrix *m, const char *comments)
{
    size_t nnz = matrix_entries(m);
    if (m->rows != m->cols || !matrix_is_nonnegative(m))
        return -EINVAL;
    fputs("FILEVIEW\n", stream);
    matrix_write_comments(stream, comments);
    fprintf(stream, "%zu %zu\n", nnz, m->rows + 1);
    for (size_t i = 0; i < nnz; i++)
        fprintf(stream, "%zu ", m->col[i]);
    fputc('\n', stream);
    for (size_t i = 0; i < nnz; i++)
        fprintf(stream, "%" PRId64 " ", m->value[i]);
    fputc('\n', stream);
    for (size_t row = 0; row <= m->rows; row++)
        fprintf(stream, "%zu ", m->row_start != NULL ? m->row_start[row] + 1 : 1);
    fputc('\n', stream);
    return matrix_finish_writing(stream);
}

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
    if (!division_is_writable(&p->division) || escaped_length(p->file) >= MATRIX_SCAN_LINE ||
        m->rows != f->view.rows || m->rows == 0 || m->cols < 1 || m->cols > VIEW_FILE_MOST_BINS ||
        p->calls < 1 || p->first < 0 || p->unit < 1 || (p->unit & (p->unit - 1)) != 0 ||
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

/* Each rank once. */
static int check_order(const size_t *order, size_t ranks)
{
    int rc = 0;
    bool *is_taken = base_zeroed(ranks, sizeof *is_taken, &rc);
    for (size_t r = 0; r < ranks && rc == 0; r++)
        if (order[r] >= ranks || is_taken[order[r]])
            rc = -EINVAL;
        else
            is_taken[order[r]] = true;
    free(is_taken);
    return rc;
}

static int check_writable(const view_file *f)
{
    if (f->patterns > VIEW_FILE_MOST_PATTERNS)
        return -EINVAL;
    for (size_t k = 0; k < f->patterns; k++)
        if (!pattern_is_writable(f, k))
            return -EINVAL;
    if ((f->comments != NULL && strlen(f->comments) >= MATRIX_SCAN_COMMENTS) ||
        find_large_sum(f) != NULL)
        return -EINVAL;
    return f->order != NULL ? check_order(f->order, f->view.rows) : 0;
}

int view_file_write(FILE *stream, const view_file *f)
{
    int rc = check_writable(f);
    if (rc != 0)
        return rc;
    rc = write_matrix(stream, &f->view, f->comments);
    for (size_t k = 0; k < f->patterns && rc == 0; k++)
        write_pattern(stream, &f->pattern[k], &f->bytes[k]);
    for (size_t r = 0; f->order != NULL && r < f->view.rows && rc == 0; r++)
        fprintf(stream, "%s%zu%s", r == 0 ? "ORDER " : " ", f->order[r],
                r + 1 == f->view.rows ? "\n" : "");
    return rc != 0 ? rc : matrix_finish_writing(stream);
}
