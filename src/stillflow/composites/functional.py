"""map_fn, foldl, foldr and scan: loops over slices of tensors along their first dimension."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import Dimension, TensorShape, dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.scope import get_variable_scope


@by_mode
@contextlib.contextmanager
def variables_cached_outside():
    """A context in which variables are read once, outside of the loop."""
    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    yield
    scope.set_caching_device(None)


def _check_function(fn):
    if not callable(fn):
        raise TypeError("fn must be callable.")


class _Form:
    """Whether something is one tensor, or a structure of several."""

    def __init__(self, structure):
        self.structure = structure
        self._is_nested = nest.is_nested(structure)

    def flatten(self, value):
        return nest.flatten(value) if self._is_nested else [value]

    def pack(self, values):
        return nest.pack_sequence_as(self.structure, values) if self._is_nested else values[0]


def _size(tensor, is_zero_known=False):
    """The number of parts: an int if it is known."""
    size = dimension_value(tensor.shape[0])
    return size if size or (is_zero_known and size is not None) else ops.shape(tensor)[0]


@public("map_fn")
def map_fn(
    fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None
):
    """fn(part) for the parts of `elems` along their first dimension, side by side.

    Args:
      fn: a function of a part, or of a structure of parts as `elems` is one of tensors.
      elems: a tensor, or a structure of tensors with as many parts each.
      dtype: the types that `fn` returns, if they are not those of `elems`; their structure is the result's.
      parallel_iterations, swap_memory: kept on the nodes.
      back_prop: whether gradients go through it.
      infer_shape: whether all results have one shape.
      name: the scope of the new nodes.

    Raises:
      TypeError: for what cannot be called, and for results of another structure.
      ValueError: for scalars.
    """
    _check_function(fn)
    form, out = _Form(elems), _Form(elems if dtype is None else dtype)
    with name_scope(name, "map", form.flatten(elems)), variables_cached_outside():
        tensors = [convert_to_tensor(tensor, name="elem") for tensor in form.flatten(elems)]
        wanted = out.structure if dtype is not None else form.pack([tensor.dtype for tensor in tensors])
        if tensors[0].shape.rank == 0:
            what = "elems must be a 1+ dimensional Tensor, not a scalar"
            many = "elements in elems must be 1+ dimensional Tensors, not scalars"
            raise ValueError(what if len(tensors) == 1 else many)
        count = _size(tensors[0])
        parts = [TensorArray(tensor.dtype, count, dynamic_size=False, infer_shape=True) for tensor in tensors]
        parts = [array.unstack(tensor) for array, tensor in zip(parts, tensors, strict=True)]
        first = ops.constant(0)
        arrays = [
            TensorArray(each, count, dynamic_size=False, infer_shape=infer_shape) for each in out.flatten(wanted)
        ]

        def compute(i, arrays):
            result = fn(form.pack([array.read(i) for array in parts]))
            nest.assert_same_structure(wanted, result)
            values = out.flatten(result)
            arrays = [array.write(i, value) for array, value in zip(arrays, values, strict=True)]
            return i + 1, arrays

        _, arrays = while_loop(
            lambda i, _: i < count, compute, (first, arrays), parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count,
        )  # fmt: skip
        return out.pack(_stacked(arrays, tensors))


def _stacked(arrays, tensors):
    """What the arrays hold as tensors, of as many parts as `tensors` have."""
    results = [array.stack() for array in arrays]
    count = Dimension(dimension_value(tensors[0].shape.with_rank_at_least(1)[0]))
    for tensor in tensors[1:]:
        count.merge_with(Dimension(dimension_value(tensor.shape.with_rank_at_least(1)[0])))
    for result in results:
        result.set_shape(TensorShape([count]).concatenate(result.shape[1:]))
    return results


def _unstacked(elems, count):
    """Arrays of the parts, in the structure of `elems`."""
    return nest.map_structure(
        lambda elem: TensorArray(elem.dtype, count, dynamic_size=False, infer_shape=True).unstack(elem), elems
    )


@public("foldl")
def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(...fn(fn(initializer, first part), second part)..., last part) for the parts of `elems`.

    Without `initializer` it begins with the first part. Other arguments are as for `map_fn`. Raises TypeError for
    what cannot be called.
    """
    _check_function(fn)
    with name_scope(name, "foldl", [elems]), variables_cached_outside():
        tensors = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        count = _size(tensors[0])
        parts = _unstacked(elems, count)
        value = initializer
        if initializer is None:
            value = nest.map_structure(lambda array: array.read(0), parts)
        first = ops.constant(1 if initializer is None else 0)

        def compute(i, value):
            part = nest.map_structure(lambda array: array.read(i), parts)
            value = fn(value, part)
            return [i + 1, value]

        _, result = while_loop(
            lambda i, _: i < count, compute, [first, value], parallel_iterations=parallel_iterations,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count,
        )  # fmt: skip
        return result


