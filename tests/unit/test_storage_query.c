/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of questions to file systems: this program's fstatfs, getxattr, fsetxattr and ioctl
 * stand for those of a file system that is not installed here. */
#define _GNU_SOURCE /* syscall */
#include "storage/internal.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "suite.h"

enum { LUSTRE = 0x0BD00BD0, BEEGFS = 0x19830326, CEPH = 0x00C36400, FUSE = 0x65735546 };
enum { LONG = 60000, SHORT = 20 }; /* milliseconds */

/* What the file system under test says. */
static struct {
    long type; /* 0: that of the real one */
    const void *attribute;
    size_t length;
    int attribute_error; /* errno; 0: none */
    int ioctl_error;
    sem_t *wait;   /* posted when the attribute may be given */
    int calls;     /* of ioctl */
    char set[200]; /* by fsetxattr: the name, a blank, the value */
} fake;

static size_t threads; /* when a test begins */

static size_t count_threads(void)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    while (readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count;
}

static void begin_test(void)
{
    memset(&fake, 0, sizeof fake);
    threads = count_threads();
}

/* Of questions that were given up, too. */
static void wait_for_threads(void)
{
    while (count_threads() > threads)
        usleep(1000);
}

static void be(long type, const void *attribute, size_t length)
{
    fake.type = type;
    fake.attribute = attribute;
    fake.length = length;
}

int fstatfs(int fd, struct statfs *system)
{
    if (fake.type == 0)
        return (int)syscall(SYS_fstatfs, fd, system);
    memset(system, 0, sizeof *system);
    system->f_type = fake.type;
    return 0;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    (void)path;
    (void)name;
    if (fake.wait != NULL)
        sem_wait(fake.wait);
    errno = fake.attribute_error;
    if (errno != 0 || size < fake.length)
        return -1;
    memcpy(value, fake.attribute, fake.length);
    return (ssize_t)fake.length;
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    (void)fd;
    (void)flags;
    if (fake.wait != NULL)
        sem_wait(fake.wait);
    errno = fake.attribute_error;
    if (errno != 0)
        return -1;
    snprintf(fake.set, sizeof fake.set, "%s %.*s", name, (int)size, (const char *)value);
    return 0;
}

/* BeeGFS: two chunks of 512 KiB; target k is 10 + k on "storageK". */
static int answer_beegfs(unsigned long request, unsigned char *answer)
{
    uint32_t index, word[3] = {1, 524288, 0};
    uint16_t count = 2;
    if (_IOC_NR(request) == 25) {
        memcpy(answer, word, 8);
        memcpy(answer + 8, &count, sizeof count);
        return 0;
    }
    memcpy(&index, answer, sizeof index);
    word[0] = 10 + index;
    memcpy(answer + 4, word, 4);
    snprintf((char *)answer + 24, 256, "storage%u", index);
    return 0;
}

/* CephFS: the unit at an offset is on OSD (offset / 4096) % 3, at 127.0.0.1 or at an address that
 * has no name. */
static int answer_ceph(unsigned char *answer)
{
    uint64_t offset;
    int64_t osd;
    struct sockaddr_in address = {.sin_family = AF_INET};
    memcpy(&offset, answer, sizeof offset);
    osd = (int64_t)(offset / 4096 % 3);
    inet_pton(AF_INET, osd == 0 ? "127.0.0.1" : "0.0.0.9", &address.sin_addr);
    memcpy(answer + 112, &osd, sizeof osd);
    memcpy(answer + 120, &address, sizeof address);
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *answer = va_arg(arguments, void *);
    va_end(arguments);
    if (fake.type == 0)
        return (int)syscall(SYS_ioctl, fd, request, answer);
    fake.calls++;
    errno = fake.ioctl_error != 0 ? fake.ioctl_error : ENOTTY;
    if (fake.ioctl_error != 0)
        return -1;
    if (fake.type == BEEGFS && _IOC_TYPE(request) == 'f')
        return answer_beegfs(request, answer);
    return fake.type == CEPH && request == _IOWR(0x97, 3, char[248]) ? answer_ceph(answer) : -1;
}

