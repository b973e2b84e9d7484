/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of the files of a view file. */
#include "matrix/view_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static view_layout *find_layout(const view_file *f, const char *file)
{
    for (size_t k = 0; k < f->layouts; k++)
        if (strcmp(f->layout[k].file, file) == 0)
            return &f->layout[k];
    return NULL;
}

static bool has_patterns(const view_file *f, const char *file)
{
    for (size_t k = 0; k < f->patterns; k++)
        if (strcmp(f->pattern[k].file, file) == 0)
            return true;
    return false;
}

/* Patterns of several files become one, of the first: then the others have none. */
static void drop_unused(view_file *f)
{
    size_t kept = 0;
    for (size_t k = 0; k < f->layouts; k++) {
        if (has_patterns(f, f->layout[k].file)) {
            f->layout[kept++] = f->layout[k];
        } else {
            free(f->layout[k].file);
            free(f->layout[k].text);
        }
    }
    f->layouts = kept;
}

int view_file_set_layout(view_file *f, const char *file, const char *text)
{
    drop_unused(f);
    if (!has_patterns(f, file))
        return 0;
    view_layout *known = find_layout(f, file);
    view_layout copy = {.file = known == NULL ? strdup(file) : NULL, .text = strdup(text)};
    int rc = copy.text == NULL || (known == NULL && copy.file == NULL) ? -ENOMEM : 0;
    if (rc == 0 && known == NULL)
        rc = base_reserve(&f->layout, &f->layout_capacity, f->layouts + 1, sizeof *f->layout);
    if (rc != 0) {
        free(copy.file);
        free(copy.text);
    } else if (known == NULL) {
        f->layout[f->layouts++] = copy;
    } else {
        free(known->text);
        known->text = copy.text;
        known->line = 0;
    }
    return rc;
}

const view_layout *view_file_layout(const view_file *f, const char *file)
{
    return find_layout(f, file);
}
