"""What tensorflow.python.keras.utils.tf_utils has for the code of layers: conditions, kinds of tensors, shapes."""

from __future__ import annotations

import functools

from stillflow.graph import nest
from stillflow.graph.operation import Tensor
from stillflow.keras.engine.shapes import as_tensor_shapes, as_tuples
from stillflow.layers.core.symbols import is_symbolic
from stillflow.names import public
from stillflow.ops.control_flow import cond
from stillflow.ops.sparse_tensor import is_tensor
from stillflow.variables.variable import Variable


@public("python.keras.utils.tf_utils.smart_cond")
def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """Like tf.cond, but calls only one of the functions if it is known which. Variables are not known."""
    if isinstance(pred, Variable):
        return cond.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return cond.smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


@public("python.keras.utils.tf_utils.constant_value")
def constant_value(pred):
    """The bool that a predicate is known to be, or None. Raises TypeError for what is no predicate."""
    return None if isinstance(pred, Variable) else cond.smart_constant_value(pred)


@public("python.keras.utils.tf_utils.is_tensor_or_tensor_list")
def is_tensor_or_tensor_list(v):
    """Whether the first of the values of a structure is a tensor."""
    values = nest.flatten(v)
    return bool(values) and isinstance(values[0], Tensor)


@public("python.keras.utils.tf_utils.is_tensor_or_variable")
def is_tensor_or_variable(x):
    """Whether it is a tensor of any kind, or a variable."""
    return is_tensor(x) or isinstance(x, Variable)


@public("python.keras.utils.tf_utils.are_all_symbolic_tensors")
def are_all_symbolic_tensors(tensors):
    """Whether all of a list are of a graph that is being built."""
    return all(is_symbolic(tensor) for tensor in tensors)


@public("python.keras.utils.tf_utils.convert_shapes")
def convert_shapes(input_shape, to_tuples=True):
    """The shapes of a structure as tuples, or as tf.TensorShapes. A number is the shape of a vector."""
    if isinstance(input_shape, int):
        input_shape = (input_shape,)
    return as_tuples(input_shape) if to_tuples else as_tensor_shapes(input_shape)


@public("python.keras.utils.tf_utils.shape_type_conversion")
def shape_type_conversion(fn):
    """Decorates a layer's method of an input shape: it gets tuples, and what it returns becomes tf.TensorShapes."""

    @functools.wraps(fn)
    def converted(instance, input_shape):
        if input_shape is not None:
            input_shape = as_tuples(input_shape)
        output_shape = fn(instance, input_shape)
        return None if output_shape is None else as_tensor_shapes(output_shape)

    return converted