/* ---- the tests ---- */

struct answer {
    int rc;
    storage_layout *layout;
    matrix_error error;
};

/* Of a new file with nothing in it. */
static struct answer ask(int64_t from, int64_t to, int milliseconds)
{
    struct answer a = {.error = {0, ""}};
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    a.rc = storage_query(fileno(file), from, to, milliseconds, &a.layout, &a.error);
    fclose(file);
    return a;
}

/* Of a question that is answered. */
static storage_layout *ask_well(int64_t from, int64_t to)
{
    struct answer a = ask(from, to, LONG);
    ck_assert_msg(a.rc == 0, "%s", a.error.reason);
    return a.layout;
}

/* As storage_record writes it. The layout is freed. */
static void check_record(storage_layout *layout, const char *expected)
{
    char *text = storage_record(layout);
    ck_assert_str_eq(text, expected);
    free(text);
    storage_free(layout);
}

/* Plain, 65536 bytes each on targets 6 and 1. */
static const unsigned char plain[80] = {
    0xd0, 0x0b, 0xd1, 0x0b, 1, [26] = 1, [28] = 2, [52] = 6, [76] = 1};

START_TEST(lustre)
{
    be(LUSTRE, plain, sizeof plain);
    check_record(ask_well(0, 0), "targets 6 1\nextent 0 - 65536 2 0\n");
}
END_TEST

static void write_line(const char *folder, const char *name, const char *line)
{
    char path[500];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    strcat(path, "/ost_conn_uuid");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(line, file);
    fclose(file);
}

/* The files of two mounts, one of which is that of the file. */
START_TEST(servers_of_lustre)
{
    char folder[] = "/tmp/storage-XXXXXX", command[100];
    storage_layout *layout;
    matrix_error error;
    ck_assert_int_eq(storage_from_lustre(plain, sizeof plain, &layout, &error), 0);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_line(folder, "lfs1-OST0001-osc-ffff9000", "0.0.0.8@tcp\n");
    write_line(folder, "lfs1-OST0006-osc-ffff9000", "oss6@tcp\n");
    write_line(folder, "lfs1-OST0006-osc-ffff8000", "oss7@tcp\n");
    ck_assert_int_eq(lustre_name_servers(layout, folder, "lfs2-clilov-ffff9000"), 0);
    ck_assert_int_eq(lustre_name_servers(layout, folder, "lfs1"), 0);
    ck_assert_ptr_null(storage_target_host(layout, 0));
    ck_assert_int_eq(lustre_name_servers(layout, folder, "lfs1-clilov-ffff9000"), 0);
    ck_assert_str_eq(storage_target_host(layout, 0), "0.0.0.8");
    ck_assert_str_eq(storage_target_host(layout, 1), "oss6");
    storage_free(layout);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(beegfs)
{
    be(BEEGFS, NULL, 0);
    check_record(ask_well(0, 0), "targets 10 11\nextent 0 - 524288 2 0\n"
                                 "host 10 storage0\nhost 11 storage1\n");
}
END_TEST

/* Objects of 8 KiB, two in turn. */
static void be_ceph(void)
{
    static const char attribute[] = "stripe_unit=4096 stripe_count=2 object_size=8192 pool=data";
    be(CEPH, attribute, sizeof attribute - 1);
}

/* The first 20,000 bytes are two rounds. */
START_TEST(ceph_of_the_kernel)
{
    be_ceph();
    check_record(ask_well(0, 20000), "targets 0 1 1 2\nextent 0 - 4096 2 8192\n"
                                     "host 0 localhost\nhost 1 0.0.0.9\nhost 2 0.0.0.9\n");
    ck_assert_int_eq(fake.calls, 4 + 3);
}
END_TEST

/* Only what is asked about: bytes 36,000 to 36,001 are in the third round. */
START_TEST(ceph_further_back)
{
    be_ceph();
    check_record(ask_well(36000, 36001), "targets - - - - 2 0\nextent 0 - 4096 2 8192\n"
                                         "host 0 localhost\nhost 2 0.0.0.9\n");
    ck_assert_int_eq(fake.calls, 2 + 2);
}
END_TEST

/* ---- setting ---- */

static const file_striping quarters = {33554432, 33554432, 1};

/* As ask, of a file with so many bytes. */
static struct answer set_striping(off_t bytes, int milliseconds)
{
    struct answer a = {.error = {0, ""}};
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), bytes), 0);
    a.rc = storage_set_striping(fileno(file), &quarters, milliseconds, &a.error);
    fclose(file);
    return a;
}

