#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tests/cluster/delayed: what each of its options does between two mounts of a folder.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

delayed=$top_builddir/tests/cluster/delayed
[[ -x $delayed ]] || tap_absent fuse
[[ -x $delayed ]] || tap_skip_all "fuse3 was not found (apt-get install libfuse3-dev fuse3)"
[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
[[ $EUID == 0 && -w /dev/fuse ]] || tap_skip_all "it needs root and /dev/fuse"
tap_tempdir
trap 'end; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir"/{backing,first,second} && cd "$tap_dir" || exit 1

end() { umount first second 2>/dev/null; }

cat >probe.py <<'END'
import fcntl, os

def opened(name): return os.open(name, os.O_RDWR)
def seen(fd): return "new" if os.pread(fd, 3, 0) == b"new" else "old"
def closed(*fds): list(map(os.close, fds))

# What the second mount, which has read "old", reads when the first has written "new".
def fresh():
    with open("backing/file", "wb") as file: file.write(b"old" + bytes(5000))
    a, b = opened("first/file"), opened("second/file")
    seen(b)
    os.pwrite(a, b"new", 0)
    yield seen(b)
    os.fsync(a)
    yield seen(b)
    os.fstat(b)
    yield seen(b)
    os.close(a)
    yield seen(b)
    c = opened("second/file")
    yield seen(c)
    closed(b, c)

# Whether neighbouring bytes that both write remain, whose file the first has truncated.
def neighbours():
    a = os.open("first/file", os.O_RDWR | os.O_TRUNC)
    b = opened("second/file")
    os.pwrite(a, b"A", 0)
    os.pwrite(b, b"B", 1)
    closed(a, b)
    with open("backing/file", "rb") as file: return "both" if file.read() == b"AB" else "lost"

# What the second reads after the first has written and released a lock.
def locked():
    a, b = opened("first/file"), opened("second/file")
    seen(b)
    fcntl.lockf(a, fcntl.LOCK_EX)
    os.pwrite(a, b"new", 0)
    try: fcntl.lockf(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: fcntl.lockf(a, fcntl.LOCK_UN)
    else: return "unseen"
    fcntl.lockf(b, fcntl.LOCK_EX)
    try: return seen(b)
    finally: closed(a, b)

print(*fresh(), neighbours(), locked())
END

# with_mounts COMMAND...: runs it between two mounts with $options
with_mounts() {
    local mount
    for mount in first second; do
        "$delayed" -o "${options:-rw}" backing $mount || return
    done
    timeout --kill-after=5 "$HANG_LIMIT" "$@"
    end
}

# The second reads: at once, after fsync, fstat, close, open; neighbours; after a lock.
while read -r options wanted; do
    [[ $options != none ]] || options=
    tap_is "$(with_mounts "$PYTHON3" probe.py 2>&1)" "$wanted" "${options:-no option}: what the other mount reads"
done <<'END'
none new new new new new both new
delay old new new new new both old
lies old old old new new both old
pages old new new new new lost old
stale old old new new new both old
stale=ever old old old old old both old
delay,locks old new new new new both new
stale,locks old old new new new both new
delay,stale,locks old old new new new both new
END
tap_is "$(findmnt -n -t fuse.delayed -o TARGET | grep -F "$tap_dir")" "" "nothing is mounted afterwards"
tap_refuses 2 nowhere "$delayed" nowhere first
tap_plan
