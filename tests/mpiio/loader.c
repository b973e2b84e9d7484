/* SPDX-License-Identifier: BSD-3-Clause */
/* loader MODULE [ARGUMENT...]: runs a program that was built as a module, with symbols that nothing
 * else sees, as scripting languages load modules and their MPI. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **) = module != NULL ? (int (*)(int, char **))dlsym(module, "main") : NULL;
    if (run != NULL)
        return run(argc - 1, argv + 1);
    fprintf(stderr, "loader: %s\n", dlerror());
    return 1;
}
