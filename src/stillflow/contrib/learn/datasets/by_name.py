"""Data sets by their names: tf.contrib.learn.datasets.load_dataset and make_dataset."""

from __future__ import annotations

from stillflow.contrib.learn.datasets import base, synthetic, text_datasets
from stillflow.examples.tutorials.mnist.input_data import load_mnist
from stillflow.names import public

DATASETS = public("contrib.learn.datasets.DATASETS")(
    {
        "iris": base.load_iris,
        "boston": base.load_boston,
        "mnist": load_mnist,
        "dbpedia": text_datasets.load_dbpedia,
    }
)
SYNTHETIC = public("contrib.learn.datasets.SYNTHETIC")({"circles": synthetic.circles, "spirals": synthetic.spirals})


@public("contrib.learn.datasets.load_dataset")
def load_dataset(name, size="small", test_with_fake_data=False):
    """A data set: "iris", "boston", "mnist" or "dbpedia", the only one with a size.

    Raises:
      ValueError: for another name.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name](size, test_with_fake_data) if name == "dbpedia" else DATASETS[name]()


@public("contrib.learn.datasets.make_dataset")
def make_dataset(name, n_samples=100, noise=None, seed=42, *args, **kwargs):
    """Points that are computed: "circles" or "spirals"; see their functions.

    Raises:
      ValueError: for another name.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    return SYNTHETIC[name](*args, n_samples=n_samples, noise=noise, seed=seed, **kwargs)
