"""Dataset.from_generator: the elements of a Python generator."""

from __future__ import annotations

import threading

import numpy as np

from stillflow import ops
from stillflow.composites.py_func import py_func
from stillflow.datasets import nest, structure
from stillflow.datasets.mapping import FlatMapDataset
from stillflow.datasets.node import DatasetSource
from stillflow.datasets.sources import TensorDataset
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.ops.convert import convert_n_to_tensor


class _GeneratorDataset(DatasetSource):
    """Elements that `next_func` makes of what `init_func` gave, until it runs out; `finalize_func` is called then."""

    def __init__(self, init_args, init_func, next_func, finalize_func):
        spec = structure.type_spec_from_value(init_args)
        self._init_func = StructuredFunction(init_func, "Dataset.from_generator()", spec)
        state = self._init_func.output_structure
        self._next_func = StructuredFunction(next_func, "Dataset.from_generator()", state)
        self._finalize_func = StructuredFunction(finalize_func, "Dataset.from_generator()", state)
        variant = ops.generator_dataset(
            structure.to_tensor_list(spec, init_args) + self._init_func.function.captured_inputs,
            self._next_func.function.captured_inputs,
            self._finalize_func.function.captured_inputs,
            init_func=self._init_func.function,
            next_func=self._next_func.function,
            finalize_func=self._finalize_func.function,
            **self._flat_structure,
        )
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._next_func.output_structure


class _Passes:
    """The generators under way, one for each pass over the data set, by numbers."""

    def __init__(self, generator):
        self._generator = generator
        self._lock = threading.Lock()
        self._next_number = 0
        self._arguments = {}
        self._iterators = {}

    def begin(self, *arguments):
        with self._lock:
            number = self._next_number
            self._next_number += 1
        self._arguments[number] = arguments
        return np.array(number, np.int64)

    def iterator(self, number):
        if number not in self._iterators:
            self._iterators[number] = iter(self._generator(*self._arguments.pop(number)))
        return self._iterators[number]

    def end(self, number):
        self._arguments.pop(number, None)
        self._iterators.pop(number, None)
        return np.array(0, np.int64)


def from_generator(generator, output_types, output_shapes=None, args=None):
    """See Dataset.from_generator."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    if output_shapes is None:
        output_shapes = nest.map_structure(lambda _: TensorShape(None), output_types)
    else:
        output_shapes = nest.map_structure_up_to(output_types, as_shape, output_shapes)
    args = () if args is None else tuple(convert_n_to_tensor(args, name="args"))
    types = [dtypes.as_dtype(dtype) for dtype in nest.flatten(output_types)]
    shapes = nest.flatten(output_shapes)
    passes = _Passes(generator)

    # The names of these functions are part of the names of nodes.
    def get_iterator_id_fn(_):
        return py_func(passes.begin, args, dtypes.int64)

    def generator_next_fn(iterator_id_t):
        def generator_py_func(number):
            values = next(passes.iterator(number))  # StopIteration is what ends the data set
            return _arrays(values, output_types, types, shapes)

        tensors = py_func(generator_py_func, [iterator_id_t], types)
        for tensor, shape in zip(tensors, shapes, strict=True):
            tensor.set_shape(shape)
        return nest.pack_sequence_as(output_types, tensors)

    def finalize_fn(iterator_id_t):
        return py_func(passes.end, [iterator_id_t], dtypes.int64)

    def flat_map_fn(dummy_arg):
        return _GeneratorDataset(dummy_arg, get_iterator_id_fn, generator_next_fn, finalize_fn)

    # Each pass begins with this element, and so has a number, and a generator, of its own.
    return FlatMapDataset(TensorDataset(0), flat_map_fn)


def _arrays(values, output_types, types, shapes):
    """What a generator has yielded as arrays of the types. Raises TypeError or ValueError for what does not fit."""
    try:
        flat = nest.flatten_up_to(output_types, values)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The expected structure was "
            f"{output_types}, but the yielded element was {values}."
        ) from None
    arrays = []
    for value, dtype in zip(flat, types, strict=True):
        try:
            arrays.append(np.asarray(value, dtype.as_numpy_dtype, order="C"))
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. The expected type "
                f"was {dtype.name}, but the yielded element was {value}."
            ) from None
    for array, shape in zip(arrays, shapes, strict=True):
        if not shape.is_compatible_with(array.shape):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was "
                "expected."
            )
    return arrays
