"""tf.contrib.eager: metrics that are called, in graphs and where operations run, and networks of layers."""

import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph

tfe = tf.contrib.eager


def make_metrics():
    return [
        (tfe.metrics.Mean(), ([1.0, 3.0, 5.0, 7.0], [1, 1, 0, 0])),
        (tfe.metrics.Accuracy("my acc"), ([1, 2, 3, 4], [0, 2, 3, 4])),
        (tfe.metrics.SparseAccuracy(), ([0, 1], [[0.9, 0.1], [0.8, 0.2]])),
        (tfe.metrics.BinaryAccuracy(0.5), ([0, 1], [0.2, 0.7])),
        (tfe.metrics.CategoricalAccuracy(), ([[0.0, 1.0]], [[0.2, 0.7]])),
    ]


RESULTS = [2.0, 0.75, 0.5, 1.0, 1.0]


def test_metrics_in_a_graph():
    made = make_metrics()
    updates = [metric(*arguments) for metric, arguments in made]
    results = [metric.result() for metric, _ in made]
    accuracy = made[1][0]
    assert (accuracy.name, [v.name for v in accuracy.variables]) == ("my acc", ["my_acc/numer:0", "my_acc/denom:0"])
    assert tf.get_collection("metric_variables") == tf.local_variables()
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        session.run(updates)
        assert session.run(results) == RESULTS
        session.run(accuracy.init_variables())
        assert session.run(accuracy.variables) == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="except in build"):
        accuracy.add_variable("more")


def test_metrics_where_operations_run():
    with EagerGraph().as_default():
        made = make_metrics()
        for metric, arguments in made:
            metric(*arguments)
        assert [float(metric.result()) for metric, _ in made] == RESULTS
        mean, other = made[0][0], tfe.metrics.Mean()
        other([8.0])
        mean.aggregate([other])
        assert float(mean.value()()) == 4.0
        with pytest.raises(TypeError, match="must be the same type"):
            mean.aggregate([made[1][0]])
        mean.init_variables()
        mean([1.0, 2.0])
        assert float(mean.result()) == 1.5


class Two(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.first = self.track_layer(tf.layers.Dense(4))
        self.second = self.track_layer(tf.layers.Dense(2))

    def call(self, inputs):
        return self.second(self.first(inputs))


class Nested(tfe.Network):
    def __init__(self):
        super().__init__()
        self.one = self.track_layer(Two())
        self.rest = self.track_layer(tfe.Sequential([Two(), tf.layers.Dense(3, name="q"), tf.nn.relu]))

    def call(self, inputs):
        return self.rest(self.one(inputs))


def names(network):
    return [v.name.removesuffix(":0") for v in network.variables]


def test_variables_of_networks_are_named_after_them():
    net = Two(name="net")
    outputs = net(tf.ones([1, 8]))
    assert names(net) == ["net/dense/kernel", "net/dense/bias", "net/dense_1/kernel", "net/dense_1/bias"]
    assert outputs.name == "net_2/dense_1/BiasAdd:0"
    assert (net.get_layer("dense_1"), net.get_layer(index=0), net.layers) == (net.second, net.first, [*net.layers])
    first, second = Two(), Two()
    first(tf.ones([1, 1]))
    second(tf.ones([1, 1]))
    assert (first.name, second.name) == ("two", "two_1")
    nested = Nested()
    assert nested(tf.ones([2, 3])).shape == [2, 3]
    assert names(nested)[:1] + names(nested)[-3:] == [
        "nested/two/dense/kernel", "nested/sequential/two/dense_1/bias", "nested/sequential/q/kernel",
        "nested/sequential/q/bias",
    ]  # fmt: skip
    with tf.variable_scope("scope"):
        inner = Two()
    inner(tf.ones([1, 1]))
    assert inner.name == "scope/two"


def test_networks_refuse_what_tensorflow_refuses():
    Two(name="net")(tf.ones([1, 1]))
    with pytest.raises(ValueError, match="A Network named 'net' already exists"):
        Two(name="net")(tf.ones([1, 1]))
    with pytest.raises(ValueError, match="Forward slashes"):
        Two(name="a/b")
    with pytest.raises(ValueError, match="does not yet have a final name"):
        Two().name  # noqa: B018
    with pytest.raises(TypeError, match="not a tf.layers.Layer"):
        Two().track_layer(3)
    with pytest.raises(ValueError, match="No such layer: x"):
        Two().get_layer("x")