@public("foldr")
def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Like `foldl`, from the last part to the first."""
    _check_function(fn)
    with name_scope(name, "foldr", [elems]), variables_cached_outside():
        tensors = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        count = _size(tensors[0])
        parts = _unstacked(elems, count)
        if initializer is None:
            first = count - 1
            value = nest.map_structure(lambda array: array.read(first), parts)
        else:
            first, value = count, initializer

        def compute(i, value):
            i -= 1
            part = nest.map_structure(lambda array: array.read(i), parts)
            return [i, fn(value, part)]

        _, result = while_loop(
            lambda i, _: i > 0, compute, [first, value], parallel_iterations=parallel_iterations,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count,
        )  # fmt: skip
        return result


@public("scan")
def scan(
    fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
    reverse=False, name=None,
):  # fmt: skip
    """All that `foldl` comes by: fn(before, part) for each part of `elems`, side by side.

    Without `initializer` it begins with the first part, which is the first result; with `reverse` it goes from the
    last part to the first. Other arguments are as for `map_fn`. Raises TypeError for what cannot be called, and for
    results of another structure than `initializer`, or `elems` without one.
    """
    _check_function(fn)
    form, out = _Form(elems), _Form(elems if initializer is None else initializer)
    with name_scope(name, "scan", form.flatten(elems)), variables_cached_outside():
        tensors = [convert_to_tensor(tensor, name="elem") for tensor in form.flatten(elems)]
        count = _size(tensors[0], is_zero_known=True)
        parts = [
            TensorArray(tensor.dtype, count, dynamic_size=False, element_shape=tensor.shape[1:], infer_shape=True)
            for tensor in tensors
        ]
        parts = [array.unstack(tensor) for array, tensor in zip(parts, tensors, strict=True)]
        if initializer is None:
            values = [array.read(count - 1 if reverse else 0) for array in parts]
        else:
            values = [convert_to_tensor(value) for value in out.flatten(initializer)]
        arrays = [
            TensorArray(
                value.dtype, count, element_shape=value.shape if infer_shape else None, dynamic_size=False,
                infer_shape=infer_shape,
            )
            for value in values
        ]  # fmt: skip
        if initializer is None:
            at = count - 1 if reverse else 0
            arrays = [array.write(at, value) for array, value in zip(arrays, values, strict=True)]
        done = 1 if initializer is None else 0

        def compute(i, values, arrays):
            part = form.pack([array.read(i) for array in parts])
            result = fn(out.pack(values), part)
            nest.assert_same_structure(out.structure, result)
            values = out.flatten(result)
            arrays = [array.write(i, value) for array, value in zip(arrays, values, strict=True)]
            return i - 1 if reverse else i + 1, values, arrays

        first = count - 1 - done if reverse else done
        _, _, arrays = while_loop(
            (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < count), compute, (first, values, arrays),
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=count,
        )  # fmt: skip
        return out.pack(_stacked(arrays, tensors))
