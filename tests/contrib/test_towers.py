"""tf.contrib.estimator: models that are split among devices, and deep models that name their inputs."""

import pickle

import numpy as np
import pytest

import stillflow as tf

X = np.linspace(-1, 1, 24).reshape(12, 2).astype(np.float32)
Y = (X.sum(1, keepdims=True) * 3 + 1).astype(np.float32)
_MEAN, _SUM = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, tf.losses.Reduction.SUM
_PROCESSOR = "/cpu:0"

# Of TensorFlow 1.15.5: loss and error of the evaluation, weights, the first prediction.
EXPECTED = {
    (1, _MEAN): (0.0052655492909, 0.0595831163228, [2.9154875278473, 3.0069367885590], -4.6092815399170),
    (2, _MEAN): (0.0052655381151, 0.0595830343664, [2.9154875278473, 3.0069370269775], -4.6092815399170),
    (2, _SUM): (3.9681067466736, 1.1836065053940, [3.9823763370514, 4.1228694915771], -6.1310620307922),
    (3, _SUM): (10.898463249207, 1.6034067869186, [4.3708014488220, 4.5250997543335], -6.7279834747314),
}


def _model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    predicted = tf.matmul(features["x"], w) + b
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"p": predicted})
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    if params["wraps"]:
        optimizer = tf.contrib.estimator.TowerOptimizer(optimizer)
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, predicted)},
    )


def _estimator(folder, devices, reduction=_MEAN, wraps=True):
    return tf.estimator.Estimator(
        tf.contrib.estimator.replicate_model_fn(_model_fn, reduction, devices),
        str(folder),
        params={"rate": 0.05, "wraps": wraps},
    )


def _input_fn(epochs, size=6):
    return tf.estimator.inputs.numpy_input_fn({"x": X}, Y, batch_size=size, shuffle=False, num_epochs=epochs)


@pytest.mark.parametrize(("count", "reduction"), EXPECTED)
def test_towers_train_as_in_tensorflow(count, reduction, tmp_path):
    estimator = _estimator(tmp_path, [_PROCESSOR] * count, reduction)
    estimator.train(_input_fn(3))
    found = estimator.evaluate(_input_fn(1))
    predicted = next(estimator.predict(_input_fn(1)))["p"][0]
    loss, error, weights, first = EXPECTED[count, reduction]
    np.testing.assert_allclose([found["loss"], found["mae"], predicted], [loss, error, first], rtol=1e-4)
    np.testing.assert_allclose(estimator.get_variable_value("w").ravel(), weights, rtol=1e-5)


def test_wrong_models_and_batches_are_refused(tmp_path):
    with pytest.raises(ValueError, match="reduced in some way"):
        tf.contrib.estimator.replicate_model_fn(_model_fn, tf.losses.Reduction.NONE)
    with pytest.raises(ValueError, match="wrap optimizers with TowerOptimizer"):
        _estimator(tmp_path, [_PROCESSOR] * 2, wraps=False).train(_input_fn(1))

    def input_fn():
        return {"x": tf.constant(X[:5])}, tf.constant(Y[:5])

    with pytest.raises(ValueError, match="Batch size 5 needs to be divisible"):
        _estimator(tmp_path, [_PROCESSOR] * 2).train(input_fn)


def test_deep_models_name_their_features_and_columns(tmp_path):
    from stillflow.python.feature_column import feature_column

    columns = [feature_column._numeric_column("x", shape=(2,)), feature_column._numeric_column("z")]
    estimator = tf.contrib.estimator.DNNRegressorWithLayerAnnotations((2, 2), columns, str(tmp_path))

    def input_fn():
        return {"x": tf.constant(X), "z": tf.constant(X[:, :1]), "unused": tf.constant(Y)}, tf.constant(Y)

    estimator.train(input_fn, steps=2)
    with tf.Graph().as_default() as graph:
        estimator.model_fn(*input_fn(), tf.estimator.ModeKeys.EVAL, None)
        assert sorted(graph.get_collection("layer_annotations/unprocessed_features/keys")) == ["x", "z"]
        assert graph.get_collection("layer_annotatons/processed_features/keys") == ["x", "z"]
        info = tf.saved_model.build_tensor_info(tf.constant(0.0))
        assert graph.get_collection("layer_annotatons/processed_features/values")[0].Unpack(info)
        assert [size.size for size in info.tensor_shape.dim] == [12, 2]
        pickled = graph.get_collection("layer_annotations/feature_columns")
        assert [pickle.loads(each) for each in pickled] == columns
    plain = tf.estimator.DNNRegressor((2, 2), columns, str(tmp_path))
    assert plain.evaluate(input_fn, steps=1) == estimator.evaluate(input_fn, steps=1)
