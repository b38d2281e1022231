"""Layers that stand for plain operations between layers, and for losses and metrics that a model was given."""

from __future__ import annotations

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.importer.nodes import parse_input_name, parse_nodes
from stillflow.keras.backend.running import make_function
from stillflow.layers.core.call_context import call_context
from stillflow.layers.core.layer import Layer
from stillflow.names import public

_PREFIX = "tf_op_layer_"


@public("python.keras.engine.base_layer.TensorFlowOpLayer")
class TensorFlowOpLayer(Layer):
    """A layer that is one operation.

    Args:
      node_def: the operation's node: a NodeDef message, or its bytes, or what its JSON form is made of.
      name: the operation's name.
      constants: {index: array}, the inputs that do not come from layers.
      trainable, dtype: as of other layers.
    """

    def __init__(self, node_def, name, constants=None, trainable=True, dtype=None):
        super().__init__(name=_PREFIX + name, trainable=trainable, dtype=dtype, autocast=False)
        message = protobuf.message("NodeDef")
        if isinstance(node_def, dict):
            from google.protobuf import json_format

            node_def = json_format.ParseDict(node_def, message())
        elif isinstance(node_def, (bytes, str)):
            node_def = message.FromString(node_def.encode() if isinstance(node_def, str) else node_def)
        self.node_def = node_def
        self.constants = {int(index): constant for index, constant in (constants or {}).items()}
        self.built = True

    def call(self, inputs):
        inputs = nest.flatten(inputs)
        for index, constant in sorted(self.constants.items()):
            inputs.insert(index, ops.constant(constant, name=self.node_def.input[index].partition(":")[0]))
        graph_def = protobuf.message("GraphDef")()
        node = graph_def.node.add()
        node.CopyFrom(self.node_def)
        given = {parse_input_name(text) for text in node.input}
        parsed = parse_nodes(graph_def, "", None, None, given)[node.name]
        with name_scope(node.name.rpartition("/")[2]) as scope:
            operation = get_default_graph()._add_node(parsed.op_def, inputs, parsed.attrs, scope)
        return operation.outputs[0] if len(operation.outputs) == 1 else operation.outputs

    def get_config(self):
        from google.protobuf import json_format

        config = super().get_config()
        return {
            **config, "name": config["name"][len(_PREFIX) :], "node_def": json_format.MessageToDict(self.node_def),
            "constants": self.constants,
        }  # fmt: skip


def _are_of_layers(tensors):
    """Whether any of the tensors was computed of one that has a history."""
    pending, seen = list(tensors), set()
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen or getattr(tensor, "_is_of_no_layer", False):
            continue
        seen.add(id(tensor))
        if hasattr(tensor, "_keras_history"):
            return True
        if hasattr(tensor, "op"):
            pending.extend(tensor.op.inputs)
    for tensor in tensors:
        if hasattr(tensor, "__dict__"):
            tensor._is_of_no_layer = True
    return False


@by_mode
def _value(tensor):
    return make_function([], tensor)([])


@eager_version_of(_value)
def _value_of_constant(tensor):
    captured = getattr(tensor.op, "_captured", None)
    return constant_value(tensor) if captured is None else captured.numpy()


def make_histories(tensors):
    """Gives tensors a history, each operation by a layer of its own, if they were computed of some that have one."""
    if not call_context.in_call and _are_of_layers(tensors):
        create_keras_history(tensors)


def create_keras_history(tensors):
    """Gives tensors a history, by a layer for each operation that made them. Returns the layers."""
    created: list = []
    done: set = set()
    _create(nest.flatten(tensors), done, created)
    return created


def _create(tensors, done, created):
    for tensor in tensors:
        op = getattr(tensor, "op", None)
        if op is None or hasattr(tensor, "_keras_history") or id(op) in done:
            continue
        constants, of_layers = {}, []
        for index, each in enumerate(op.inputs):
            if _are_of_layers([each]):
                of_layers.append(each)
            else:
                with init_scope():
                    constants[index] = _value(each)
        _create(of_layers, done, created)
        with get_default_graph().as_default():
            layer = TensorFlowOpLayer(op.node_def.SerializeToString(), op.name, constants)
        created.append(layer)
        layer._add_inbound_node(of_layers, list(op.outputs))
        done.add(id(op))


@public("python.keras.engine.base_layer.AddLoss")
class AddLoss(Layer):
    """A layer that adds what it is called with to the losses."""

    def __init__(self, unconditional, **kwargs):
        super().__init__(**{**kwargs, "autocast": False})
        self.unconditional = unconditional

    def call(self, inputs):
        self.add_loss(inputs, inputs=not self.unconditional)
        return inputs

    def get_config(self):
        return {**super().get_config(), "unconditional": self.unconditional}


@public("python.keras.engine.base_layer.AddMetric")
class AddMetric(Layer):
    """A layer that adds what it is called with to the metrics."""

    def __init__(self, aggregation=None, metric_name=None, **kwargs):
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs):
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self):
        return {**super().get_config(), "aggregation": self.aggregation, "metric_name": self.metric_name}
