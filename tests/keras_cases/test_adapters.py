"""Data of all kinds as batches, and how many samples and batches a run in eager execution takes of arrays."""

import contextlib

import numpy as np
import pytest
import scipy.sparse
from stillflow.python.keras.engine import data_adapter
from stillflow.python.platform import tf_logging

import stillflow as tf
from stillflow.eager.graph import EagerGraph

X, Y = np.arange(30.0).reshape((10, 3)), np.arange(10.0)


class Numbered(tf.keras.utils.Sequence):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return X[2 * index : 2 * index + 2], Y[2 * index : 2 * index + 2]


def _generator():
    yield from Numbered()


def _eagerly(function):
    with EagerGraph().as_default():
        return function()


def _batches(adapter):
    return [[part.numpy() for part in tf.nest.flatten(batch)] for batch in adapter.get_dataset()]


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("ListsOfScalarsDataAdapter", X.tolist),
        ("TensorLikeDataAdapter", lambda: {"a": X, "b": tf.constant(X)}),
        ("CompositeTensorDataAdapter", lambda: [tf.sparse.from_dense(X), X]),
        ("DatasetAdapter", lambda: tf.data.Dataset.range(3)),
        ("GeneratorDataAdapter", _generator),
        ("KerasSequenceAdapter", Numbered),
    ],
)
def test_each_kind_of_data_has_one_adapter(kind, make):
    x = make()
    assert data_adapter.select_data_adapter(x, None) is getattr(data_adapter, kind)


def test_adapter_refuses_other_kinds():
    with pytest.raises(ValueError, match=r"DatasetAdapter'> Cannot handle input 7"):
        data_adapter.DatasetAdapter(7)


def test_data_of_no_kind_are_described():
    with pytest.raises(
        ValueError, match=r"Failed to find data adapter .* <class 'object'>, .*'int'.*keys and.*'float'"
    ):
        data_adapter.select_data_adapter(object(), {1: 2.0})


@pytest.mark.parametrize(("size", "steps", "sizes"), [(4, None, [4, 4, 2]), (None, 5, [2] * 5), (None, 1, [10])])
def test_arrays_come_in_batches(size, steps, sizes):
    def run():
        adapter = data_adapter.TensorLikeDataAdapter(X, Y, np.ones(10), batch_size=size, steps=steps, epochs=2)
        assert not adapter.should_recreate_iterator(None)
        return adapter, _batches(adapter)

    adapter, batches = _eagerly(run)
    assert [len(each[0]) for each in batches] == 2 * sizes
    np.testing.assert_array_equal(np.concatenate([each[0] for each in batches]), [*X, *X])
    assert (adapter.get_size(), adapter.batch_size()) == (len(sizes), sizes[0])
    assert adapter.has_partial_batch() == (sizes[-1] != sizes[0])
    assert adapter.partial_batch_size() == (2 if size == 4 else None)


def test_arrays_are_in_another_order_in_each_epoch():
    np.random.seed(3)
    batches = _eagerly(lambda: _batches(data_adapter.TensorLikeDataAdapter(Y, batch_size=5, epochs=2, shuffle=True)))
    found = np.concatenate([each[0] for each in batches])
    np.random.seed(3)
    orders = [np.random.permutation(10), np.random.permutation(10)]
    np.testing.assert_array_equal(found, np.concatenate(orders))


def test_lists_and_sparse_tensors_come_in_batches():
    def run():
        lists = data_adapter.ListsOfScalarsDataAdapter([1, 2, 3], [[1.0], [2.0], [3.0]], batch_size=2)
        sparse = data_adapter.CompositeTensorDataAdapter(tf.sparse.from_dense(X), Y, batch_size=6)
        dense = [tf.sparse.to_dense(each[0]).numpy() for each in sparse.get_dataset()]
        return _batches(lists), dense, sparse.partial_batch_size()

    lists, dense, partial = _eagerly(run)
    np.testing.assert_array_equal(np.concatenate([each[0] for each in lists]), [1, 2, 3])
    np.testing.assert_array_equal(np.concatenate(dense), X)
    assert partial == 4


@pytest.mark.parametrize("workers", [0, 1])
def test_generators_are_peeked_at(workers):
    adapter, batches = _eagerly(
        lambda: _with_batches(data_adapter.GeneratorDataAdapter(_generator(), workers=workers))
    )
    assert (adapter.get_size(), adapter.batch_size(), len(batches)) == (None, 2, 5)
    np.testing.assert_array_equal(np.concatenate([each[1] for each in batches]), Y)
    with pytest.raises(ValueError, match="`y` argument is not supported when using python generator"):
        data_adapter.GeneratorDataAdapter(_generator(), Y)


