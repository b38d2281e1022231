"""tf.contrib.tpu on the processor, against what TensorFlow 1.15.5 made of the same programs."""

import json
from pathlib import Path

import pytest
from contrib import tpu_scenarios
from stillflow.contrib.tpu.python.tpu import tpu_function as contrib_tpu_function
from stillflow.python.tpu import tpu_function

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "contrib_tpu.json").read_text())


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.summary.FileWriterCache.clear()  # it knows folders by their paths, which are relative here
    found = json.loads(json.dumps(getattr(tpu_scenarios, name)(tf)))
    assert found == RECORDED[name]


def _model_fn(features, labels, mode, params):
    loss = tf.reduce_mean(tf.square(tf.get_variable("w", []) * features))
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    assert optimizer.get_slot_names() == ["momentum"]
    call = (lambda loss: tf.summary.scalar("loss", tf.reduce_mean(loss)), [tf.reshape(loss, [1])])
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=call)


def test_sharded_optimizers_and_host_calls_run_on_the_processor(tmp_path):
    config = tf.contrib.tpu.RunConfig(model_dir=str(tmp_path))
    estimator = tf.contrib.tpu.TPUEstimator(_model_fn, config=config, use_tpu=False, train_batch_size=2)
    estimator.train(lambda params: tf.ones([params["batch_size"]]), steps=2)
    assert estimator.get_variable_value("global_step") == 2


def test_a_tpu_is_said_to_be_missing(tmp_path):
    config = tf.contrib.tpu.RunConfig(model_dir=str(tmp_path))
    estimator = tf.contrib.tpu.TPUEstimator(_model_fn, config=config, train_batch_size=2)
    with pytest.raises(RuntimeError, match="Cannot find any TPU cores .* pass use_tpu=False"):
        estimator.train(lambda params: tf.ones([params["batch_size"]]), steps=2)


def test_a_shard_context_tells_the_number_of_shards():
    context = tpu_function.get_tpu_context()
    assert context is contrib_tpu_function.get_tpu_context()
    assert context.number_of_shards is None
    with tpu_function.tpu_shard_context(8):
        assert context.number_of_shards == 8
        nested = tpu_function.tpu_shard_context(2)
        with pytest.raises(NotImplementedError, match="tpu_shard_context cannot be nested."):
            nested.__enter__()
        assert context.number_of_shards == 8
    assert context.number_of_shards is None
