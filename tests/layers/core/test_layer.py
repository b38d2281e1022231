"""What all layers do, whatever names their variables: attributes, nodes, masks, training, weights, config."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.layer_names import to_snake_case, unique_object_name
from stillflow.layers.core.nodes import KerasHistory


class Scale(Layer):
    """Multiplies by a weight."""

    def build(self, input_shape):
        self.factor = self.add_weight("factor", initializer="ones", regularizer="l2")

    def call(self, inputs):
        return inputs * self.factor


class Outer(Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.first = Scale()
        self.others = [Scale(name="second")]
        self.plain = 3

    def call(self, inputs):
        for layer in (self.first, *self.others):
            inputs = layer(inputs)
        return inputs


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0])


def source(tensor, layer=None):
    """Makes a tensor one that a layer has returned."""
    layer = layer or Layer(name="source")
    tensor._keras_history = KerasHistory(layer, 0, 0)
    return tensor


# ---- Names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "snake"),
    [("Conv2DTranspose", "conv2d_transpose"), ("LSTMCell", "lstm_cell"), ("_Mine", "private__mine"), ("A", "a")],
)
def test_snake_case(name, snake):
    assert to_snake_case(name) == snake


def test_names_are_counted_in_each_graph():
    assert [Scale().name for _ in range(3)] == ["scale", "scale_1", "scale_2"]
    assert [unique_object_name("a") for _ in range(2)] == ["a_1", "a_2"]
    assert unique_object_name("a", namespace="other") == "a_1"
    assert unique_object_name("b", avoid_names={"b", "b_1"}, zero_based=True) == "b_2"
    with tf.Graph().as_default():
        assert Scale().name == "scale"


# ---- Attributes ---------------------------------------------------------------------------------------------


def test_layers_among_attributes_bring_their_weights(x):
    layer = Outer()
    layer(x)
    assert [weight.name for weight in layer.weights] == ["outer/scale/factor:0", "outer/second/factor:0"]
    assert layer.trainable_weights == layer.weights
    assert len(layer.losses) == 2
    layer.others.append(Scale())
    assert [each.name for each in layer._inner_layers()] == ["scale", "second", "scale_1"]
    assert [name for name, _ in layer._checkpoint_dependencies] == ["first", "others"]
    assert layer.submodules == (layer.first, *layer.others)


def test_a_layer_that_is_not_trainable_has_none_inside_that_is(x):
    layer = Outer()
    layer(x)
    layer.trainable = False
    assert not layer.trainable_weights
    assert not layer.first.trainable_weights
    assert len(layer.non_trainable_weights) == 2
    layer.trainable = True
    assert len(layer.trainable_weights) == 2


def test_variables_among_attributes_are_weights():
    layer = Layer()
    layer.v = tf.Variable(1.0)
    layer.fixed = tf.Variable(1.0, trainable=False)
    layer.same = layer.v
    layer.more = [tf.Variable(2.0)]
    assert layer.trainable_weights == [layer.v, layer.more[0]]
    assert layer.non_trainable_weights == [layer.fixed]
    del layer.v
    assert len(layer.trainable_weights) == 2
    layer.same = tf.Variable(3.0)
    assert layer.trainable_weights == [layer.more[0], layer.same]


def test_a_replaced_layer_is_given_up():
    layer = Outer()
    layer.first = Scale(name="new")
    assert [each.name for each in layer._inner_layers()] == ["second", "new"]
    del layer.others
    assert [each.name for each in layer._inner_layers()] == ["new"]


def test_attributes_may_be_set_before_the_layer_is_made():
    class Early(Layer):
        def __init__(self):
            self.inner = Scale()
            super().__init__()

    assert [each.name for each in Early()._inner_layers()] == ["scale"]


def test_properties_are_not_set():
    with pytest.raises(AttributeError, match='Can\'t set the attribute "weights", likely because it conflicts'):
        Layer().weights = 3


# ---- Nodes --------------------------------------------------------------------------------------------------


def test_calls_on_outputs_of_layers_are_recorded(x):
    first, second = Layer(name="first"), Scale()
    y = second(source(x, first))
    assert y._keras_history == (second, 0, 0)
    assert second.input is x
    assert second.output is y
    assert second.input_shape == second.output_shape == (2,)
    (node,) = second.inbound_nodes
    assert first.outbound_nodes == [node]
    assert node.iterate_inbound() == [(first, 0, 0, x)]
    assert node.get_config() == {
        "outbound_layer": "scale", "inbound_layers": "first", "node_indices": 0, "tensor_indices": 0
    }  # fmt: skip
    second(source(tf.ones([2, 3])))
    assert second.get_input_shape_at(1) == (2, 3)
    with pytest.raises(AttributeError, match='The layer "scale has multiple inbound nodes, with different input'):
        _ = second.input_shape
    with pytest.raises(ValueError, match="Asked to get output at node 2, but the layer has only 2 inbound nodes"):
        second.get_output_at(2)


def test_an_input_that_is_an_output_is_copied(x):
    layer = Layer()
    y = layer(source(x))
    assert y is not x
    assert y.op.type == "Identity"


def test_calls_on_other_tensors_are_not_recorded(x):
    layer = Scale()
    layer(x)
    assert not layer.inbound_nodes


# ---- Masks and training -------------------------------------------------------------------------------------


class Masked(Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        self.given = mask
        return inputs + 1


def test_masks_go_from_layer_to_layer(x):
    x._keras_mask = tf.constant([True, False])
    layer = Masked()
    y = layer(source(x))
    assert layer.given is x._keras_mask
    assert y._keras_mask is x._keras_mask
    assert layer.output_mask is layer.input_mask is layer.get_input_mask_at(0) is x._keras_mask
    layer(x, mask=None)
    assert layer.given is None


def test_layers_that_do_not_know_masks_end_them(x):
    x._keras_mask = tf.constant([True, False])
    assert Scale()(x)._keras_mask is None


def test_layers_inside_are_told_of_training(x):
    class Inner(Layer):
        def call(self, inputs, training=None):
            self.given = training
            return inputs * 2

    class Around(Layer):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def call(self, inputs, training=None):
            return self.inner(inputs)

    layer = Around()
    layer(x, training=1)
    assert layer.inner.given is True
    layer(x)
    assert layer.inner.given is None
    Scale()(x, training=True)  # which it does not take


# ---- Weights ------------------------------------------------------------------------------------------------


def test_weights_are_got_and_set(x):
    layer = Outer()
    layer(x)
    assert [value.tolist() for value in layer.get_weights()] == [1.0, 1.0]
    layer.set_weights([np.float32(2.0), np.float32(3.0)])
    assert layer.get_weights() == [2.0, 3.0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert layer.get_weights() == [1.0, 1.0]
        session.run(layer.first.factor.assign(5.0))
        assert layer.get_weights() == [5.0, 1.0]
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        layer.set_weights([np.ones(2), np.ones(2)])


def test_weights_can_be_given_beforehand(x):
    layer = Scale(weights=[np.float32(4.0)])
    layer(x)
    assert layer.get_weights() == [4.0]


# ---- Config -------------------------------------------------------------------------------------------------


def test_config():
    layer = Layer(name="a", trainable=False, dtype=tf.float64, input_shape=(3,), batch_size=2)
    config = layer.get_config()
    assert config == {"name": "a", "trainable": False, "batch_input_shape": (2, 3), "dtype": "float64"}
    assert Layer.from_config(config).get_config() == config


def test_config_of_a_layer_with_arguments_must_be_told():
    class Sized(Layer):
        def __init__(self, size):
            super().__init__()

    with pytest.raises(NotImplementedError, match="Layers with arguments in `__init__` must override `get_config`"):
        Sized(3).get_config()


def test_control_flow_of_python_is_explained(x):
    class Branching(Layer):
        def call(self, inputs):
            return inputs if bool(inputs > 0) else -inputs

    with pytest.raises(TypeError, match="Pass `dynamic=True` to the class constructor"):
        Branching()(x)


def test_control_flow_on_tensors_is_converted(x):
    class Positive(Layer):
        def call(self, inputs):
            total = tf.reduce_sum(inputs)
            if total < 0:
                return -inputs
            while tf.reduce_sum(inputs) < 5:
                inputs = inputs + 1
            return inputs

    with tf.Session() as session:
        values = session.run([Positive()(tf.constant([-2.0, 1.0])), Positive()(tf.constant([1.0, 2.0]))])
    np.testing.assert_array_equal(values, [[2.0, -1.0], [2.0, 3.0]])