def test_sequences_say_their_size():
    adapter, batches = _eagerly(lambda: _with_batches(data_adapter.KerasSequenceAdapter(Numbered(), workers=0)))
    assert (adapter.get_size(), adapter.batch_size(), len(batches)) == (5, 2, 5)
    with pytest.raises(ValueError, match="`sample_weight` argument is not supported when using `keras.utils.Seq"):
        data_adapter.KerasSequenceAdapter(Numbered(), sample_weights=Y)


def _with_batches(adapter):
    return adapter, _batches(adapter)


# ---- Runs ---------------------------------------------------------------------------------------------------


def _model():
    made = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    made.compile("sgd", "mse")
    return made


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.fit(X, Y, steps_per_epoch=3), "samples 10 is not divisible by steps 3"),
        (lambda m: m.fit(X, Y, batch_size=5, steps_per_epoch=4), "samples 10 is less than .* 5 and steps 4"),
        (lambda m: m.evaluate(X, Y, batch_size=5, steps=4), "samples 10 is less than .* 5 and steps 4"),
        (lambda m: m.predict(X, steps=3), "samples 10 is not divisible by steps 3"),
        (lambda m: m.fit(X, Y.tolist()), "Failed to find data adapter that can handle input: .*ndarray"),
        (lambda m: m.fit([X.tolist()], [Y.tolist()]), "got array with shape .1, 10, 3."),
    ],
)
def test_arrays_that_cannot_be_cut_so_are_refused(call, message):
    with EagerGraph().as_default(), pytest.raises(ValueError, match=message):
        call(_model())


def test_steps_count_what_is_left_for_training(capsys):
    with EagerGraph().as_default():
        _model().fit(X, Y, steps_per_epoch=2, validation_split=0.2)
        assert "Train on 8 samples, validate on 2 samples" in capsys.readouterr().out
        assert _model().predict(X.tolist()).shape == (10, 1)


@pytest.mark.parametrize("is_eager", [False, True])
def test_weights_of_time_steps(is_eager):
    """Mean of squares of 1 in two of six steps; the other weights are 0."""
    layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(1, kernel_initializer="zeros"), input_shape=(3, 2))
    with EagerGraph().as_default() if is_eager else contextlib.nullcontext():
        model = tf.keras.Sequential([layer])
        model.compile("sgd", "mse", sample_weight_mode="temporal")
        weights = np.array([[1, 0, 0], [0, 0, 1]])
        loss = model.test_on_batch(np.ones((2, 3, 2)), np.ones((2, 3, 1)), sample_weight=weights)
        np.testing.assert_allclose(loss, 2 / 6, rtol=1e-6)
        with pytest.raises(ValueError, match="Unknown entries in sample_weight_mode dictionary"):
            model.compile("sgd", "mse", sample_weight_mode={"unknown": "temporal"})


@pytest.mark.parametrize("is_eager", [False, True])
def test_metric_that_cannot_be_reset_is_refused(is_eager):
    class Measured(tf.keras.layers.Layer):
        def call(self, inputs):
            self.add_metric(tf.reduce_mean(inputs), name="mean")
            return inputs

    mode = EagerGraph().as_default() if is_eager else contextlib.nullcontext()
    with mode, pytest.raises(ValueError, match="We do not support adding an aggregated metric result tensor"):
        tf.keras.Sequential([Measured(input_shape=(2,))])


def test_sparse_matrices_come_from_generators():
    def sparse():
        for x, y in Numbered():
            yield scipy.sparse.csr_matrix(x), y

    def run(batches):
        np.random.seed(1)
        model = _model()
        model.set_weights([np.ones((3, 1)), np.zeros(1)])
        return model.fit(batches, steps_per_epoch=5, verbose=0).history["loss"]

    with EagerGraph().as_default():
        assert run(sparse()) == run(_generator())


def test_warnings_go_through_the_functions_of_the_logger(monkeypatch):
    found = []
    monkeypatch.setattr(tf_logging, "warning", lambda text, *arguments: found.append(text))
    _model().fit(X, Y, steps_per_epoch=1, verbose=0)
    assert found[0].startswith("When passing input data as arrays, do not specify `steps_per_epoch`")