START_TEST(striping_of_ceph)
{
    static const long types[] = {CEPH, FUSE};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        fake.set[0] = '\0';
        fake.type = types[k];
        ck_assert_int_eq(set_striping(0, LONG).rc, 0);
        ck_assert_str_eq(
            fake.set, "ceph.file.layout stripe_unit=33554432 stripe_count=1 object_size=33554432");
    }
}
END_TEST

static const struct {
    long type;
    off_t bytes;
    int attribute_error, rc;
    const char *reason;
} refusals[] = {
    {CEPH, 1, 0, -ENOTEMPTY, "the file has data"},
    {CEPH, 0, ENOTEMPTY, -ENOTEMPTY,
     "stripe_unit=33554432 stripe_count=1 object_size=33554432: Directory not empty"},
    {FUSE, 0, EPERM, -EPERM,
     "stripe_unit=33554432 stripe_count=1 object_size=33554432: Operation not permitted"},
    {LUSTRE, 0, 0, -ENOTSUP, "a file system on which an open file keeps its layout"},
    {BEEGFS, 0, 0, -ENOTSUP, "a file system on which an open file keeps its layout"},
    {0x47504653, 0, 0, -ENOTSUP,
     "a file system (type 0x47504653) that does not say where data are"},
};

START_TEST(striping_is_refused)
{
    fake.type = refusals[_i].type;
    fake.attribute_error = refusals[_i].attribute_error;
    struct answer a = set_striping(refusals[_i].bytes, LONG);
    ck_assert_int_eq(a.rc, refusals[_i].rc);
    ck_assert_str_eq(a.error.reason, refusals[_i].reason);
    ck_assert_str_eq(fake.set, "");
}
END_TEST

/* ---- failures ---- */

static const struct {
    long type;
    const char *attribute;
    int attribute_error, ioctl_error, rc;
    const char *reason;
} failures[] = {
    {LUSTRE, "", ENODATA, 0, -ENODATA, "lustre.lov: No data available"},
    {LUSTRE, "x", 0, 0, -EBADMSG, "the layout is truncated, at 1 bytes"},
    {BEEGFS, "", 0, EIO, -EIO, "the stripe pattern of BeeGFS: Input/output error"},
    {CEPH, "", EIO, 0, -EIO, "ceph.file.layout: Input/output error"},
    {CEPH, "x", 0, 0, -EBADMSG, "'x' has no stripe_unit of 32 bits"},
    {CEPH, "stripe_unit=4194304 stripe_count=1 object_size=4194304", 0, ENOTTY, -ENOTTY,
     "the location of an object of CephFS: Inappropriate ioctl for device"},
    {CEPH, "stripe_unit=1 stripe_count=1 object_size=1", 0, 0, -EBADMSG,
     "more than 1048576 objects"},
    {FUSE, "", ENODATA, 0, -ENOTSUP, "a file system of FUSE that does not say where data are"},
    {FUSE, "", EOPNOTSUPP, 0, -ENOTSUP, "a file system of FUSE that does not say where data are"},
    {FUSE, "", EIO, 0, -EIO, "ceph.file.layout: Input/output error"},
    {0x47504653, "", 0, 0, -ENOTSUP,
     "a file system (type 0x47504653) that does not say where data are"},
};

