"""tf.contrib.keras: the names of tf.keras."""

import pytest

import stillflow as tf


@pytest.mark.parametrize(
    "name",
    ["layers.Dense", "models.Sequential", "datasets.cifar10.load_data", "backend.learning_phase",
     "utils.to_categorical", "preprocessing.sequence.pad_sequences", "applications.vgg16.VGG16"],
)  # fmt: skip
def test_names_are_those_of_keras(name):
    old, new = tf.contrib.keras, tf.keras
    for part in name.split("."):
        old, new = getattr(old, part), getattr(new, part)
    assert old is new
