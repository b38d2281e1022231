"""tf.distribute's strategies on one device: scopes, replicas, and what is refused."""

import copy

import numpy as np
import pytest

import stillflow as tf
from stillflow import contrib

D = tf.distribute
STRATEGIES = [
    lambda: D.OneDeviceStrategy("/cpu:0"),
    D.MirroredStrategy,
    D.experimental.CentralStorageStrategy,
    D.experimental.ParameterServerStrategy,
    D.experimental.MultiWorkerMirroredStrategy,
    contrib.distribute.MirroredStrategy,
    contrib.distribute.ParameterServerStrategy,
    contrib.distribute.CollectiveAllReduceStrategy,
]


def test_outside_of_scopes_nothing_is_distributed():
    assert not D.has_strategy()
    assert not D.in_cross_replica_context()
    context = D.get_replica_context()
    assert (context.num_replicas_in_sync, context.replica_id_in_sync_group) == (1, 0)
    strategy = D.get_strategy()
    assert context.strategy is strategy
    assert strategy.experimental_run_v2(lambda x: x + 1, args=(2,)) == 3
    assert context.merge_call(lambda strategy, x: (strategy, x), args=(3,)) == (strategy, 3)
    with pytest.raises(RuntimeError, match=r"worker_devices\(\) method unsupported by default"):
        _ = strategy.extended.worker_devices
    with pytest.raises(RuntimeError, match="Should only create a single instance"):
        copy.deepcopy(strategy)


@pytest.mark.parametrize("make", STRATEGIES)
def test_a_program_of_one_replica_trains(make):
    strategy = make()
    assert strategy.num_replicas_in_sync == 1
    assert strategy.extended.worker_devices == ("/replica:0/task:0/device:CPU:0",)
    with strategy.scope():
        assert D.get_strategy() is strategy
        assert D.in_cross_replica_context()
        v = tf.Variable([1.0, 2.0], name="v")
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).batch(2))

        def replica(x):
            assert D.get_replica_context().devices == strategy.extended.worker_devices
            loss = tf.reduce_sum(v) * tf.reduce_sum(x)
            train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
            with tf.control_dependencies([train]):
                return tf.identity(loss)

        loss = strategy.reduce(D.ReduceOp.SUM, strategy.experimental_run(replica, iterator))
    assert not D.has_strategy()
    assert strategy.extended.variable_created_in_scope(v)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), iterator.initialize()])
        assert [session.run(loss), session.run(loss)] == [9, 0]
        np.testing.assert_array_equal(session.run(v), [-2, -1])


def test_scopes_nest_only_in_themselves():
    strategy, other = D.OneDeviceStrategy("/cpu:0"), D.MirroredStrategy()
    with strategy.scope(), strategy.scope():
        with pytest.raises(RuntimeError, match=r"Mixing different tf\.distribute\.Strategy objects"):
            other.scope().__enter__()
        with pytest.raises(RuntimeError, match=r"Must not nest tf\.distribute\.Strategy scopes"):
            D.get_replica_context.__globals__["STRATEGY"].scope().__enter__()
        assert D.get_strategy() is strategy
    with pytest.raises(RuntimeError, match="Need to be inside"):
        strategy.extended.colocate_vars_with(None)


def test_a_strategy_may_be_set_for_good():
    strategy = D.MirroredStrategy()
    D.experimental_set_strategy(strategy)
    assert D.get_strategy() is strategy
    D.experimental_set_strategy(None)
    assert not D.has_strategy()
    with strategy.scope(), pytest.raises(RuntimeError, match="Must not be called inside"):
        D.experimental_set_strategy(strategy)


def test_contexts_that_are_wrong():
    strategy = D.OneDeviceStrategy("/cpu:0")

    def replica():
        context = D.get_replica_context()
        with pytest.raises(RuntimeError, match="Method requires being in cross-replica context, use"):
            strategy.reduce("SUM", 1)
        return context

    context = strategy.experimental_run_v2(replica)
    with strategy.scope():
        with pytest.raises(RuntimeError, match="Need to be inside `call_for_each_replica"):
            context.merge_call(lambda strategy: None)
        x = tf.get_variable("x", initializer=1.0)
        with pytest.raises(RuntimeError, match="Use `_distributed_apply"):
            tf.train.GradientDescentOptimizer(0.5).minimize(x * x)


