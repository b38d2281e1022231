"""Files as tf.gfile sees them: on local disks, and behind `scheme://` through fsspec, which is an extra."""

from __future__ import annotations

import contextlib
import errno
import glob as local_glob
import os
import re
import shutil
import sys
import threading
import uuid
from typing import Any, NamedTuple

from stillflow import errors

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")
_CODES = {
    errno.ENOENT: errors.NOT_FOUND,
    errno.EEXIST: errors.ALREADY_EXISTS,
    errno.EACCES: errors.PERMISSION_DENIED,
    errno.EPERM: errors.PERMISSION_DENIED,
    errno.EROFS: errors.PERMISSION_DENIED,
    errno.EISDIR: errors.FAILED_PRECONDITION,
    errno.ENOTDIR: errors.FAILED_PRECONDITION,
    errno.ENOTEMPTY: errors.FAILED_PRECONDITION,
    errno.EBUSY: errors.UNAVAILABLE,
    errno.EINVAL: errors.INVALID_ARGUMENT,
    errno.ENAMETOOLONG: errors.INVALID_ARGUMENT,
    errno.ENOSPC: errors.RESOURCE_EXHAUSTED,
    errno.EDQUOT: errors.RESOURCE_EXHAUSTED,
    errno.EFBIG: errors.OUT_OF_RANGE,
    errno.EMFILE: errors.RESOURCE_EXHAUSTED,
}


_MAGIC = re.compile(r"[*?[\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class FileStatistics(NamedTuple):
    length: int
    mtime_nsec: int
    is_directory: bool


def path_text(path) -> str:
    """A path as a string, of a string, bytes or os.PathLike. Raises TypeError for others."""
    if hasattr(path, "__fspath__"):
        path = path.__fspath__()
    if isinstance(path, bytes):
        return os.fsdecode(path)
    if not isinstance(path, str):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return path


@contextlib.contextmanager
def typed_errors(path):
    """Turns what the operating system says into tf.errors."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            code = errors.NOT_FOUND
        elif isinstance(error, FileExistsError):
            code = errors.ALREADY_EXISTS
        else:
            code = _CODES.get(error.errno or 0, errors.UNKNOWN)
        reason = error.strerror or str(error) or type(error).__name__
        raise errors.make(code, f"{path}; {reason}") from None
    except ValueError as error:  # a null byte in the path
        raise errors.make(errors.INVALID_ARGUMENT, f"{path!r}; {error}") from None


def system_of(path: str):
    """What works on the path, and the path as it takes it: (LocalFiles or RemoteFiles, path).

    Raises UnimplementedError for a scheme that nothing serves, with a word on how to get it.
    """
    match = _SCHEME.match(path)
    if match is None:
        return LOCAL, path
    if match[1] == "file":
        return LOCAL, "/" + path[len("file://") :].lstrip("/")
    return RemoteFiles(match[1], path), path


def _unimplemented(scheme, path, advice):
    message = f"File system scheme '{scheme}' not implemented (file: '{path}'). {advice}"
    return errors.make(errors.UNIMPLEMENTED, message)


_LARGE_FILE = 64 << 20
_removals: list[tuple[threading.Thread, int]] = []  # under way: the thread, and how many bytes it frees


@contextlib.contextmanager
def freed_by_thread(*paths):
    """Files that the block removes or replaces: the blocks of large ones, which take long to free, a thread frees."""
    handles = []
    for path in paths:
        with contextlib.suppress(OSError):  # whether it can be removed is another question
            size = os.lstat(path).st_size
            if size >= _LARGE_FILE:
                handles.append((os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), size))
    try:
        yield
    finally:
        _removals[:] = [removal for removal in _removals if removal[0].is_alive()]
        for handle, size in handles:
            # The last user of a file without a name gives up its blocks.
            thread = threading.Thread(target=os.close, args=(handle,), name="file removal", daemon=True)
            _removals.append((thread, size))
            thread.start()


def finish_removals(folder):
    """Returns when the space of removed files is free, if what is to be written to the folder may need it."""
    under_way = [(thread, size) for thread, size in _removals if thread.is_alive()]
    if under_way and shutil.disk_usage(folder or ".").free < 4 * sum(size for _, size in under_way):
        for thread, _ in under_way:
            thread.join()


class LocalFiles:
    """Local disks."""

    def open(self, path, mode):
        if mode == "rb" and os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return open(path, mode)

    def exists(self, path):
        return os.path.lexists(path) and os.path.exists(path)

    def remove(self, path):
        with freed_by_thread(path):
            os.unlink(path)

    def glob(self, pattern):
        """As TensorFlow: the folder that the pattern names in full must be there; without one, what is found begins
        with "./"; a backslash takes away a character's meaning."""
        folder = os.path.dirname(_MAGIC.split(pattern, maxsplit=1)[0])
        if folder:
            with typed_errors(folder):
                os.scandir(folder).close()
        else:
            pattern = "./" + pattern
        if os.path.basename(pattern) in ("", ".", ".."):  # no entry of a folder has that name
            return []
        pattern = _ESCAPED.sub(lambda escaped: local_glob.escape(escaped[1]), pattern)
        return sorted(local_glob.glob(pattern, **_ALSO_HIDDEN))

    def make_dir(self, path):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)

    def make_dirs(self, path):
        if not os.path.exists(path):
            os.makedirs(path, exist_ok=True)

    def remove_tree(self, path):
        shutil.rmtree(path)

    def rename(self, old, new):
        os.replace(old, new)

    def is_dir(self, path):
        return os.path.isdir(path)

    def list(self, path):
        return os.listdir(path)

    def stat(self, path):
        found = os.stat(path)
        return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))


