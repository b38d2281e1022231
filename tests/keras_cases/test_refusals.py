"""What models are not trained with here says what to do instead."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph


def model():
    made = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    made.compile("sgd", "mse")
    return made


def pairs(size=4):
    return tf.data.Dataset.from_tensor_slices((np.ones((8, 3), np.float32), np.ones((8, 1), np.float32))).batch(size)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"x": lambda: tf.compat.v1.data.make_one_shot_iterator(pairs())},
            ValueError,
            "not iterators that have been",
        ),
        ({"x": lambda: pairs().repeat()}, ValueError, "must specify the `steps_per_epoch` argument"),
        ({"x": pairs, "y": np.ones(8)}, ValueError, "should not specify a target"),
        ({"x": pairs, "batch_size": 4}, ValueError, "`batch_size` argument must not be specified"),
        ({"x": pairs, "validation_split": 0.5}, ValueError, "`validation_split` argument is not supported"),
        ({"x": lambda: (pair for pair in [])}, ValueError, "specify the number of steps via the `steps_per_epoch`"),
        (
            {"x": lambda: (each for each in [(1, 2, 3, 4)]), "steps_per_epoch": 1},
            ValueError,
            "a tuple of 1 or 2 or 3",
        ),
    ],
)
def test_data_that_do_not_fit_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        model().fit(**{**arguments, "x": arguments["x"]()}, verbose=0)


def test_what_a_generator_raises_arrives():
    def failing():
        yield np.ones((2, 3)), np.ones((2, 1))
        raise KeyError("no more files")

    for workers in (0, 1, 2):
        with pytest.raises(KeyError, match="no more files"):
            model().fit(failing(), steps_per_epoch=3, workers=workers, verbose=0)


def test_data_that_end_early_stop_the_training(caplog):
    history = model().fit(
        ((np.ones((2, 3)), np.ones((2, 1))) for _ in range(3)), steps_per_epoch=2, epochs=3, verbose=0
    )
    assert len(history.epoch) == 2
    assert "iterator ran out of data; interrupting training" in caplog.text


def test_operation_by_operation_means_eager_execution():
    with pytest.raises(ValueError, match="You can only set `run_eagerly=True` if eager execution is enabled"):
        model().compile("sgd", "mse", run_eagerly=True)
    with EagerGraph().as_default(), pytest.raises(ValueError, match="`batch_size` or `steps` is required"):
        model().fit(pairs(), validation_data=(np.ones((2, 3)), np.ones((2, 1))), verbose=0)


class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.full((2, 3), index, np.float32), np.ones((2, 1), np.float32)


def test_processes_make_the_batches_that_threads_make():
    found = []
    for settings in ({"workers": 0}, {"workers": 2}, {"workers": 2, "use_multiprocessing": True}):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            found.append(model().fit(Batches(), shuffle=False, verbose=0, epochs=2, **settings).history["loss"])
    assert found[0] == found[1] == found[2]
