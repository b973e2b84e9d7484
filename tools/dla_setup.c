/* SPDX-License-Identifier: BSD-3-Clause */
/* dla setup: the one setting by which an unmodified mpirun finds the mapper. */
#include "dla.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

/* A setting of the environment, and the same as a line of a parameter file in the home folder. */
typedef struct launcher_setting {
    const char *variable, *value;
    const char *folder, *parameter, *stored;
} launcher_setting;

enum { MOST_NAME = 4096 };

/* PRRTE 3 is told by the environment where its components are, or by PMIx, which has a path for all
 * its users; later ones read a parameter of their own. */
static launcher_setting current_setting(char stored[MOST_NAME])
{
    launcher_setting setting = {
        .variable = "PRTE_MCA_mca_base_component_path",
        .value = DLA_PRRTE_DIR,
        .folder = ".prte",
        .parameter = "mca_base_component_path",
        .stored = DLA_PRRTE_DIR,
    };
    if (strncmp(DLA_OMPI_VERSION, "5.", 2) != 0)
        return setting;
    snprintf(stored, MOST_NAME, "%s;prte@%s", DLA_PMIX_DIR, DLA_PRRTE_DIR);
    setting.variable = "PRTE_PKGLIBDIR";
    setting.folder = ".pmix";
    setting.stored = stored;
    return setting;
}

/* The setting replaces the folder in which a site may keep components of its own. */
static void warn_of_hidden(void)
{
    glob_t found;
    if (glob(DLA_SITE_DIR "/*prte_mca_*.so", 0, NULL, &found) == 0)
        fprintf(stderr,
                "dla setup: warning: PRRTE's own folder, %s, has %zu components, which this "
                "setting hides; link them into %s\n",
                DLA_SITE_DIR, found.gl_pathc, DLA_PRRTE_DIR);
    globfree(&found);
}

/* Whether a line of the file sets the parameter, and to which value. */
static bool find_parameter(FILE *stream, const char *parameter, char value[MOST_NAME])
{
    char line[MOST_NAME + 256];
    bool found = false;
    while (fgets(line, sizeof line, stream) != NULL) {
        char *text = line + strspn(line, " \t");
        size_t length = strlen(parameter);
        if (strncmp(text, parameter, length) != 0)
            continue;
        text += length;
        text += strspn(text, " \t");
        if (*text != '=')
            continue;
        text++;
        text += strspn(text, " \t");
        text[strcspn(text, "\r\n")] = '\0';
        snprintf(value, MOST_NAME, "%.*s", MOST_NAME - 1, text);
        found = true;
    }
    return found;
}

static int append_parameter(const char *file, const launcher_setting *setting)
{
    FILE *stream = fopen(file, "a");
    if (stream == NULL)
        return tool_fail("%s: %s", file, strerror(errno));
    fprintf(stream, "# where mpirun finds --map-by dla\n%s = %s\n", setting->parameter,
            setting->stored);
    if (fclose(stream) != 0)
        return tool_fail("%s: %s", file, strerror(errno));
    printf("%s: set %s\n", file, setting->parameter);
    return 0;
}

/* Another value is not replaced: it is somebody's. */
static int store_setting(const launcher_setting *setting)
{
    char file[MOST_NAME], value[MOST_NAME];
    const char *home = getenv("HOME");
    bool found = false;
    if (home == NULL)
        return tool_fail("HOME is not set");
    snprintf(file, sizeof file, "%s/%s", home, setting->folder);
    if (mkdir(file, 0777) != 0 && errno != EEXIST)
        return tool_fail("%s: %s", file, strerror(errno));
    snprintf(file, sizeof file, "%s/%s/mca-params.conf", home, setting->folder);
    FILE *stream = fopen(file, "r");
    if (stream != NULL) {
        found = find_parameter(stream, setting->parameter, value);
        fclose(stream);
    }
    if (!found)
        return append_parameter(file, setting);
    if (strcmp(value, setting->stored) != 0)
        return tool_fail("%s: %s is set already, to %s; combine it with %s", file,
                         setting->parameter, value, setting->stored);
    printf("%s: %s is set\n", file, setting->parameter);
    return 0;
}

static error_t parse_setup_option(int key, char *arg, struct argp_state *state)
{
    bool *write = state->input;
    switch (key) {
    case 'w': *write = true; return 0;
    case ARGP_KEY_ARG: return tool_refuse_argument(arg, state);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp setup_argp = {
    .options =
        (const struct argp_option[]){
            {"write", 'w', NULL, 0, "store the setting in your parameter file instead", 0},
            {0},
        },
    .parser = parse_setup_option,
    .doc = "Prints the setting by which mpirun finds --map-by dla.",
};

int dla_setup(int argc, char **argv)
{
    char stored[MOST_NAME];
    bool write = false;
    tool_parse(&setup_argp, argc, argv, &write);
    if (*DLA_PRRTE_DIR == '\0' && strncmp(DLA_OMPI_VERSION, "4.", 2) != 0)
        return tool_fail("the mapper was not built for Open MPI %s: use dla map --format seq",
                         DLA_OMPI_VERSION);
    if (*DLA_PRRTE_DIR == '\0') {
        printf("Open MPI %s finds the mapper in ~/.openmpi/components without a setting.\n",
               DLA_OMPI_VERSION);
        return 0;
    }
    launcher_setting setting = current_setting(stored);
    warn_of_hidden();
    if (write)
        return store_setting(&setting);
    printf("export %s=%s\n", setting.variable, setting.value);
    return 0;
}
