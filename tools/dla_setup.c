/* SPDX-License-Identifier: BSD-3-Clause */
/* dla setup: the one setting by which an unmodified mpirun finds the mapper. */
#include "dla.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

enum { MOST_NAME = 4096 };

#define PARAMETER "mca_base_component_path"
#define IS_ORTE (strncmp(DLA_OMPI_VERSION, "4.", 2) == 0)
#define OMPI_PATH DLA_COMPONENT_DIR ":" DLA_OMPI_OWN_DIR

/* The parameter file of the home folder is PMIx's, which names a path for all its users, because
 * PRRTE looks for components before it reads a file of its own. */
static const char *folder(void)
{
    return IS_ORTE ? ".openmpi" : ".pmix";
}

static const char *stored(void)
{
    return IS_ORTE ? OMPI_PATH : DLA_PMIX_DIR ";prte@" DLA_PRRTE_DIR;
}

/* PMIx's path adds to the folders of all that use PMIx. */
static void print_setting(void)
{
    static const char variable[] = "PMIX_MCA_" PARAMETER, ours[] = ";prte@" DLA_PRRTE_DIR;
    const char *set = getenv(variable);
    if (set == NULL || *set == '\0')
        set = DLA_PMIX_DIR;
    printf("export %s='%s%s'\n", variable, set, strstr(set, ours) == NULL ? ours : "");
}

/* Whether a line of the file sets the parameter, and to which value. */
static bool find_parameter(FILE *stream, char value[MOST_NAME])
{
    char line[MOST_NAME + 256];
    bool found = false;
    while (fgets(line, sizeof line, stream) != NULL) {
        int length = 0;
        (void)sscanf(line, " " PARAMETER " = %n", &length);
        if (length == 0)
            continue;
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(value, MOST_NAME, "%.*s", MOST_NAME - 1, line + length);
        found = true;
    }
    return found;
}

static int append_parameter(const char *file)
{
    FILE *stream = fopen(file, "a");
    if (stream == NULL)
        return tool_fail("%s: %s", file, strerror(errno));
    fprintf(stream, "# where mpirun finds --map-by dla\n" PARAMETER " = %s\n", stored());
    if (fclose(stream) != 0)
        return tool_fail("%s: %s", file, strerror(errno));
    printf("%s: set " PARAMETER "\n", file);
    return 0;
}

/* Another value is not replaced: it is somebody's. */
static int store_setting(void)
{
    char file[MOST_NAME], value[MOST_NAME];
    const char *home = getenv("HOME");
    bool found = false;
    if (home == NULL)
        return tool_fail("HOME is not set");
    snprintf(file, sizeof file, "%s/%s", home, folder());
    if (mkdir(file, 0777) != 0 && errno != EEXIST)
        return tool_fail("%s: %s", file, strerror(errno));
    snprintf(file, sizeof file, "%s/%s/mca-params.conf", home, folder());
    FILE *stream = fopen(file, "r");
    if (stream != NULL) {
        found = find_parameter(stream, value);
        fclose(stream);
    }
    if (!found)
        return append_parameter(file);
    if (strcmp(value, stored()) != 0)
        return tool_fail("%s: " PARAMETER " is set already, to %s; combine it with %s", file, value,
                         stored());
    printf("%s: " PARAMETER " is set\n", file);
    return 0;
}

static error_t parse_setup_option(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != 'w')
        return ARGP_ERR_UNKNOWN;
    *(bool *)state->input = true;
    return 0;
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

/* Whether it is where mpirun looks for components anyway. */
static bool is_found(void)
{
    char own[MOST_NAME];
    const char *home = getenv("HOME");
    snprintf(own, sizeof own, "%s/.openmpi/components", home != NULL ? home : "");
    if (!IS_ORTE)
        return strcmp(DLA_PRRTE_DIR, DLA_PRRTE_OWN_DIR) == 0;
    return strcmp(DLA_COMPONENT_DIR, DLA_OMPI_OWN_DIR) == 0 || strcmp(DLA_COMPONENT_DIR, own) == 0;
}

int dla_setup(int argc, char **argv)
{
    bool write = false;
    tool_parse(&setup_argp, 0, argc, argv, &write);
    if (*DLA_OMPI_VERSION == '\0')
        return tool_fail("there is no mapper for other MPIs than Open MPI: use dla map");
    if (DLA_INSIDE) {
        printf("Open MPI %s has the mapper inside its libraries.\n", DLA_OMPI_VERSION);
        return 0;
    }
    if (*DLA_PRRTE_DIR == '\0' && !IS_ORTE)
        return tool_fail("the mapper was not built for Open MPI %s: use dla map --format seq",
                         DLA_OMPI_VERSION);
    if (is_found()) {
        printf("Open MPI %s finds the mapper in %s without a setting.\n", DLA_OMPI_VERSION,
               IS_ORTE ? DLA_COMPONENT_DIR : DLA_PRRTE_DIR);
        return 0;
    }
    if (write)
        return store_setting();
    if (IS_ORTE)
        printf("export OMPI_MCA_" PARAMETER "='" OMPI_PATH "'\n");
    else
        print_setting();
    return 0;
}
