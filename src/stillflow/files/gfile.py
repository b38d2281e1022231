"""tf.gfile: files by the names that TensorFlow gives them, local or, with the extra `remote`, behind a scheme."""

from __future__ import annotations

import errno
import os

from stillflow import errors
from stillflow.files.filesystem import path_text, system_of, typed_errors
from stillflow.names import public, public_module
from stillflow.platform.compat import as_bytes

public_module("python.platform.gfile")

BLOCK_BYTES = 1 << 20


@public("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile:
    """A file, opened when it is first read or written. Text is UTF-8; a "b" in `mode` gives and takes bytes.

    Args:
      name: a path.
      mode: "r", "w", "a", "r+", "w+" or "a+", with or without "b". Writing replaces the file, or appends for "a".

    Raises:
      tf.errors.InvalidArgumentError: for another mode.
      tf.errors.PermissionDeniedError: for reading what is open for writing only, and the other way round.
      tf.errors.NotFoundError: when what is not there is read.
    """

    def __init__(self, name, mode="r"):
        self._reader = self._writer = None
        kind = mode.replace("b", "")
        if kind not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.make(errors.INVALID_ARGUMENT, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name = name
        self._mode = mode
        self._is_binary = "b" in mode
        self._may_read = kind != "w" and kind != "a"
        self._may_write = kind != "r"

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _open(self, mode):
        path = path_text(self._name)
        with typed_errors(path):
            files, path = system_of(path)
            return files.open(path, mode)

    def _reading(self):
        if not self._may_read:
            raise errors.make(errors.PERMISSION_DENIED, "File isn't open for reading")
        if self._reader is None:
            self._reader = self._open("rb")
        return self._reader

    def _writing(self):
        if not self._may_write:
            raise errors.make(errors.PERMISSION_DENIED, "File isn't open for writing")
        if self._writer is None:
            self._writer = self._open("ab" if "a" in self._mode else "wb")
        return self._writer

    def _given(self, content):
        return content if self._is_binary else content.decode()

    def size(self):
        """The number of bytes."""
        return Stat(self._name).length

    def read(self, n=-1):
        """The next `n` bytes, as text in text mode; all that is left for -1."""
        stream = self._reading()
        with typed_errors(self._name):
            content = stream.read(n)
        return self._given(content)

    def readline(self):
        """The next line, with a newline at its end; a carriage return before that is dropped."""
        stream = self._reading()
        with typed_errors(self._name):
            line = stream.readline()
        if line.endswith(b"\r\n"):
            line = line[:-2] + b"\n"
        return self._given(line)

    def readlines(self):
        """All lines that are left."""
        return list(self)

    def write(self, file_content):
        """Adds text, or bytes, at the end."""
        content = as_bytes(file_content)
        stream = self._writing()
        with typed_errors(self._name):
            stream.write(content)

    def seek(self, offset=None, whence=0, position=None):
        """Goes on reading elsewhere: `offset` bytes from the start (whence 0), from here (1), or from the end (2).

        Raises tf.errors.OutOfRangeError beyond the end.
        """
        stream = self._reading()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        offset = position if offset is None else offset
        size = self.size()
        if whence not in (0, 1, 2):
            message = f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            raise errors.make(errors.INVALID_ARGUMENT, message)
        target = offset + (0, stream.tell(), size)[whence]
        if target < 0:
            raise errors.make(errors.INVALID_ARGUMENT, f"Seeking a negative position: {target}")
        stream.seek(min(target, size))
        if target > size:
            raise errors.make(errors.OUT_OF_RANGE, "reached end of file")

    def tell(self):
        """The position for reading, or for writing if it cannot be read."""
        return self._reading().tell() if self._may_read else self._writing().tell()

    def seekable(self):
        return True

    def flush(self):
        """Hands what was written to the operating system."""
        if self._writer is not None:
            with typed_errors(self._name):
                self._writer.flush()

    def close(self):
        """Ends reading and writing; the next read or write opens the file anew."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        if reader is not None:
            reader.close()
        if writer is not None:
            with typed_errors(self._name):
                writer.close()

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


@public("gfile.FastGFile")
class FastGFile(GFile):
    """A GFile under another name."""


Open = GFile


def _call(method, path, *arguments):
    text = path_text(path)
    with typed_errors(text):
        files, inner = system_of(text)
        return getattr(files, method)(inner, *arguments)


@public("gfile.Exists")
def Exists(filename):  # noqa: N802
    """Whether there is a file or a directory at a path, a string."""
    return _call("exists", filename)


@public("gfile.IsDirectory")
def IsDirectory(dirname):  # noqa: N802
    """Whether there is a directory of that name."""
    return _call("is_dir", dirname)


@public("gfile.Stat")
def Stat(filename):  # noqa: N802
    """An object with `length`, `mtime_nsec` and `is_directory`. Raises tf.errors.NotFoundError."""
    return _call("stat", filename)


@public("gfile.Remove")
def Remove(filename):  # noqa: N802
    """Deletes a file. Raises tf.errors.NotFoundError, and FailedPreconditionError for a directory."""
    if IsDirectory(filename):
        raise errors.make(errors.FAILED_PRECONDITION, f"{path_text(filename)}; {os.strerror(errno.EISDIR)}")
    _call("remove", filename)


@public("gfile.MkDir")
def MkDir(dirname):  # noqa: N802
    """Makes a directory; its parent must be there. Does nothing if it is there itself, or has no name."""
    if dirname not in ("", b""):
        _call("make_dir", dirname)


@public("gfile.MakeDirs")
def MakeDirs(dirname):  # noqa: N802
    """Makes a directory and its parents, as far as they are missing. Does nothing for the name `""`, which is what
    `os.path.dirname` gives for a file of the current directory."""
    if dirname not in ("", b""):
        _call("make_dirs", dirname)


@public("gfile.DeleteRecursively")
def DeleteRecursively(dirname):  # noqa: N802
    """Deletes a directory and all that is in it. Raises tf.errors.NotFoundError, FailedPreconditionError."""
    if not Exists(dirname):
        raise errors.make(errors.NOT_FOUND, f"{path_text(dirname)} not found")
    if not IsDirectory(dirname):
        raise errors.make(errors.FAILED_PRECONDITION, f"{path_text(dirname)}; {os.strerror(errno.ENOTDIR)}")
    _call("remove_tree", dirname)


@public("gfile.ListDirectory")
def ListDirectory(dirname):  # noqa: N802
    """The names of what is in a directory, in any order. Raises tf.errors.NotFoundError."""
    if not IsDirectory(dirname):
        raise errors.make(errors.NOT_FOUND, f"Could not find directory {path_text(dirname)}")
    return _call("list", dirname)


@public("gfile.Glob")
def Glob(filename):  # noqa: N802
    """The paths that match a pattern, or one of a list of patterns, in alphabetical order for each pattern.

    Raises tf.errors.NotFoundError if the directory of a pattern is not there.
    """
    patterns = [filename] if isinstance(filename, (str, bytes)) or hasattr(filename, "__fspath__") else filename
    return [path for pattern in patterns for path in _call("glob", pattern)]


def _check_free(path, overwrite):
    if not overwrite and Exists(path):
        raise errors.make(errors.ALREADY_EXISTS, "file already exists")


@public("gfile.Copy")
def Copy(oldpath, newpath, overwrite=False):  # noqa: N802
    """Copies a file. Raises tf.errors.AlreadyExistsError if there is one already, unless `overwrite`."""
    _check_free(newpath, overwrite)
    with GFile(oldpath, "rb") as source, GFile(newpath, "wb") as target:
        content = source.read(BLOCK_BYTES)
        target.write(content)
        while content:
            content = source.read(BLOCK_BYTES)
            target.write(content)


@public("gfile.Rename")
def Rename(oldname, newname, overwrite=False):  # noqa: N802
    """Renames or moves a file. Raises tf.errors.AlreadyExistsError if there is one already, unless `overwrite`."""
    _check_free(newname, overwrite)
    _call("rename", oldname, system_of(path_text(newname))[1])


@public("gfile.Walk")
def Walk(top, in_order=True):  # noqa: N802
    """Pairs of a directory with the names of its directories and of its files: (path, [directory], [file]).

    Parents come before children if `in_order`, else after them. A directory that is not there has none.
    """
    if not IsDirectory(top):
        return
    top = path_text(top)
    names = sorted(ListDirectory(top))
    folders = [name for name in names if IsDirectory(os.path.join(top, name))]
    here = top, folders, [name for name in names if name not in folders]
    if in_order:
        yield here
    for folder in folders:
        yield from Walk(os.path.join(top, folder), in_order)
    if not in_order:
        yield here
