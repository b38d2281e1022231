"""Texts of DBpedia by their classes: tf.contrib.learn.datasets.text_datasets."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import numpy as np

from stillflow.contrib.learn.datasets import base
from stillflow.names import public_module

public_module("contrib.learn.datasets.text_datasets")

DBPEDIA_URL = "https://github.com/le-scientifique/torchDatasets/raw/master/dbpedia_csv.tar.gz"


def maybe_download_dbpedia(data_dir):
    """Fetches the texts into a folder, if they are not there. Raises FileNotFoundError if that is not possible."""
    folder = Path(data_dir, "dbpedia_csv")
    if not all((folder / name).exists() for name in ("train.csv", "test.csv")):
        archive = base.maybe_download("dbpedia_csv.tar.gz", data_dir, DBPEDIA_URL)
        with tarfile.open(archive, "r:*") as files:
            files.extraction_filter = getattr(tarfile, "data_filter", None)
            files.extractall(data_dir)


def load_dbpedia(size="small", test_with_fake_data=False):
    """The texts, Datasets of (class, title, text), from a folder dbpedia_data below $TF_EXP_BASE_DIR.

    Args:
      size: "small" for every thousandth of them.
      test_with_fake_data: not here: raises ValueError.

    Raises:
      FileNotFoundError: if they are not there and cannot be fetched.
    """
    if test_with_fake_data:
        raise ValueError("stillflow contains no texts: test_with_fake_data must be False.")
    folder = Path(os.getenv("TF_EXP_BASE_DIR", ""), "dbpedia_data")
    maybe_download_dbpedia(folder)
    found = []
    for name in ("train", "test"):
        path = str(folder / "dbpedia_csv" / f"{name}.csv")
        if size == "small":
            base.shrink_csv(path, 1000)
            path = path.replace(f"{name}.csv", f"{name}_small.csv")
        found.append(base.load_csv_without_header(path, np.int32, np.str_, target_column=0))
    return base.Datasets(train=found[0], validation=None, test=found[1])
