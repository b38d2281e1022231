"""Translation: walks a graph back from its outputs, and adds the ONNX nodes that compute the same.

What an op becomes is said by a converter: a function of a Call, registered for op types by `@converts`, which adds
nodes and returns the names of the op's outputs.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from stillflow.graph import shape_inference
from stillflow.graph.dtypes import DType
from stillflow.onnx_export.sources import ConversionError
from stillflow.ops.registry import Written

END = np.iinfo(np.int64).max  # behind the last element of an axis, however many there are

CONVERTERS: dict = {}
# By op type: a function of the translation and a tensor, which returns the tensors that it is made of. Of other ops
# these are all inputs.
NEEDS: dict = {}

# Why there is no way to say an op, by a pattern of its type. The first that fits tells it.
REASONS = {
    "*Grad": "is a gradient, of which only those of nets are said here",
    "TensorArrayGrad*": "is the memory of a loop for its gradient, which ONNX's loops do not hand on",
    "Stack*": "is the memory of a loop for its gradient, which ONNX's loops do not hand on",
    "*Apply*": "is a part of training, which ONNX models do not hold",
    "Assign*": "changes a variable, which ONNX models do not have; freeze the graph",
    "Random*": "draws random numbers of a distribution that ONNX lacks",
    "*CandidateSampler": "draws random numbers, and what runs ONNX draws others",
    "PyFunc*": "calls Python",
    "EagerPyFunc": "calls Python",
    "*HashTable*": "looks up in a table that is filled at run time",
    "LookupTable*": "looks up in a table that is filled at run time",
    "*Queue*": "reads input by itself, where what is fed to an ONNX model comes from outside",
    "*Reader*": "reads input by itself, where what is fed to an ONNX model comes from outside",
    "*Iterator*": "reads input by itself, where what is fed to an ONNX model comes from outside",
    "*Dataset*": "reads input by itself, where what is fed to an ONNX model comes from outside",
    "Decode*": "decodes files, for which ONNX has no operator in opset 18",
}


# For what converters are registered, too: ops whose type is the name of a function, and those that the registry has
# written out in other ops.
FUNCTION, WRITTEN = "a function", "an op written out in others"


def _converter_of(op):
    if op.type in CONVERTERS:
        return CONVERTERS[op.type]
    if op.graph.find_function(op.type) is not None:
        return CONVERTERS[FUNCTION]
    return CONVERTERS[WRITTEN] if isinstance(op._op_def.lowering, Written) else None


class Array(NamedTuple):
    """What stands for a TensorArray: a sequence, or one tensor of all elements."""

    dtype: DType
    is_sequence: bool


def converts(*types):
    """Registers a converter for op types."""

    def register(function):
        for op_type in types:
            CONVERTERS[op_type] = function
        return function

    return register


def element_type(dtype):
    """The number that ONNX has for a dtype. Raises ConversionError for those that it lacks."""
    from onnx import TensorProto, helper

    if dtype.name == "string":
        return TensorProto.STRING
    if dtype.name == "bfloat16":
        return TensorProto.BFLOAT16
    try:
        return helper.np_dtype_to_tensor_dtype(np.dtype(dtype.base_dtype.as_numpy_dtype))
    except (KeyError, TypeError, ValueError):
        raise ConversionError(f"ONNX has no elements of type {dtype.name}.") from None


class Call:
    """An op that is being converted: its attributes, inputs, and the block to add nodes to."""

    def __init__(self, translation, op, inputs):
        self.translation = translation
        self.block = translation.block
        self.op = op
        self.inputs = inputs
        self.name = op.name.removeprefix("model/")
        self.constant = self.block.constant

    def add(self, op_type, *inputs, **options):
        """Adds a node named after the op; see Block.add."""
        options.setdefault("name", self.name)
        return self.block.add(op_type, *inputs, **options)

    def attr(self, name):
        value = self.op.get_attr(name)
        return value.decode() if isinstance(value, bytes) else value

    def dtype(self, index=0):
        return self.op.inputs[index].dtype

    def dims(self, index=0):
        """The sizes of an input, None where unknown. Raises ConversionError for an unknown rank."""
        shape = self.op.inputs[index].shape
        if shape.ndims is None:
            raise self.error("needs an input whose rank is known")
        return shape.as_list()

    def value(self, index):
        """The value of an input that does not depend on the model's inputs, or None."""
        return self.translation.value_of(self.op.inputs[index])

    def known(self, index, what):
        """The value of an input. Raises ConversionError where it depends on the model's inputs."""
        value = self.value(index)
        if value is None:
            raise self.error(f"needs {what} that are constant")
        return value

    def numbers(self, index):
        """An integer input as the int64 that ONNX wants, made a vector."""
        value = self.value(index)
        if value is not None:
            return self.constant(np.reshape(value, -1), np.int64)
        wide = self.cast(self.inputs[index], np.int64)
        return wide if self.dims(index) else self.add("Unsqueeze", wide, self.constant([0], np.int64))

    def ints(self, *numbers):
        """A vector of int64, as ONNX wants axes, sizes and places."""
        return self.constant(list(numbers), np.int64)

    def below(self, count, numpy_type=np.int64):
        """The numbers from 0 to below a count, which is a scalar of their type."""
        return self.add("Range", self.constant(0, numpy_type), count, self.constant(1, numpy_type))

    def cast(self, value, numpy_type):
        from onnx import helper

        return self.add("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(numpy_type)))

    def to_type_of(self, value, dtype):
        return self.add("Cast", value, to=element_type(dtype))

    def choose(self, condition, chosen, other, dtype):
        """Where, of bool by logic: onnxruntime has no Where of them."""
        if dtype.name != "bool":
            return self.add("Where", condition, chosen, other)
        is_other = self.add("And", self.add("Not", condition), other)
        return self.add("Or", self.add("And", condition, chosen), is_other)

    def like(self, value, index=0):
        """A scalar of the type of an input."""
        return self.constant(value, self.dtype(index).base_dtype.as_numpy_dtype)

    def error(self, text):
        return ConversionError(f"{self.op.type} ({self.name}) {text}.")


# Ops whose output is their input, as far as models of ONNX go.
HANDED_ON = ("Enter", "Identity", "ReadVariableOp", "Snapshot", "StopGradient")


class Translation:
    """The tensors of a graph that a block has values for.

    Args:
      block: what nodes are added to.
      outer: the translation of what is around a loop's body, or around a function.
      variables: the values of variables, by their operations; by default those of `outer`.
    """

    def __init__(self, block, outer=None, variables=None):
        self.block = block
        self.outer = outer
        self.variables: dict = outer.variables if variables is None else variables
        self.values: dict = {}
        self.arrays: dict[str, Array] = {}
        self.random_nodes: list[str] = [] if outer is None else outer.random_nodes
        self._known: dict = {} if outer is None else outer._known

    def of_function(self, block, placeholders, tensors, names):
        """The translation of a function's body, in a block, whose arguments are these tensors and values of them."""
        inside = Translation(block, self)
        inside.values.update(zip(placeholders, names, strict=True))
        inside._known = {}  # another call may have other arguments
        for placeholder, tensor in zip(placeholders, tensors, strict=True):
            value = self.value_of(tensor)
            if value is not None:
                inside._known[placeholder] = value
        return inside

    def name_of(self, tensor):
        """The name of a tensor's value, or None where it has not been translated."""
        name = self.values.get(tensor)
        return self.outer.name_of(tensor) if name is None and self.outer is not None else name

    def array_of(self, name):
        """What is known of the value that stands for a TensorArray; None for tensors."""
        array = self.arrays.get(name)
        return self.outer.array_of(name) if array is None and self.outer is not None else array

    def value_of(self, tensor):
        """The value of a tensor that does not depend on inputs, as far as shape inference folds; else None. Of a
        variable's handle, it is that of the variable."""
        if tensor not in self._known:
            self._known[tensor] = self._find_value(tensor)
        return self._known[tensor]

    def forget(self, tensor):
        """From now on no value of a tensor is known: it changes."""
        self._known[tensor] = None

    def _find_value(self, tensor):
        value = self.variables.get(tensor.op)
        if value is None and tensor.op.type in HANDED_ON:
            return self.value_of(tensor.op.inputs[0])
        if value is None:
            value = shape_inference.folded_value(tensor)
        partial = shape_inference.partial_value(tensor) if value is None else None
        if isinstance(partial, tuple) and None not in partial:
            return np.array(partial, tensor.dtype.as_numpy_dtype)
        return value

    def note_random(self, name):
        """Notes that a node draws random numbers: what runs the model draws others than TensorFlow."""
        if name not in self.random_nodes:
            self.random_nodes.append(name)

    def translate(self, tensors):
        """Adds what computes the tensors; returns the names of their values. Raises ConversionError."""
        pending = list(tensors)
        opened = set()
        while pending:
            tensor = pending[-1]
            if self.name_of(tensor) is not None:
                pending.pop()
                continue
            needed = [] if self._is_constant(tensor) else self._needs(tensor)
            missing = [other for other in needed if self.name_of(other) is None]
            if missing and tensor not in opened:
                opened.add(tensor)
                pending.extend(missing)
            elif missing:
                raise ConversionError(f"{tensor.op.name} depends on itself.")
            else:
                pending.pop()
                self._add(tensor, needed)
        return [self.name_of(tensor) for tensor in tensors]

    def _is_constant(self, tensor):
        """Whether to make a constant of a tensor: what is handed on is one already."""
        if tensor.op.type in HANDED_ON or tensor.dtype.name == "variant":
            return False
        return self.value_of(tensor) is not None

    def _needs(self, tensor):
        needs = NEEDS.get(tensor.op.type)
        return list(tensor.op.inputs) if needs is None else needs(self, tensor)

    def _add(self, tensor, needed):
        op = tensor.op
        name = op.name.removeprefix("model/")
        if self._is_constant(tensor):
            self.values[tensor] = self.block.constant(self.value_of(tensor), name=name)
            return
        converter = _converter_of(op)
        if converter is None:
            reason = next((why for pattern, why in REASONS.items() if fnmatchcase(op.type, pattern)), None)
            if reason is not None:
                raise ConversionError(f"{op.type} ({name}) cannot be said in ONNX: it {reason}.")
            raise ConversionError(f"There is no way to say {op.type} ({name}) in ONNX here.")
        results = converter(Call(self, op, [self.name_of(other) for other in needed]))
        results = results if isinstance(results, list) else [results]
        for output, result in zip(op.outputs, results, strict=False):
            if result is not None:
                self.values[output] = result
        if self.values.get(tensor) is None:
            raise ConversionError(f"Output {tensor.value_index} of {op.type} ({name}) is not available in ONNX.")
