"""Inner functions of Keras that programs call: data sets' order, sums of outputs, kernels, ragged metrics, GPUs."""

import numpy as np
import pytest
from stillflow.python.keras.engine import training_utils
from stillflow.python.keras.preprocessing import text
from stillflow.python.keras.utils import kernelized_utils, multi_gpu_utils

import stillflow as tf

Dataset = tf.data.Dataset


def _refused(check, dataset):
    try:
        check(dataset)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("make", "may_batch", "may_reorder"),
    [
        (lambda data: data.map(lambda x: x).filter(lambda x: x > 0).cache().repeat(2).take(1), False, False),
        (lambda data: data.batch(2).prefetch(1), True, False),
        (lambda data: data.padded_batch(2, []), True, False),
        (lambda data: data.window(2), True, False),
        (lambda data: data.shuffle(3).skip(1), False, True),
        (lambda data: data.apply(tf.data.experimental.shuffle_and_repeat(3)), False, True),
        (lambda data: Dataset.zip((data, data.shuffle(3))), False, True),
        (lambda data: data.concatenate(data.flat_map(lambda x: data)), True, True),
        (lambda data: tf.data.TextLineDataset([]), False, False),
    ],
)
def test_what_data_sets_do_to_elements(make, may_batch, may_reorder):
    dataset = make(Dataset.range(5))
    assert _refused(training_utils.assert_not_batched, dataset) == may_batch
    assert _refused(training_utils.assert_not_shuffled, dataset) == may_reorder


def test_outputs_of_batches_come_together():
    data = np.arange(12.0).reshape((6, 2))
    for uses_steps in (False, True):
        found = training_utils.OutputsAggregator(uses_steps, num_samples=6)
        for start in (0, 4):
            batch = data[start : start + 4]
            if not start:
                found.create((batch, {"x": batch}))
            found.aggregate((batch, {"x": batch}), start, start + len(batch))
        found.finalize()
        np.testing.assert_array_equal(found.results[0], data)
        np.testing.assert_array_equal(found.results[1]["x"], data)
    found = training_utils.SliceAggregator(6)
    found.aggregate(data[:2], 0, 2)
    found.finalize()  # the run has been stopped
    np.testing.assert_array_equal(found.results, data[:2])
    with pytest.raises(ValueError, match="Mismatch between expected batch size"):
        training_utils.SliceAggregator(6).aggregate(data[:2], 0, 6)


def test_kernels_of_pairs():
    x, y = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]), np.array([0.5, 1.0])
    difference = x - y
    with tf.Session() as session:
        gaussian = session.run(kernelized_utils.exact_gaussian_kernel(tf.constant(x), tf.constant(y), 2.0))
        laplacian = session.run(kernelized_utils.exact_laplacian_kernel(tf.constant(x), tf.constant(y), 2.0))
        np.testing.assert_allclose(gaussian[:, 0], np.exp(-(difference**2).sum(1) / 8))
        np.testing.assert_allclose(laplacian[:, 0], np.exp(-np.abs(difference).sum(1) / 2))
        np.testing.assert_allclose(session.run(kernelized_utils.inner_product(x, y)), x @ y[:, None])
    with pytest.raises(ValueError, match="outermost dimensions of the input tensors should match"):
        kernelized_utils.exact_gaussian_kernel(tf.ones([3]), tf.ones([2]), 1.0)


def test_metrics_of_ragged_tensors():
    truth, guess = tf.ragged.constant([[1], [0, 1]]), tf.ragged.constant([[1], [1, 1]])
    weights = tf.ragged.constant([[0.5], [0.5, 1.0]])
    with tf.Session() as session:
        metric = tf.keras.metrics.Accuracy()
        plain, weighted = metric(truth, guess), metric(truth, guess, sample_weight=weights)
        session.run([variable.initializer for variable in metric.variables])
        assert session.run(plain) == pytest.approx(2 / 3)
        session.run([variable.initializer for variable in metric.variables])
        assert session.run(weighted) == pytest.approx(0.75)
    with pytest.raises(TypeError, match="does not have acceptable types"):
        metric(truth, [[1], [0]])
    with pytest.raises(TypeError, match="Ragged mask is not allowed"):
        metric([[1.0], [0.0]], [[1.0], [0.0]], sample_weight=weights)


def test_gpus_are_missing():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    with pytest.raises(ValueError, match=r"'/cpu:0', '/gpu:0', '/gpu:1'\]. However this machine only has: \['/cpu:0"):
        tf.keras.utils.multi_gpu_model(model, 2)
    with pytest.raises(ValueError, match=r"call `multi_gpu_model` with `gpus >= 2`. Received: `gpus=1`"):
        tf.keras.utils.multi_gpu_model(model, 1)
    with pytest.raises(ValueError, match=r"with `len\(gpus\) >= 2`. Received: `gpus=\[3\]`"):
        tf.keras.utils.multi_gpu_model(model, [3])
    assert multi_gpu_utils._normalize_device_name("/job:a/device:GPU:1") == "/gpu:1"


def test_text_is_an_inner_module_too():
    assert text.Tokenizer is tf.keras.preprocessing.text.Tokenizer


def test_modes_have_tags_in_the_words_of_keras_too():
    tags = tf.python.saved_model.model_utils.EXPORT_TAG_MAP
    modes = tf.python.keras.utils.mode_keys.ModeKeys
    assert [tags[mode] for mode in (modes.TRAIN, modes.TEST, modes.PREDICT)] == [["train"], ["eval"], ["serve"]]
    assert tags[tf.estimator.ModeKeys.PREDICT] == ["serve"]


def test_optimizers_by_the_names_of_their_modules():
    optimizers = tf.python.keras.optimizers
    assert optimizers.adam_v2.Adam is tf.keras.optimizers.Adam
    assert optimizers.gradient_descent_v2.SGD is tf.keras.optimizers.SGD


def test_layers_of_experimental_names_are_deserialized():
    column = tf.feature_column.sequence_numeric_column("x")
    layer = tf.keras.experimental.SequenceFeatures([column], name="features")
    made = tf.keras.layers.deserialize(tf.keras.layers.serialize(layer))
    assert (type(made), made.name) == (type(layer), "features")
