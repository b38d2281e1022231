"""Building an ONNX graph: names, constants, nodes, and what is known of TensorFlow's tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow.graph import dtypes
from stillflow.inspection.sources import InputError

OPSET = 17  # the version of ONNX's operators: that of 2022, which all runtimes know
IR_VERSION = 8

_CONVERTERS: dict[str, Any] = {}

# The numbers that ONNX gives types: onnx.TensorProto's.
_TYPES = {
    dtypes.float32: 1, dtypes.uint8: 2, dtypes.int8: 3, dtypes.uint16: 4, dtypes.int16: 5, dtypes.int32: 6,
    dtypes.int64: 7, dtypes.string: 8, dtypes.bool_: 9, dtypes.float16: 10, dtypes.float64: 11, dtypes.uint32: 12,
    dtypes.uint64: 13, dtypes.complex64: 14, dtypes.complex128: 15, dtypes.bfloat16: 16,
}  # fmt: skip


def converts(*op_types):
    """Marks a function of (OnnxGraph, operation) as what makes nodes of operations of these types.

    It returns the name of the output, or a list of those of all.
    """

    def mark(function):
        for op_type in op_types:
            _CONVERTERS[op_type] = function
        return function

    return mark


def converter(op_type):
    """The function for operations of a type, or None."""
    return _CONVERTERS.get(op_type)


def onnx_type(dtype):
    """ONNX's number for a type. Raises InputError if it has none."""
    number = _TYPES.get(dtype.base_dtype)
    if number is None:
        raise InputError(f"ONNX has no type {dtype.name}.")
    return number


class OnnxGraph:
    """Nodes and constants, made one after another.

    Args:
      library: the module onnx.
      constants: {tensor: array} of what does not depend on inputs.
    """

    def __init__(self, library, constants):
        self.library = library
        self.nodes: list = []
        self.initializers: list = []
        self.dilated: set = set()  # operations that end a dilated convolution
        self._constants = constants
        self._names: dict = {}  # of tensors
        self._taken: set = set()
        self._known_arrays: dict = {}

    # ---- Names ----------------------------------------------------------------------------------------------

    def fresh(self, stem):
        """A name that nothing has yet."""
        name, number = stem, 0
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def bind(self, tensor, name):
        """Says what a tensor of TensorFlow is called here."""
        self._names[tensor] = name

    def name(self, tensor):
        """What a tensor is called here; a constant becomes one here, too."""
        if tensor not in self._names:
            self._names[tensor] = self.constant(self._constants[tensor], tensor.name)
        return self._names[tensor]

    def input(self, operation, index):
        """What an input of an operation is called here."""
        return self.name(operation.inputs[index])

    def inputs(self, operation):
        """What the inputs of an operation are called here."""
        return [self.name(tensor) for tensor in operation.inputs]

    # ---- Facts ----------------------------------------------------------------------------------------------

    def value(self, operation, index):
        """The array that an input is. Raises InputError unless it is constant."""
        tensor = operation.inputs[index]
        if tensor not in self._constants:
            raise InputError(
                f"{operation.name} ({operation.type}): its input {index}, {tensor.name}, must not depend on what is "
                "fed."
            )
        return self._constants[tensor]

    def is_constant(self, tensor):
        """Whether a tensor does not depend on what is fed."""
        return tensor in self._constants

    def dims(self, tensor, why):
        """The sizes of a tensor, None where unknown. Raises InputError if its rank is unknown."""
        if tensor.shape.ndims is None:
            raise InputError(f"{tensor.op.name} ({tensor.op.type}): its rank must be known {why}.")
        return tensor.shape.as_list()

    # ---- Nodes ----------------------------------------------------------------------------------------------

    def constant(self, array, stem="constant"):
        """The name of a constant."""
        array = np.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size < 64 and array.dtype != object else None
        if key is not None and key in self._known_arrays:
            return self._known_arrays[key]
        name = self.fresh(stem)
        if array.dtype == object:
            kind = self.library.TensorProto.STRING
            message = self.library.helper.make_tensor(name, kind, array.shape, [bytes(v) for v in array.ravel()])
        else:
            message = self.library.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self.initializers.append(message)
        if key is not None:
            self._known_arrays[key] = name
        return name

    def ints(self, values):
        """The name of a constant vector of int64, as ONNX wants shapes and axes."""
        return self.constant(np.array(values, np.int64), "ints")

    def node(self, op_type, inputs, outputs=1, stem=None, **attributes):
        """Adds a node. Returns the name of its output, or a list of several."""
        found = [self.fresh(stem or op_type) for _ in range(outputs)]
        self.nodes.append(self.library.helper.make_node(op_type, inputs, found, found[0], **attributes))
        return found[0] if outputs == 1 else found

    def cast(self, name, dtype):
        """A tensor in another type."""
        return self.node("Cast", [name], to=onnx_type(dtype))

    def shape_input(self, operation, index):
        """An input that is a shape or other sizes, as int64."""
        tensor = operation.inputs[index]
        if tensor in self._constants:
            return self.ints(self._constants[tensor])
        name = self.name(tensor)
        return name if tensor.dtype == dtypes.int64 else self.cast(name, dtypes.int64)

    def transpose(self, name, order):
        """A tensor with its dimensions in another order."""
        return self.node("Transpose", [name], perm=list(order))

    def squeeze(self, name, axes):
        """A tensor without these dimensions."""
        return self.node("Squeeze", [name, self.ints(axes)])

    def unsqueeze(self, name, axes):
        """A tensor with more dimensions."""
        return self.node("Unsqueeze", [name, self.ints(axes)])

    def slice(self, name, starts, ends, axes, steps=None):
        """A part of a tensor, with constant bounds."""
        bounds = [self.ints(starts), self.ints(ends), self.ints(axes)]
        return self.node("Slice", [name, *bounds, *([self.ints(steps)] if steps else [])])
