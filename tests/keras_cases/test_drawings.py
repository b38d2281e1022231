"""Pictures of models: the graphs that pydot gets, without Graphviz."""

import pytest

import stillflow as tf

pydot = pytest.importorskip("pydot")
layers = tf.keras.layers


@pytest.fixture(autouse=True)
def _drawn_by_nobody(monkeypatch):
    monkeypatch.setattr(pydot.Dot, "create", lambda *_, **__: b"")


def labels(dot):
    return [node.get_label().strip('"') for node in dot.get_nodes() if node.get_label()]


def nested():
    inputs = tf.keras.Input(shape=(None, 3))
    inner = tf.keras.Sequential([layers.Dense(2, name="dense", input_shape=(None, 3))], name="inner")
    outer = layers.TimeDistributed(layers.Dense(4), name="steps")(inner(inputs))
    return tf.keras.Model(inputs, outer)


def test_a_chain_with_shapes():
    model = tf.keras.Sequential([layers.Dense(2, name="a", input_shape=(3,)), layers.Dense(1, name="b")])
    dot = tf.keras.utils.model_to_dot(model, show_shapes=True, rankdir="LR")
    assert labels(dot)[1].replace("\n", "\\n") == r"a: Dense\n|{input:|output:}|{{(?, 3)}|{(?, 2)}}"
    assert len(dot.get_edges()) == 2
    assert dot.get_rankdir() == "LR"


def test_wrapped_layers_and_inner_models():
    dot = tf.keras.utils.model_to_dot(nested(), show_layer_names=False)
    assert labels(dot)[1:] == ["Sequential", "TimeDistributed(Dense)"]
    dot = tf.keras.utils.model_to_dot(nested(), expand_nested=True)
    assert [cluster.get_label() for cluster in dot.get_subgraphs()] == ["inner"]
    assert len(dot.get_edges()) == 2


def test_a_subclassed_model_is_one_node():
    class Net(tf.keras.Model):
        def call(self, inputs):
            return inputs

    assert labels(tf.keras.utils.model_to_dot(Net(name="net"))) == ["net"]


def test_the_picture_has_the_format_of_its_name(monkeypatch):
    written = []
    monkeypatch.setattr(pydot.Dot, "write", lambda _, path, format: written.append((path, format)), raising=False)
    tf.keras.utils.plot_model(nested(), "model.svg")
    tf.keras.utils.plot_model(nested(), "model")
    assert written == [("model.svg", "svg"), ("model", "png")]


def test_without_graphviz(monkeypatch):
    def fail(*_, **__):
        raise OSError

    monkeypatch.setattr(pydot.Dot, "create", fail)
    with pytest.raises(ImportError, match="You must install pydot and graphviz"):
        tf.keras.utils.plot_model(nested())
