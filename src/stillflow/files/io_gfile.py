"""tf.io.gfile: files and directories under newer names; see gfile."""

from __future__ import annotations

import os

from stillflow import errors
from stillflow.files import gfile
from stillflow.names import public


@public("io.gfile.copy")
def copy(src, dst, overwrite=False):
    """Copies a file; AlreadyExistsError if `dst` is there, unless `overwrite`."""
    gfile.Copy(src, dst, overwrite)


@public("io.gfile.exists")
def exists(path):
    """Whether there is a file or directory."""
    return gfile.Exists(path)


@public("io.gfile.glob")
def glob(pattern):
    """The paths that match a pattern, or one of a list of patterns."""
    return gfile.Glob(pattern)


@public("io.gfile.isdir")
def isdir(path):
    """Whether there is a directory."""
    return gfile.IsDirectory(path)


@public("io.gfile.listdir")
def listdir(path):
    """The names in a directory; NotFoundError if there is none."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    return gfile.ListDirectory(path)


@public("io.gfile.makedirs")
def makedirs(path):
    """Makes a directory and those that it is in; one that is there is fine."""
    gfile.MakeDirs(path)


@public("io.gfile.mkdir")
def mkdir(path):
    """Makes a directory; the one that it is in has to be there."""
    gfile.MkDir(path)


@public("io.gfile.remove")
def remove(path):
    """Removes a file; NotFoundError if there is none."""
    gfile.Remove(path)


@public("io.gfile.rename")
def rename(src, dst, overwrite=False):
    """Renames a file or directory; AlreadyExistsError if `dst` is there, unless `overwrite`."""
    gfile.Rename(src, dst, overwrite)


@public("io.gfile.rmtree")
def rmtree(path):
    """Removes a directory with all that is in it; NotFoundError if there is none."""
    gfile.DeleteRecursively(path)


@public("io.gfile.stat")
def stat(path):
    """The size and the time of the last change of a file; NotFoundError if there is none."""
    return gfile.Stat(path)


@public("io.gfile.walk")
def walk(top, topdown=True, onerror=None):
    """Pairs of a directory with the names of its directories and of its files: (path, [directory], [file]).

    Parents come before children if `topdown`, else after them. For a directory that is not there, `onerror` is called
    with the error, if it is given.
    """
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    top = os.fspath(top)
    folders = [name for name in names if isdir(os.path.join(top, name))]
    here = top, folders, [name for name in names if name not in folders]
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(top, folder), topdown, onerror)
    if not topdown:
        yield here
