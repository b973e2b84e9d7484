/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp doctor: executes the Python program that examines the installation. */
#include <stddef.h>

#include "python.h"
#include "tatp.h"
#include "tool.h"

int tatp_doctor(int argc, char **argv)
{
    static const char *const build[] = {TATP_OMPI_VERSION, TATP_MPIRUN, TATP_COMPONENT_DIR, NULL};
    if (*TATP_OMPI_VERSION == '\0')
        return tool_fail("doctor examines Open MPI, and these programs were built for another MPI; "
                         "tatp run --verbose says what libtatp-mpiio.so does");
    const tool_python doctor = {TATP_DOCTOR_DIR, "TATP_DOCTOR_DIR", build};
    return tool_run_python(&doctor, argc, argv);
}