# Python 3.10 leaves out names that begin with a dot, unless the pattern does.
_ALSO_HIDDEN: dict[str, Any] = {"include_hidden": True} if sys.version_info >= (3, 11) else {}
LOCAL = LocalFiles()


class RemoteFiles:
    """Whatever fsspec reaches under a scheme."""

    def __init__(self, scheme, path):
        try:
            import fsspec
        except ImportError:
            advice = "Remote paths need the extra 'remote': pip install stillflow[remote]"
            raise _unimplemented(scheme, path, advice) from None
        self._scheme = scheme
        try:
            self._files = fsspec.filesystem(scheme)
        except (ValueError, ImportError) as error:
            raise _unimplemented(scheme, path, str(error)) from None

    def open(self, path, mode):
        return self._files.open(path, mode)

    def exists(self, path):
        return self._files.exists(path)

    def remove(self, path):
        if self._files.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self._files.rm_file(path)

    def glob(self, pattern):
        return sorted(self._files.unstrip_protocol(path) for path in self._files.glob(pattern))

    def make_dir(self, path):
        with contextlib.suppress(FileExistsError):
            self._files.mkdir(path, create_parents=False)

    def make_dirs(self, path):
        self._files.makedirs(path, exist_ok=True)

    def remove_tree(self, path):
        self._files.rm(path, recursive=True)

    def rename(self, old, new):
        self._files.mv(old, new)

    def is_dir(self, path):
        return self._files.isdir(path)

    def list(self, path):
        return [name.rstrip("/").rsplit("/", 1)[-1] for name in self._files.ls(path, detail=False)]

    def stat(self, path):
        found = self._files.info(path)
        modified = found.get("mtime") or found.get("created") or 0
        modified = modified.timestamp() if hasattr(modified, "timestamp") else modified
        seconds = modified if isinstance(modified, (int, float)) else 0
        return FileStatistics(found.get("size") or 0, int(seconds * 1e9), found.get("type") == "directory")


def write_atomically(path: str, data: bytes):
    """Writes a file that appears whole, in the place of what has the name, or not at all. Raises OSError."""
    system, path = system_of(path)
    temporary = f"{path}.tmp{uuid.uuid4().hex}"
    try:
        with system.open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            if system is LOCAL:
                os.fsync(file.fileno())
        system.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            system.remove(temporary)
        raise
    if system is LOCAL:
        sync_folder(os.path.dirname(path) or ".")


def sync_folder(path: str):
    """Makes names that were given in a local folder last, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
