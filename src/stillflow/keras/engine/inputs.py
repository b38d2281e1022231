"""Input: where a model begins."""

from __future__ import annotations

from typing import Any

from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.phases import get_uid
from stillflow.keras.backend.values import dtype as type_name
from stillflow.keras.backend.values import placeholder
from stillflow.keras.engine.op_layers import make_histories
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.nodes import KerasHistory, Node, give_histories_by
from stillflow.layers.core.settings import floatx
from stillflow.layers.core.symbols import is_symbolic
from stillflow.names import public
from stillflow.variables.variable import Variable

# Histories begin with inputs: from the first one on, plain operations have to go on with them.
give_histories_by(make_histories)


@public("keras.layers.InputLayer")
class InputLayer(Layer):
    """A layer that has one output and no input: a placeholder, or a tensor that is there already.

    Args:
      input_shape: the shape, without the batch.
      batch_size: the size of batches, or None.
      dtype: the type; `floatx` by default.
      input_tensor: a tensor to take instead of a placeholder.
      sparse: whether the placeholder is a SparseTensor.
      name: the layer's name.
      ragged: whether the placeholder is a RaggedTensor, as for tf.keras.backend.placeholder.
      batch_input_shape: the shape with the batch, instead of both.

    Raises:
      ValueError: for other arguments, two shapes, a tensor of another type, or one of eager execution.
    """

    def __init__(
        self, input_shape=None, batch_size=None, dtype=None, input_tensor=None, sparse=False, name=None, ragged=False,
        **kwargs,
    ):  # fmt: skip
        if "batch_input_shape" in kwargs:
            batch_input_shape = kwargs.pop("batch_input_shape")
            if input_shape and batch_input_shape:
                raise ValueError(
                    "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the same "
                    "time."
                )
            batch_size, *input_shape = batch_input_shape
        if kwargs:
            raise ValueError("Unrecognized keyword arguments:", kwargs.keys())
        name = name or f"input_{get_uid('input')}"
        if not dtype:
            dtype = floatx() if input_tensor is None else type_name(input_tensor)
        elif input_tensor is not None and input_tensor.dtype != dtype:
            raise ValueError(f"`input_tensor.dtype` differs from `dtype`: {input_tensor.dtype} vs. {dtype}")
        super().__init__(dtype=dtype, name=name)
        self.built = True
        self.sparse = sparse
        self.ragged = ragged
        self.batch_size = batch_size
        self.supports_masking = True
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            input_tensor = self._placeholder(input_shape, dtype)
        elif not isinstance(input_tensor, (Tensor, Variable)) or not is_symbolic(input_tensor):
            raise ValueError(
                "You should not pass an EagerTensor to `Input`. For example, instead of creating an InputLayer, you "
                "should instantiate your model and directly call it on your input."
            )
        else:
            self._batch_input_shape = tuple(input_tensor.shape.as_list())
        input_tensor._keras_history = KerasHistory(self, 0, 0)
        input_tensor._keras_mask = None
        Node(self, [input_tensor], [input_tensor], is_source=True)

    def _placeholder(self, input_shape, dtype):
        if isinstance(input_shape, TensorShape):
            input_shape = input_shape.as_list()
        elif isinstance(input_shape, int):
            input_shape = (input_shape,)
        self._batch_input_shape: Any = None if input_shape is None else (self.batch_size, *input_shape)
        return placeholder(
            shape=self._batch_input_shape, dtype=dtype, name=self.name, sparse=self.sparse, ragged=self.ragged
        )

    def get_config(self):
        return {
            "batch_input_shape": self._batch_input_shape, "dtype": self.dtype, "sparse": self.sparse,
            "ragged": self.ragged, "name": self.name,
        }  # fmt: skip


@public("keras.layers.Input", "keras.Input")
def Input(  # noqa: N802
    shape=None, batch_size=None, name=None, dtype=None, sparse=False, tensor=None, ragged=False, **kwargs
):
    """A tensor that a model begins with.

    Args:
      shape: the shape, without the batch.
      batch_size: the size of batches, or None.
      name: the name of the layer that it comes from.
      dtype: the type; `floatx` by default.
      sparse: whether it is a SparseTensor.
      tensor: a tensor to take instead of a placeholder.
      ragged: whether it is a RaggedTensor; sizes that are None are ragged then.
      batch_shape: the shape with the batch.

    Raises:
      ValueError: for other arguments, two shapes, or none.
    """
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
    arguments = {"name": name, "dtype": dtype, "sparse": sparse, "ragged": ragged, "input_tensor": tensor}
    batch_shape = kwargs.pop("batch_input_shape", kwargs.pop("batch_shape", None))
    if shape and batch_shape:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time."
        )
    if batch_shape:
        shape = batch_shape[1:]
        arguments["batch_input_shape"] = batch_shape
    else:
        arguments.update(batch_size=batch_size, input_shape=shape)
    if kwargs:
        raise ValueError("Unrecognized keyword arguments:", kwargs.keys())
    if shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not include the "
            "batch dimension."
        )
    outputs = InputLayer(**arguments)._inbound_nodes[0].output_tensors
    return outputs[0] if len(outputs) == 1 else outputs


@public("keras.utils.get_source_inputs")
def get_source_inputs(tensor, layer=None, node_index=None):
    """The tensors of inputs that a layer's output was computed of.

    Args:
      tensor: the tensor.
      layer, node_index: where it is from, if it does not say so itself.
    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index]
    if node.is_source:
        return node.input_tensors if isinstance(node.input_tensors, list) else [node.input_tensors]
    found: list = []
    for origin_layer, origin_index, _, origin in node.iterate_inbound():
        for source in get_source_inputs(origin, origin_layer, origin_index):
            if not any(source is each for each in found):
                found.append(source)
    return found
