# SPDX-License-Identifier: BSD-3-Clause
#
# Finds Open MPI by asking it, and checks that components can be built for it.

# TATP_MISSING(MESSAGE, DEBIAN-PACKAGES, [MORE])
# ----------------------------------------------
# Stops, with the command by which this system installs the packages.
AC_DEFUN([TATP_MISSING],
[tatp_install=`"$srcdir/build-aux/install-line" $2`
AC_MSG_ERROR([$1
Install with: $tatp_install[]m4_ifval([$3], [
$3])])])

# TATP_SAYS_OPEN_MPI(WRAPPER): true where the wrapper compiler is Open MPI's.
AC_DEFUN([TATP_SAYS_OPEN_MPI],
[AS_CASE([`$1 --showme:version 2>/dev/null`], [*"Open MPI"*], [:], [false])])

# TATP_OPENMPI
# ------------
# Sets MPICC, OMPI_INFO, MPIRUN, OMPI_VERSION, OMPI_PKGLIBDIR, OMPI_CPPFLAGS,
# OMPI_LDFLAGS (all but the libraries), OMPI_LIBS (libraries of an MPI program).
AC_DEFUN([TATP_OPENMPI],
[AC_ARG_WITH([openmpi],
    [AS_HELP_STRING([--with-openmpi=PREFIX],
        [Open MPI 4.1, 5.0 or 6.0 installed under PREFIX (default: the mpicc in PATH)])],
    [AS_CASE([$withval],
        [yes], [],
        [no], [AC_MSG_ERROR([--without-openmpi: there is nothing to build without Open MPI])],
        [MPICC=$withval/bin/mpicc])])
TATP_FIND_MPICC
TATP_CHECK_VERSION
TATP_FIND_OMPI_PROGRAMS
TATP_ASK_FLAGS])

