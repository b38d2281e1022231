"""Parts of tf.contrib that are other names of what is public elsewhere: tf.contrib.keras, tf.contrib.checkpoint."""

import pytest

import stillflow as tf


def _find(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("checkpoint.CheckpointManager", "train.CheckpointManager"),
        ("checkpoint.Checkpointable", "contrib.eager.Checkpointable"),
        ("estimator.make_early_stopping_hook", "estimator.experimental.make_early_stopping_hook"),
        ("estimator.stop_if_higher_hook", "estimator.experimental.stop_if_higher_hook"),
        ("estimator.stop_if_lower_hook", "estimator.experimental.stop_if_lower_hook"),
        ("estimator.stop_if_no_increase_hook", "estimator.experimental.stop_if_no_increase_hook"),
        ("estimator.stop_if_no_decrease_hook", "estimator.experimental.stop_if_no_decrease_hook"),
        ("keras.applications.vgg16.VGG16", "keras.applications.vgg16.VGG16"),
        ("keras.backend.learning_phase", "keras.backend.learning_phase"),
        ("keras.datasets.cifar10.load_data", "keras.datasets.cifar10.load_data"),
        ("keras.layers.Dense", "keras.layers.Dense"),
        ("keras.models.Sequential", "keras.models.Sequential"),
        ("keras.preprocessing.sequence.pad_sequences", "keras.preprocessing.sequence.pad_sequences"),
        ("keras.utils.to_categorical", "keras.utils.to_categorical"),
    ],
)
def test_names_are_those_of_what_is_public_elsewhere(old, new):
    assert _find("contrib." + old) is _find(new)
