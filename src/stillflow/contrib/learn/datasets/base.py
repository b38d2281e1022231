"""Data sets in files of comma-separated values, and files that are downloaded: tf.contrib.learn.datasets.base."""

from __future__ import annotations

import collections
import csv
import errno
import functools
import random
import shutil
import time
import urllib.request
from pathlib import Path

import numpy as np

from stillflow.names import public, public_module

public_module("contrib.learn.datasets.base")

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(filename, target_dtype, features_dtype, target_column=-1):
    """A Dataset from a file whose first line begins with the numbers of samples and of features.

    Args:
      filename: the file.
      target_dtype, features_dtype: the types of the arrays.
      target_column: the column of the target.
    """
    with open(filename, newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        data = np.zeros((int(header[0]), int(header[1])), dtype=features_dtype)
        target = np.zeros((int(header[0]),), dtype=target_dtype)
        for i, row in enumerate(rows):
            target[i] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[i] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename, target_dtype, features_dtype, target_column=-1):
    """A Dataset from a file without such a line; see load_csv_with_header."""
    data, target = [], []
    with open(filename, newline="") as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype))


def shrink_csv(filename, ratio):
    """Writes every so many lines of a file to one whose name has "_small" before its points."""
    with open(filename.replace(".", "_small."), "w", newline="") as small, open(filename, newline="") as file:
        writer = csv.writer(small)
        for i, row in enumerate(csv.reader(file)):
            if i % ratio == 0:
                writer.writerow(row)


@public("contrib.learn.datasets.load_iris")
def load_iris(data_path=None):
    """Fisher's irises, a Dataset: 150 flowers with 4 sizes each, and which of 3 species they are.

    "The use of multiple measurements in taxonomic problems" (Fisher 1936).

    Args:
      data_path: a file of that form instead.
    """
    path = data_path or Path(__file__).with_name("iris.csv")
    return load_csv_with_header(path, target_dtype=np.int64, features_dtype=np.float64)


@public("contrib.learn.datasets.load_boston")
def load_boston(data_path=None):
    """The prices of houses in Boston, a Dataset: 506 places with 13 features each, and the median price.

    Args:
      data_path: the file, with the numbers of samples and features in its first line.

    Raises:
      ValueError: for no file, as the data are not here.
    """
    if data_path is None:
        raise ValueError("stillflow does not contain boston_house_prices.csv: pass its path as data_path.")
    return load_csv_with_header(data_path, target_dtype=np.float64, features_dtype=np.float64)


# ---- Files from elsewhere -----------------------------------------------------------------------------------


def retry(initial_delay, max_delay, factor=2.0, jitter=0.25, is_retriable=None):
    """Decorates a function that is called again where it fails, and at last once more.

    Args:
      initial_delay, max_delay: how long it waits first and at most, in seconds.
      factor: by how much it waits longer each time.
      jitter: by what share delays are longer or shorter at random.
      is_retriable: says of an exception whether to wait and call again; what else is raised goes through. By default
        all calls are repeated without waiting.

    Raises:
      ValueError: for delays that get shorter, or less than nothing.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def delays():
        delay = initial_delay
        while delay <= max_delay:
            yield delay * random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def wrap(function):
        @functools.wraps(function)
        def repeated(*args, **kwargs):
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is None:
                        continue
                    if not is_retriable(error):
                        raise
                    time.sleep(delay)
            return function(*args, **kwargs)

        return repeated

    return wrap


def _is_timeout(error):
    return isinstance(error, OSError) and error.errno == errno.ETIMEDOUT


@retry(initial_delay=1.0, max_delay=16.0, is_retriable=_is_timeout)
def urlretrieve_with_retry(url, filename=None):
    """urllib's urlretrieve, which is called again where it takes too long."""
    return urllib.request.urlretrieve(url, filename)


def maybe_download(filename, work_directory, source_url):
    """The path of a file in a folder, which is fetched if it is not there.

    Args:
      filename: its name.
      work_directory: the folder, which is made if it is not there.
      source_url: where it comes from: an address, also file://..., or the path of a file.

    Raises:
      FileNotFoundError: if it cannot be fetched.
    """
    path = Path(work_directory, filename)
    if path.exists():
        return str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        if Path(source_url).is_file():
            shutil.copyfile(source_url, partial)
        else:
            urlretrieve_with_retry(source_url, partial)
    except (OSError, ValueError) as error:
        partial.unlink(missing_ok=True)
        reason = getattr(error, "reason", None) or error
        raise FileNotFoundError(
            f"{filename} is not in {work_directory}, and cannot be downloaded from {source_url} ({reason}). Put the "
            "file there and run again."
        ) from None
    partial.replace(path)
    print("Successfully downloaded", filename, path.stat().st_size, "bytes.")
    return str(path)