def test_reductions_that_are_refused():
    strategy = D.MirroredStrategy()
    with pytest.raises(ValueError, match="'FOO' is not a valid ReduceOp"):
        strategy.reduce("foo", tf.ones([2]), axis=0)
    with pytest.raises(TypeError, match="Expected `axis` to be an integer"):
        strategy.reduce("mean", tf.ones([2]), axis=[0])
    with pytest.raises(ValueError, match="nvalid reduction dimension 3"):
        strategy.reduce("mean", tf.ones([2]), axis=3)


def test_the_mean_of_unknown_sizes():
    strategy = D.MirroredStrategy()
    for shape in ([None], [None, 2], None):
        x = tf.placeholder(tf.float32, shape)
        mean = strategy.reduce("mean", x, axis=0)
        with tf.Session() as session:
            value = [1.0, 4.0] if shape == [None] else [[1.0, 2.0], [3.0, 5.0]]
            np.testing.assert_array_equal(session.run(mean, {x: value}), np.mean(value, 0))


def test_devices_that_are_not_here():
    with pytest.raises(ValueError, match="A strategy has one device here"):
        D.MirroredStrategy(["/gpu:0", "/gpu:1"])
    with pytest.raises(ValueError, match="A strategy has one device here"):
        contrib.distribute.MirroredStrategy(num_gpus=2)
    with pytest.raises(ValueError, match="cannot specify both"):
        contrib.distribute.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)


def test_clusters_that_are_not_here(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:1"]}}')
    with pytest.raises(ValueError, match="this cluster has several tasks"):
        D.experimental.MultiWorkerMirroredStrategy()


def test_inputs_are_those_of_one_pipeline():
    context = D.InputContext(3, 1, 4)
    assert (context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync) == (3, 1, 4)
    assert context.get_per_replica_batch_size(8) == 2
    with pytest.raises(ValueError, match="The `global_batch_size` 9 is not divisible by `num_replicas_in_sync` 4 "):
        context.get_per_replica_batch_size(9)
    strategy = D.MirroredStrategy()
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3))
    made = strategy.experimental_distribute_datasets_from_function(lambda context: tf.data.Dataset.range(5))
    rows = strategy.experimental_make_numpy_dataset(np.arange(4))
    iterators = [tf.data.make_initializable_iterator(each) for each in (dataset, made, rows)]
    with tf.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        assert session.run([iterator.get_next() for iterator in iterators]) == [0, 0, 0]
    with pytest.raises(ValueError, match="Input replication mode not supported: 3"):
        strategy.make_input_fn_iterator(None, 3)


def test_reductions_of_one_device_are_its_values():
    for kind in (D.NcclAllReduce, D.HierarchicalCopyAllReduce):
        ops = kind(num_packs=2)
        assert ops.reduce("sum", 3, None) == ops.broadcast(3, None) == 3
        assert ops.batch_reduce(D.ReduceOp.MEAN, [(3, None), (4, None)]) == [3, 4]
        with pytest.raises(ValueError, match="requires num_packs >= 0, but -1 is specified"):
            kind(-1)


def test_a_strategy_is_copied_with_what_it_is_of():
    strategy = D.OneDeviceStrategy("/cpu:0")
    copied = copy.deepcopy(strategy)
    with copied.scope():
        assert D.get_strategy() is copied
    with pytest.raises(RuntimeError, match="Must only deepcopy DistributionStrategy"):
        copy.copy(strategy)


def test_an_estimator_trains_with_a_strategy(tmp_path):
    def model_fn(features, labels, mode):
        seen.append((D.has_strategy(), D.in_cross_replica_context()))
        w = tf.get_variable("w", initializer=0.0)
        loss = tf.reduce_mean(tf.square(features * w - labels))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, predictions=w)

    def input_fn(input_context=None):
        batch = 2 if input_context is None else input_context.get_per_replica_batch_size(2)
        return tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [2.0, 4.0])).repeat(5).batch(batch)

    weights = []
    seen = []
    for strategy in (None, D.MirroredStrategy()):
        config = tf.estimator.RunConfig(train_distribute=strategy, eval_distribute=strategy)
        estimator = tf.estimator.Estimator(model_fn, str(tmp_path / str(strategy is None)), config)
        estimator.train(input_fn, max_steps=4)
        assert estimator.evaluate(input_fn)["global_step"] == 4
        weights.append(estimator.get_variable_value("w"))
    assert seen == [(False, False)] * 2 + [(True, False)] * 2
    assert weights[0] == weights[1]
    both = contrib.distribute.DistributeConfig(D.MirroredStrategy(), None)
    assert tf.estimator.RunConfig(experimental_distribute=both).train_distribute is both.train_distribute
    with pytest.raises(ValueError, match="not both"):
        tf.estimator.RunConfig(experimental_distribute=both, train_distribute=D.MirroredStrategy())