# A machine may have several MPIs: mpicc may be another one's while mpicc.openmpi is there.
AC_DEFUN([TATP_FIND_MPICC],
[AC_MSG_CHECKING([for Open MPI's mpicc])
tatp_candidates=${MPICC:-"mpicc mpicc.openmpi"}
tatp_others=
MPICC=
for tatp_candidate in $tatp_candidates; do
    tatp_path=`command -v "$tatp_candidate" 2>/dev/null` || continue
    AS_IF([TATP_SAYS_OPEN_MPI(["$tatp_path"])],
        [MPICC=$tatp_path; break],
        [tatp_others="$tatp_others $tatp_path"])
done
AC_MSG_RESULT([${MPICC:-no}])
AS_IF([test -z "$MPICC" && test -n "$tatp_others"],
    [TATP_MISSING([found$tatp_others, which is not Open MPI's wrapper compiler.], [libopenmpi-dev openmpi-bin],
        [or name its wrapper compiler with MPICC=PATH, or its prefix with --with-openmpi=PREFIX.])])
AS_IF([test -z "$MPICC"],
    [TATP_MISSING([Open MPI not found (no $tatp_candidates).], [libopenmpi-dev openmpi-bin],
        [or name its wrapper compiler with MPICC=PATH, or its prefix with --with-openmpi=PREFIX.])])])

AC_DEFUN([TATP_CHECK_VERSION],
[AC_MSG_CHECKING([for the version of Open MPI])
OMPI_VERSION=`"$MPICC" --showme:version | sed -n ['s/.*Open MPI v*\([0-9][^ ]*\).*/\1/p']`
AC_MSG_RESULT([${OMPI_VERSION:-unknown}])
AS_CASE([$OMPI_VERSION],
    [4.1.*], [tatp_launcher=orte],
    [5.0.*|6.0.*], [tatp_launcher=prrte],
    [AC_MSG_ERROR([$MPICC belongs to Open MPI ${OMPI_VERSION:-of unknown version}; supported are Open MPI 4.1.x, 5.0.x and 6.0.x.
The components use its internal interfaces, which other releases change. Looked for: $tatp_candidates.
Name another one with MPICC=PATH or --with-openmpi=PREFIX.])])])

# ompi_info and mpirun that stand beside mpicc, under the same suffix. Those of PATH may be another one's, and so may
# those of the environment, where tests/env.sh of another build puts them.
AC_DEFUN([TATP_FIND_OMPI_PROGRAMS],
[tatp_bin=`AS_DIRNAME(["$MPICC"])`
OMPI_INFO= MPIRUN=
AC_PATH_PROGS([OMPI_INFO], [ompi_info], [], [$tatp_bin])
AC_PATH_PROGS([MPIRUN], [mpirun.openmpi mpirun], [], [$tatp_bin])
AS_IF([test -z "$OMPI_INFO" || test -z "$MPIRUN"],
    [TATP_MISSING([ompi_info and mpirun are not beside $MPICC.], [openmpi-bin])])
AC_MSG_CHECKING([that ompi_info belongs to the same Open MPI])
tatp_info_version=`"$OMPI_INFO" --version | sed -n 's/^Open MPI v//p'`
AC_MSG_RESULT([${tatp_info_version:-unknown}])
AS_IF([test "$tatp_info_version" != "$OMPI_VERSION"],
    [AC_MSG_ERROR([$OMPI_INFO belongs to Open MPI ${tatp_info_version:-of unknown version}, but $MPICC to $OMPI_VERSION])])
AC_MSG_CHECKING([that Open MPI opens further components])
tatp_dlopen=`"$OMPI_INFO" --parsable --config | sed -n 's/^option:dlopen://p'`
AC_MSG_RESULT([${tatp_dlopen:-unknown}])
AS_IF([test "$tatp_dlopen" = no], [TATP_FIND_INSIDE])
AC_SUBST([OMPI_VERSION])])

# An Open MPI that opens no components may have those of --graft inside its libraries: then the programs are built for it.
AC_DEFUN([TATP_FIND_INSIDE],
[AC_MSG_CHECKING([that fcoll/tatp is inside its libraries])
AS_IF(["$OMPI_INFO" --parsable | grep '^mca:fcoll:tatp:version:' >/dev/null],
    [AC_MSG_RESULT([yes; no components are built])],
    [AC_MSG_RESULT([no])
    AC_MSG_ERROR([Open MPI $OMPI_VERSION of $MPICC was built with --disable-dlopen: it opens no components but its own,
so that those built here could not be used. Name another one with MPICC=PATH or --with-openmpi=PREFIX,
or build the components inside that Open MPI: ./autogen.pl --graft DIR puts them into its source tree (doc/upstream.md).])])])

# System include folders are left out: naming them would change the order of search. PMIx and hwloc may
# be Open MPI's own: what is installed beside it comes first.
AC_DEFUN([TATP_ASK_FLAGS],
[tatp_libdir=`"$OMPI_INFO" --parsable --path libdir | sed 's/^path:libdir://'`
PKG_CONFIG_PATH=$tatp_libdir/pkgconfig${PKG_CONFIG_PATH:+$PATH_SEPARATOR$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
OMPI_PKGLIBDIR=`"$OMPI_INFO" --parsable --path pkglibdir | sed 's/^path:pkglibdir://'`
tatp_incdir=`"$OMPI_INFO" --parsable --path incdir | sed 's/^path:incdir://'`
OMPI_CPPFLAGS=
TATP_OPENMPI_SOURCE
for tatp_dir in $tatp_source_dirs `"$MPICC" --showme:incdirs` "$tatp_incdir" "$tatp_incdir/openmpi"; do
    AS_CASE([" $OMPI_CPPFLAGS "],
        [*" -isystem $tatp_dir "*], [],
        [AS_CASE([$tatp_dir], [/usr/include], [], [OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $tatp_dir"])])
done
OMPI_LDFLAGS=
OMPI_LIBS=
for tatp_flag in `"$MPICC" --showme:link`; do
    AS_CASE([$tatp_flag],
        [-l*], [OMPI_LIBS="$OMPI_LIBS $tatp_flag"],
        [OMPI_LDFLAGS="$OMPI_LDFLAGS $tatp_flag"])
done
tatp_save_libs=$LIBS
LIBS="$OMPI_LDFLAGS $OMPI_LIBS $LIBS"
TATP_LARGE_COUNTS
LIBS=$tatp_save_libs
OMPI_LARGE_COUNTS=$tatp_large
AC_SUBST([OMPI_LARGE_COUNTS])
AC_SUBST([OMPI_PKGLIBDIR])
AC_SUBST([OMPI_CPPFLAGS])
AC_SUBST([OMPI_LDFLAGS])
AC_SUBST([OMPI_LIBS])])

# TATP_FIND_ORIGIN(DIR, HEADER)
# -----------------------------
# Sets tatp_origin: DIR where the header is, or else the sources for which a configure ran in DIR.
AC_DEFUN([TATP_FIND_ORIGIN],
[tatp_origin=$1
AS_IF([test -f "$1/$2"], [],
    [tatp_origin=`sed -n 's/^abs_top_srcdir = //p' "$1/Makefile" 2>/dev/null`])])

# TATP_OPENMPI_SOURCE
# -------------------
# The headers of Open MPI's sources, where the installed ones are missing. One of them, opal_config.h, is made by Open
# MPI's configure, in another folder than the sources if it ran there. Sets tatp_source_dirs. Sizes of structs are
# compared again when a component is loaded.
AC_DEFUN([TATP_OPENMPI_SOURCE],
[AC_ARG_WITH([openmpi-source],
    [AS_HELP_STRING([--with-openmpi-source=DIR],
        [take the headers from the sources of the installed Open MPI: the folder in which their configure ran])],
    [AS_CASE([$withval], [yes | no], [AC_MSG_ERROR([--with-openmpi-source wants a folder])])],
    [with_openmpi_source=])
tatp_source_dirs=
AS_IF([test -n "$with_openmpi_source"],
    [with_openmpi_source=`cd "$with_openmpi_source" 2>/dev/null && pwd`
    TATP_FIND_ORIGIN([$with_openmpi_source], [ompi/mca/fcoll/fcoll.h])
    TATP_CHECK_SOURCE_RELEASE
    TATP_CHECK_SOURCE_OPTIONS
    for tatp_top in "$with_openmpi_source" "$tatp_origin"; do
        tatp_source_dirs="$tatp_source_dirs $tatp_top"
        for tatp_dir in opal orte ompi; do
            AS_IF([test -d "$tatp_top/$tatp_dir/include"],
                [tatp_source_dirs="$tatp_source_dirs $tatp_top/$tatp_dir/include"])
        done
    done
    # Where Open MPI uses the system's libevent, its own one was not configured.
    for tatp_dir in "$with_openmpi_source"/opal/mca/event/libevent*/libevent; do
        AS_IF([test -f "$tatp_dir/include/event2/event-config.h"],
            [tatp_source_dirs="$tatp_source_dirs $tatp_dir $tatp_dir/include"])
    done])])

AC_DEFUN([TATP_CHECK_SOURCE_RELEASE],
[AS_IF([test -f "$tatp_origin/ompi/mca/fcoll/fcoll.h"], [],
    [AC_MSG_ERROR([--with-openmpi-source wants the folder of Open MPI's sources, where ompi/mca/fcoll/fcoll.h is, or that in which
their configure ran])])
tatp_sources=`sed -n 's/^major=//p; s/^minor=/./p; s/^release=/./p; s/^greek=//p' "$tatp_origin/VERSION" | tr -d '\n'`
AS_IF([test "$tatp_sources" != "$OMPI_VERSION"],
    [AC_MSG_ERROR([--with-openmpi-source: these are the sources of Open MPI $tatp_sources, but $MPICC is of $OMPI_VERSION])])
AS_IF([test -f "$with_openmpi_source/opal/include/opal_config.h"], [],
    [tatp_cli=`"$OMPI_INFO" --parsable --config | sed -n 's/^config:cli: *//p'`
    AC_MSG_ERROR([--with-openmpi-source: opal/include/opal_config.h is missing, which Open MPI's configure makes. Run
    cd $with_openmpi_source && ./configure $tatp_cli
These are the options of the installed one; those about networks, languages and folders may be left out. make is not needed.
Where configure ran in another folder, name that one.])])])

# TATP_CHECK_SOURCE_OPTION(DEFINE, OMPI_INFO-KEY, OPTION)
AC_DEFUN([TATP_CHECK_SOURCE_OPTION],
[tatp_source_value=`sed -n ['s/^#define $1 \([01]\).*/\1/p'] "$with_openmpi_source/opal/include/opal_config.h"`
tatp_said=`"$OMPI_INFO" --parsable --all | sed -n 's/^$2://p'`
AS_CASE([$tatp_said], [yes* | true*], [tatp_installed=1], [tatp_installed=0])
AS_IF([test "${tatp_source_value:-0}" != "$tatp_installed"],
    [AC_MSG_ERROR([--with-openmpi-source: its configure decided otherwise about $3 than that of the installed Open MPI
(ompi_info says $2:${tatp_said:-no}). Run it again with the same option.])])])

AC_DEFUN([TATP_CHECK_SOURCE_OPTIONS],
[TATP_CHECK_SOURCE_OPTION([OPAL_ENABLE_DEBUG], [option:debug], [--enable-debug])
TATP_CHECK_SOURCE_OPTION([OPAL_ENABLE_HETEROGENEOUS_SUPPORT], [options:heterogeneous], [--enable-heterogeneous])
TATP_CHECK_SOURCE_OPTION([OMPI_GROUP_SPARSE], [option:sparse:groups], [--enable-sparse-groups])
TATP_CHECK_SOURCE_OPTION([OPAL_CUDA_SUPPORT], [mca:opal:base:param:opal_built_with_cuda_support:value], [--with-cuda])
TATP_CHECK_SOURCE_OPTION([OPAL_ENABLE_FT_MPI], [options:ft_mpi_support], [--with-ft])])

# TATP_OPENMPI_HEADERS
# --------------------
# What components are built from, and which are.
AC_DEFUN([TATP_OPENMPI_HEADERS],
[tatp_have_prrte=no
AS_IF([test "$tatp_dlopen" = no],
    [tatp_placement="that of Open MPI's libraries"],
    [TATP_COMPONENT_HEADERS])])

# TATP_OPENMPI_CONDITIONALS
# -------------------------
AC_DEFUN([TATP_OPENMPI_CONDITIONALS],
[tatp_builds_components=no
AS_IF([test "$with_mpi" = no && test "$tatp_dlopen" != no], [tatp_builds_components=yes])
AM_CONDITIONAL([BUILD_COMPONENTS], [test $tatp_builds_components = yes])
AM_CONDITIONAL([BUILD_ORTE], [test $tatp_builds_components$tatp_launcher = yesorte])
AM_CONDITIONAL([BUILD_PRRTE], [test "$tatp_have_prrte" = yes])])

# The headers components are built from; they pull in hwloc's and, where Open MPI
# was built against the system's, libevent's and PMIx's.
AC_DEFUN([TATP_COMPONENT_HEADERS],
[TATP_PMIX
tatp_save_cppflags=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $OMPI_CPPFLAGS $HWLOC_CFLAGS"
TATP_COMPAT_HEADERS
TATP_DEVELOPMENT_HEADER([ompi/mca/fcoll/fcoll.h])
TATP_DEVELOPMENT_HEADER([ompi/mca/common/ompio/common_ompio.h])
TATP_HEADERS_RELEASE
AS_IF([test "$tatp_launcher" = orte], [TATP_DEVELOPMENT_HEADER([orte/mca/rmaps/rmaps.h])])
CPPFLAGS=$tatp_save_cppflags
tatp_placement="rmaps/dla for ORTE"
AS_IF([test "$tatp_launcher" = prrte], [TATP_PRRTE])])

# TATP_COMPAT_HEADERS
# -------------------
# From Open MPI 5 on, PMIx's headers are not Open MPI's own, and some of Open MPI's internal headers
# include others that are not installed. Sets COMPAT_CPPFLAGS.
AC_DEFUN([TATP_COMPAT_HEADERS],
[COMPAT_CPPFLAGS=
AS_IF([test "$tatp_launcher" = prrte],
    [COMPAT_CPPFLAGS="-isystem `$PKG_CONFIG --variable=includedir pmix`"])
CPPFLAGS="$CPPFLAGS $COMPAT_CPPFLAGS"
AC_MSG_CHECKING([for all headers that those of Open MPI include])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include "ompi_config.h"
#include "opal/runtime/opal.h"
#include "ompi/mca/common/ompio/common_ompio.h"
]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no; with those of ompi/compat/missing])
    COMPAT_CPPFLAGS="$COMPAT_CPPFLAGS -I\$(top_srcdir)/ompi/compat/missing"
    CPPFLAGS="$CPPFLAGS -I$srcdir/ompi/compat/missing"])
AC_SUBST([COMPAT_CPPFLAGS])])

# TATP_PRRTE
# ----------
# PRRTE launches the programs of Open MPI 5 and later. Its mapper is built from its headers; where
# those are not installed, from declarations of a release (prte/compat). It is not built where a
# test program finds that they do not fit the library. Sets PRRTE_CPPFLAGS, PRRTE_LIBS and
# tatp_have_prrte.
AC_DEFUN([TATP_PRRTE],
[tatp_have_prrte=no
tatp_pmix_incdir=`$PKG_CONFIG --variable=includedir pmix 2>/dev/null`
TATP_FIND_PRRTE
TATP_FIND_PRRTE_HEADERS
AC_MSG_CHECKING([whether $tatp_prrte_source fit PRRTE ${PRRTE_VERSION:-(unknown)}])
TATP_PRRTE_BUILDS
AC_MSG_RESULT([$tatp_have_prrte])
AS_IF([test "$tatp_have_prrte" = yes],
    [tatp_placement="rmaps/dla and schizo/dla for PRRTE $PRRTE_VERSION, by $tatp_prrte_source"],
    [tatp_placement="no mapper; dla map -F seq or -F rankfile writes a file for mpirun"
    AC_MSG_WARN([mpirun --map-by dla:... is not built: $tatp_reason.
If the headers or sources of this PRRTE are elsewhere, name them by --with-prrte=DIR. Without the mapper,
dla map -F seq writes a file for mpirun --map-by seq:file=NAME, and dla map -F rankfile one for rankfile:file=NAME.])])
PMIX_PKGLIBDIR=`$PKG_CONFIG --variable=libdir pmix 2>/dev/null`/pmix
AC_SUBST([PMIX_PKGLIBDIR])
AC_SUBST([PRRTE_CPPFLAGS])
AC_SUBST([PRRTE_LIBS])])

# The library that prterun uses: libprrte.so may be another one, or a link to nothing; Open MPI's own may be libompi-prrte.so.
AC_DEFUN([TATP_FIND_PRRTE],
[AC_ARG_WITH([prrte],
    [AS_HELP_STRING([--with-prrte=DIR], [PRRTE installed under DIR with its headers, or its sources in DIR])],
    [AS_CASE([$withval], [yes | no], [AC_MSG_ERROR([--with-prrte wants a folder])])],
    [with_prrte=])
tatp_bin=`AS_DIRNAME(["$MPIRUN"])`
AC_PATH_PROGS([PRTERUN], [prterun], [], [$with_prrte/bin$PATH_SEPARATOR$tatp_bin$PATH_SEPARATOR$PATH])
PRRTE_VERSION=`"$PRTERUN" --version 2>/dev/null | sed -n ['s/.*(PRRTE) *v*\([0-9][^ ]*\).*/\1/p']`
tatp_library=`ldd "$PRTERUN" 2>/dev/null | sed -n ['s/.*=> *\([^ ]*prrte\.so[^ ]*\).*/\1/p']`
tatp_library_dir=`AS_DIRNAME(["$tatp_library"])`
PRRTE_LIBS="-L$tatp_library_dir -l:`AS_BASENAME(["$tatp_library"])` `$PKG_CONFIG --libs pmix`"
AC_PATH_PROGS([PRTE_INFO], [prte_info], [], [`AS_DIRNAME(["$PRTERUN"])`])
PRRTE_PKGLIBDIR=`"$PRTE_INFO" --path pkglibdir 2>/dev/null | sed -n 's/^ *Pkglibdir: *//p'`
AC_SUBST([PRRTE_PKGLIBDIR])])

# Sets tatp_prrte_source and tatp_prrte_cppflags.
AC_DEFUN([TATP_FIND_PRRTE_HEADERS],
[tatp_prrte_source=
tatp_places="$tatp_incdir /usr/include"
AS_IF([test -n "$with_prrte"], [tatp_places=$with_prrte/include])
for tatp_dir in $tatp_places; do
    AS_IF([test -f "$tatp_dir/prte/src/mca/rmaps/rmaps.h"],
        [tatp_prrte_source="the headers of $tatp_dir/prte"
        tatp_prrte_cppflags="-isystem $tatp_dir/prte -isystem $tatp_dir/prte/src/include -isystem $tatp_dir"
        break])
done
TATP_FIND_ORIGIN([$with_prrte], [src/mca/rmaps/rmaps.h])
AS_IF([test -f "$tatp_origin/src/mca/rmaps/rmaps.h"],
    [tatp_dir=$with_prrte
    tatp_prrte_source="the sources of $tatp_dir"
    tatp_prrte_cppflags=
    for tatp_top in $with_prrte $tatp_origin; do
        tatp_prrte_cppflags="$tatp_prrte_cppflags -isystem $tatp_top -isystem $tatp_top/src/include -isystem $tatp_top/include"
    done
    # sources that are not configured lack prte_version.h, which is installed everywhere
    tatp_prrte_cppflags="$tatp_prrte_cppflags -isystem $tatp_incdir"
    TATP_CHECK_PRRTE_SOURCES])
AS_IF([test -n "$tatp_prrte_source"],
    [TATP_PRRTE_CONFIG_HEADER],
    [test -n "$with_prrte"],
    [AC_MSG_ERROR([--with-prrte=$with_prrte: neither include/prte/src/mca/rmaps/rmaps.h nor src/mca/rmaps/rmaps.h is there])],
    [tatp_prrte_source="the declarations of prte/compat"
    tatp_prrte_cppflags="-DPRRTE_DECLARED"])])

AC_DEFUN([TATP_CHECK_PRRTE_SOURCES],
[tatp_sources=`sed -n 's/^major=//p; s/^minor=/./p; s/^release=/./p; s/^greek=//p' "$tatp_origin/VERSION" | tr -d '\n'`
AS_IF([test "$tatp_sources" != "$PRRTE_VERSION"],
    [AC_MSG_ERROR([--with-prrte=$with_prrte: these are the sources of PRRTE $tatp_sources, but $PRTERUN is PRRTE $PRRTE_VERSION])])])

# PRRTE's headers include prte_config.h, which is not installed everywhere.
AC_DEFUN([TATP_PRRTE_CONFIG_HEADER],
[AS_IF([test -f "$tatp_dir/prte/prte_config.h" || test -f "$tatp_dir/prte/src/include/prte_config.h" ||
    test -f "$tatp_dir/src/include/prte_config.h"], [],
    [tatp_prrte_cppflags="$tatp_prrte_cppflags -I\$(top_srcdir)/prte/compat"])])

AC_DEFUN([TATP_PRRTE_BUILDS],
[PRRTE_CPPFLAGS="$tatp_prrte_cppflags -isystem $tatp_pmix_incdir/pmix -isystem $tatp_pmix_incdir"
tatp_save_cppflags=$CPPFLAGS
tatp_save_libs=$LIBS
CPPFLAGS="$CPPFLAGS `AS_ECHO(["$PRRTE_CPPFLAGS"]) | sed 's|\$(top_srcdir)|'"$srcdir|"` -I$srcdir $HWLOC_CFLAGS"
LIBS="$PRRTE_LIBS -Wl,-rpath,$tatp_library_dir $HWLOC_LIBS $LIBS"
tatp_reason="no test program builds and runs with $tatp_prrte_source (see config.log)"
AC_RUN_IFELSE([AC_LANG_PROGRAM([[#define _GNU_SOURCE
#include <stdio.h>
#ifndef PRRTE_DECLARED
#define PRRTE_BUILT_FOR "$PRRTE_VERSION"
#endif
#include "prte/compat/prrte_fit.c"]],
    [[char reason[PRRTE_REASON_SIZE];
if (prrte_fits(reason))
    return 0;
fprintf(fopen("conftest.reason", "w"), "%s", reason);
return 1;]])],
    [tatp_have_prrte=yes],
    [AS_IF([test -f conftest.reason], [tatp_reason=`cat conftest.reason`])],
    [tatp_reason="this is a cross compilation"])
AS_CASE([$PRRTE_CPPFLAGS],
    [*-DPRRTE_DECLARED*], [],
    [PRRTE_CPPFLAGS="$PRRTE_CPPFLAGS -DPRRTE_BUILT_FOR=\\\"$PRRTE_VERSION\\\""])
# What opens the components has both libraries loaded: they need no run path.
PRRTE_LIBS=`AS_ECHO(["$PRRTE_LIBS"]) | sed ['s|-Wl,-rpath -Wl,[^ ]*||g; s|-Wl,-rpath[,=][^ ]*||g']`
CPPFLAGS=$tatp_save_cppflags
LIBS=$tatp_save_libs])

AC_DEFUN([TATP_DEVELOPMENT_HEADER],
[AC_MSG_CHECKING([for Open MPI's development header $1])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include "ompi_config.h"
#include "$1"
]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
    AS_IF([test -n "$with_openmpi_source"],
        [AC_MSG_ERROR([$1 of $with_openmpi_source does not compile (see config.log).])])
    TATP_MISSING([$1 is missing or does not compile (see config.log).
Open MPI $OMPI_VERSION must be installed with its development headers
(configured with --with-devel-headers, as Debian's is).], [libopenmpi-dev],
        [or, where that package lacks them, name the sources of Open MPI $OMPI_VERSION with --with-openmpi-source=DIR
(doc/building.md).])])])

# The compiler may find the headers of another Open MPI first.
AC_DEFUN([TATP_HEADERS_RELEASE],
[AC_MSG_CHECKING([that these headers belong to the same Open MPI])
tatp_release=`AS_ECHO(["$OMPI_VERSION"]) | cut -d . -f 1,2`
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include "mpi.h"
_Static_assert(OMPI_MAJOR_VERSION == ${tatp_release%.*} && OMPI_MINOR_VERSION == ${tatp_release#*.}, "release");
]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
    AC_MSG_ERROR([the compiler finds headers of another release than Open MPI $OMPI_VERSION (see config.log).
Looked for in:$OMPI_CPPFLAGS])])])

# Open MPI may carry a PMIx of its own (component pmix3x): then none is asked for.
AC_DEFUN([TATP_PMIX],
[AC_MSG_CHECKING([for PMIx])
tatp_own_pmix=`"$OMPI_INFO" --parsable | grep '^mca:pmix:pmix'`
AS_IF([test -n "$tatp_own_pmix"], [AC_MSG_RESULT([Open MPI's own])],
    [$PKG_CONFIG --exists pmix], [tatp_pmix=`$PKG_CONFIG --modversion pmix`
    AC_MSG_RESULT([$tatp_pmix])],
    [AC_MSG_RESULT([no])
    TATP_MISSING([PMIx not found.], [libpmix-dev])])])

# TATP_COMPONENT_DIR
# ------------------
# Fixed when configured: `sudo make install` has another HOME than its user. Sets componentdir and prrtedir
# (of the mapper for PRRTE).
AC_DEFUN([TATP_COMPONENT_DIR],
[AC_ARG_WITH([component-dir],
    [AS_HELP_STRING([--with-component-dir=DIR],
        [install the components in DIR, or, for "system", where Open MPI and PRRTE have their own
        @<:@$HOME/.openmpi/components@:>@])],
    [componentdir=$withval],
    [componentdir=$HOME/.openmpi/components])
prrtedir='${componentdir}/prrte'
AS_CASE([$componentdir],
    [system],
        [componentdir=$OMPI_PKGLIBDIR
        AS_IF([test -n "$PRRTE_PKGLIBDIR"],
            [prrtedir=$PRRTE_PKGLIBDIR],
            [test "$tatp_launcher$tatp_have_prrte" = prrteyes],
            [AC_MSG_ERROR([--with-component-dir=system: prte_info, which knows PRRTE's folder, is not beside $PRTERUN])])],
    [/*|'${'*], [],
    [AC_MSG_ERROR([--with-component-dir wants an absolute folder name, or "system", not '$componentdir'])])
AC_SUBST([componentdir])
AC_SUBST([prrtedir])])
