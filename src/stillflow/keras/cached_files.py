"""get_file: a file from elsewhere, kept in a folder."""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from stillflow.keras.callbacks.progress import Progbar
from stillflow.names import public


def _folder(cache_dir, cache_subdir):
    base = Path("~/.keras" if cache_dir is None else cache_dir).expanduser()
    if cache_dir is None:
        base.mkdir(parents=True, exist_ok=True)
    if not os.access(base, os.W_OK):
        base = Path(tempfile.gettempdir()) / ".keras"
    folder = base / cache_subdir
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@public("python.keras.utils.data_utils._hash_file")
def hash_of_file(fpath, algorithm="sha256", chunk_size=65535):
    """The hash of a file as hexadecimal text: "sha256", or that of MD5 for another algorithm."""
    hasher = hashlib.sha256() if algorithm == "sha256" else hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            hasher.update(chunk)
    return hasher.hexdigest()


@public("python.keras.utils.data_utils.validate_file")
def has_hash(fpath, file_hash, algorithm="auto", chunk_size=65535):
    """Whether a file has that hash, of SHA-256 if the algorithm is "auto" and the hash has 64 digits."""
    is_sha = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    return hash_of_file(fpath, "sha256" if is_sha else "md5", chunk_size) == str(file_hash)


def _download(origin, path):
    """Copies what an address or a path stands for; there is no file unless all of it could be read."""
    address = Path(origin).resolve().as_uri() if Path(origin).exists() else origin
    part = path.with_name(path.name + ".part")
    try:
        with urllib.request.urlopen(address) as source, open(part, "wb") as file:
            size = int(source.headers.get("Content-Length") or 0) or None
            progress, done = Progbar(size), 0
            while chunk := source.read(1 << 16):
                file.write(chunk)
                done += len(chunk)
                progress.update(done)
        part.replace(path)
    except urllib.error.HTTPError as error:
        raise Exception(f"URL fetch failure on {origin}: {error.code} -- {error.msg}") from error
    except urllib.error.URLError as error:
        message = f"URL fetch failure on {origin}: {error.errno} -- {error.reason}"
        raise Exception(f"{message}. Put the file at {path} and run again.") from error
    finally:
        part.unlink(missing_ok=True)


def _extract(path, folder, archive_format):
    """Extracts an archive beside it, if it is one of those formats. Members never leave the folder."""
    formats = ["tar", "zip"] if archive_format == "auto" else archive_format or []
    for kind in [formats] if isinstance(formats, str) else formats:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            return
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
            return


@public("keras.utils.get_file")
def get_file(
    fname, origin, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets", hash_algorithm="auto",
    extract=False, archive_format="auto", cache_dir=None,
):  # fmt: skip
    """The path of a file that is copied from elsewhere, if it is not there already.

    Args:
      fname: its name.
      origin: an address (http:, https:, file:, ...) or a path.
      untar: whether it is a tar archive, to be extracted; the path is that of `fname` without ".tar.gz".
      md5_hash: the old name of `file_hash`, for MD5.
      file_hash: what the hash of its bytes is; a file with another one is copied again.
      cache_subdir: the folder in `cache_dir`.
      hash_algorithm: "md5" or "sha256"; "auto" for that which the hash is as long as.
      extract: whether it is an archive, to be extracted.
      archive_format: "tar", "zip" or a list of these; "auto" for both.
      cache_dir: the folder; ~/.keras by default.

    Raises:
      Exception: if it cannot be copied.
    """
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = _folder(cache_dir, cache_subdir)
    path = folder / (f"{fname}.tar.gz" if untar else fname)
    is_there = path.exists()
    if is_there and file_hash is not None and not has_hash(path, file_hash, hash_algorithm):
        print(
            f"A local file was found, but it seems to be incomplete or outdated because the {hash_algorithm} file "
            f"hash does not match the original value of {file_hash} so we will re-download the data."
        )
        is_there = False
    if not is_there:
        print("Downloading data from", origin)
        _download(origin, path)
    if untar:
        if not (folder / fname).exists():
            _extract(path, folder, "tar")
        return str(folder / fname)
    if extract:
        _extract(path, folder, archive_format)
    return str(path)
