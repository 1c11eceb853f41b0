"""Files beneath the work folder, opened step by step so that no link can lead out of it.

Every component is opened relative to the one before it with O_NOFOLLOW, as the agent's user: a
link, device or FIFO at any place is refused, and a name that is swapped during the walk can only
lead to something the agent could have reached itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
# What the disk or its limits did, as against what lies in the way.
_DISK = {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EROFS}


class Blocked(Exception):
    """The agent's own files are in the way, or the path is no path beneath the work folder."""


class DiskFault(Exception):
    """The disk is full or broken."""


def _parts(path: str) -> list[bytes]:
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise Blocked(f"no file name can hold a lone surrogate, got {path[:200]!r}") from None
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if path.startswith("/") or b".." in parts or not parts or b"\0" in name:
        raise Blocked(f"expected a relative path beneath the work folder, got {path[:200]!r}")
    return parts


def _folder_of(root: str, parts: list[bytes], *, create: bool) -> int:
    """A descriptor of the folder that holds the last component."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
    except BaseException:
        os.close(here)
        raise
    return here


def _fault(error: OSError, path: str) -> Exception:
    if error.errno in _DISK:
        return DiskFault(f"{path}: {os.strerror(error.errno)}")
    if error.errno == errno.ELOOP:
        return Blocked(f"{path}: a link is in the way, and links are not followed")
    if error.errno == errno.ENXIO:
        return Blocked(f"{path}: a FIFO or socket is in the way")
    return Blocked(f"{path}: {os.strerror(error.errno or 0)}")


def write(root: str, path: str, data: bytes) -> None:
    """Write a regular file, making folders as needed.

    Raises:
        Blocked: the path leads outside, or a folder, link, FIFO, device or permission is in the
        way.
        DiskFault: the disk is full or broken.
    """
    parts = _parts(path)
    try:
        folder = _folder_of(root, parts, create=True)
        try:
            fd = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | _FILE, 0o644, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Blocked(f"{path}: something that is no regular file is in the way")
            os.ftruncate(fd, 0)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        finally:
            os.close(fd)
    except OSError as error:
        raise _fault(error, path) from error


def read(root: str, path: str, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Raises:
        Blocked: there is no such regular file that the agent may read.
        OverflowError: it is larger.
    """
    parts = _parts(path)
    try:
        folder = _folder_of(root, parts, create=False)
        try:
            fd = os.open(parts[-1], os.O_RDONLY | _FILE, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Blocked(f"{path}: not a regular file")
            data = bytearray()
            while len(data) <= limit:
                part = os.read(fd, min(1 << 20, limit + 1 - len(data)))
                if not part:
                    return bytes(data)
                data += part
        finally:
            os.close(fd)
    except OSError as error:
        raise _fault(error, path) from error
    raise OverflowError(f"{path}: more than {limit} bytes")