START_TEST(failures_are_named)
{
    be(failures[_i].type, failures[_i].attribute, strlen(failures[_i].attribute));
    fake.attribute_error = failures[_i].attribute_error;
    fake.ioctl_error = failures[_i].ioctl_error;
    struct answer a = ask(0, INT64_C(1) << 40, LONG);
    ck_assert_int_eq(a.rc, failures[_i].rc);
    ck_assert_str_eq(a.error.reason, failures[_i].reason);
    ck_assert_ptr_null(a.layout);
}
END_TEST

/* No ioctl goes to a device, whatever its number means there. */
START_TEST(not_a_file)
{
    storage_layout *layout = NULL;
    matrix_error error;
    int fd = open("/dev/null", O_RDONLY);
    fake.type = BEEGFS;
    ck_assert_int_eq(storage_query(fd, 0, 0, LONG, &layout, &error), -ENOTSUP);
    ck_assert_str_eq(error.reason, "not a regular file");
    ck_assert_int_eq(fake.calls, 0);
    close(fd);
    ck_assert_int_eq(storage_query(fd, 0, 0, LONG, &layout, &error), -EBADF);
    ck_assert_str_eq(error.reason, "statfs: Bad file descriptor");
}
END_TEST

START_TEST(supported_file_systems)
{
    static const long types[] = {LUSTRE, BEEGFS, CEPH, FUSE};
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int fd = fileno(file);
    ck_assert_int_eq(storage_get_speed(fd), STORAGE_SILENT);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        fake.type = types[k];
        ck_assert_int_eq(storage_get_speed(fd), fake.type == FUSE ? STORAGE_SLOW : STORAGE_FAST);
    }
    fake.type = 0x6969;
    ck_assert_int_eq(storage_get_speed(fd), STORAGE_SILENT);
    fake.type = 0;
    fclose(file);
    ck_assert_int_eq(storage_get_speed(fd), STORAGE_SILENT);
}
END_TEST

/* A server that does not answer; its answer after that goes to nobody. */
START_TEST(late)
{
    static sem_t given;
    sem_init(&given, 0, 0);
    be(LUSTRE, plain, sizeof plain);
    fake.wait = &given;
    struct answer a = ask(0, 0, SHORT);
    ck_assert_int_eq(a.rc, -ETIMEDOUT);
    ck_assert_str_eq(a.error.reason, "no answer within 20 ms");
    sem_post(&given);
    sem_post(&given);
    storage_free(ask_well(0, 0));
    wait_for_threads(); /* so that no post is left */
    fake.type = CEPH;
    ck_assert_int_eq(set_striping(0, SHORT).rc, -ETIMEDOUT);
    sem_post(&given);
}
END_TEST

START_TEST(names_of_addresses)
{
    static const char *const names[][2] = {{"127.0.0.1", "localhost"},
                                           {"0.0.0.9", "0.0.0.9"},
                                           {"12", "12"},
                                           {"oss1", "oss1"},
                                           {"", ""}};
    char host[STORAGE_LONGEST_HOST + 1];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        strcpy(host, names[k][0]);
        storage_name_address(host);
        ck_assert_str_eq(host, names[k][1]);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("queries");
    tcase_add_checked_fixture(cases, begin_test, wait_for_threads);
    add_tests(cases, lustre, servers_of_lustre, beegfs, ceph_of_the_kernel, ceph_further_back);
    tcase_add_loop_test(cases, failures_are_named, 0, sizeof failures / sizeof *failures);
    add_tests(cases, not_a_file, supported_file_systems, striping_of_ceph);
    tcase_add_loop_test(cases, striping_is_refused, 0, sizeof refusals / sizeof *refusals);
    add_tests(cases, late, names_of_addresses);
    Suite *suite = suite_create("storage queries");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
