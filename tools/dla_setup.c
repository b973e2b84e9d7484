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

/* A setting of the environment, and the same as a parameter in a file of the home folder. */
typedef struct launcher_setting {
    const char *variable, *value, *folder, *parameter;
} launcher_setting;

enum { MOST_NAME = 4096 };

#define PMIX_PATH "PMIX_MCA_mca_base_component_path"

/* PRRTE 3 reads PMIx's path, which is for all that use PMIx and adds to their own folders. Later
 * ones read a parameter that replaces their folder. */
static bool has_pmix_path(void)
{
    return strncmp(DLA_OMPI_VERSION, "5.", 2) == 0;
}

/* Keeps what the environment has in PMIx's path, unless the setting is to be stored. */
static void extend_pmix_path(bool write, char path[MOST_NAME])
{
    static const char ours[] = ";prte@" DLA_PRRTE_DIR;
    const char *set = write ? NULL : getenv(PMIX_PATH);
    if (set == NULL || *set == '\0')
        set = DLA_PMIX_DIR;
    snprintf(path, MOST_NAME, "%s%s", set, strstr(set, ours) == NULL ? ours : "");
}

static launcher_setting current_setting(bool write, char path[MOST_NAME])
{
    launcher_setting setting = {"PRTE_MCA_mca_base_component_path", DLA_PRRTE_DIR, ".prte",
                                "mca_base_component_path"};
    if (has_pmix_path()) {
        extend_pmix_path(write, path);
        setting = (launcher_setting){PMIX_PATH, path, ".pmix", setting.parameter};
    }
    return setting;
}

/* A site may keep components of its own in the folder that the setting replaces. */
static void warn_of_hidden(const char *folder)
{
    char pattern[MOST_NAME];
    glob_t found;
    if (folder == NULL || strcmp(folder, DLA_PRRTE_DIR) == 0)
        return;
    snprintf(pattern, sizeof pattern, "%s/*prte_mca_*.so", folder);
    if (glob(pattern, 0, NULL, &found) == 0)
        fprintf(stderr,
                "dla setup: warning: PRRTE's folder %s has %zu components, which this setting "
                "hides; link them into %s\n",
                folder, found.gl_pathc, DLA_PRRTE_DIR);
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
            setting->value);
    if (fclose(stream) != 0)
        return tool_fail("%s: %s", file, strerror(errno));
    printf("%s: set %s\n", file, setting->parameter);
    if (has_pmix_path())
        printf("Ranks take over this path; they find fcoll/tatp with\n"
               "export OMPI_MCA_mca_base_component_path='%s'\n",
               DLA_COMPONENT_PATH);
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
    if (strcmp(value, setting->value) != 0)
        return tool_fail("%s: %s is set already, to %s; combine it with %s", file,
                         setting->parameter, value, setting->value);
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
    char path[MOST_NAME];
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
    launcher_setting setting = current_setting(write, path);
    if (!has_pmix_path()) {
        warn_of_hidden(DLA_SITE_DIR);
        warn_of_hidden(getenv(setting.variable));
    }
    if (write)
        return store_setting(&setting);
    printf("export %s='%s'\n", setting.variable, setting.value);
    return 0;
}
