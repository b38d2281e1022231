"""Data sets of what is made of all elements with the same key: group_by_reducer."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.datasets.node import UnaryDataset
from stillflow.datasets.reduction import check_state, weakened_state
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public

_TRANSFORMATION = "tf.data.experimental.group_by_reducer()"
_KEY = TensorSpec([], dtypes.int64)


@public("data.experimental.Reducer", "contrib.data.Reducer")
class Reducer:
    """How elements become one.

    Args:
      init_func: makes a state of a key, an int64 scalar.
      reduce_func: makes the next state of a state and an element.
      finalize_func: makes what comes out of the last state.
    """

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    @property
    def init_func(self):
        return self._init_func

    @property
    def reduce_func(self):
        return self._reduce_func

    @property
    def finalize_func(self):
        return self._finalize_func


class _GroupByReducerDataset(UnaryDataset):
    def __init__(self, input_dataset, key_func, reducer):
        self._input_dataset = input_dataset
        spec = input_dataset.element_spec
        self._key_func = StructuredFunction(key_func, _TRANSFORMATION, spec)
        returned: Any = self._key_func.output_structure
        if not returned.is_compatible_with(_KEY):
            raise ValueError(f"`key_func` must return a single tf.int64 tensor. Got {returned}")
        self._init_func = StructuredFunction(reducer.init_func, _TRANSFORMATION, _KEY)
        self._reduce_func, state = _reduce_function(
            reducer.reduce_func, self._init_func.output_structure, spec, _TRANSFORMATION
        )
        self._finalize_func = StructuredFunction(reducer.finalize_func, _TRANSFORMATION, state)
        functions = [each.function for each in self._functions()]
        key, init, reduce, finalize = functions
        variant = ops.experimental_group_by_reducer_dataset(
            input_dataset._variant_tensor,
            *(function.captured_inputs for function in functions),
            key_func=key,
            init_func=init,
            reduce_func=reduce,
            finalize_func=finalize,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self):
        return [self._key_func, self._init_func, self._reduce_func, self._finalize_func]

    @property
    def element_spec(self):
        return self._finalize_func.output_structure


def _reduce_function(reduce_func, state, element, transformation):
    """A function of a state and an element, and what is known of all states."""
    while True:
        found = StructuredFunction(reduce_func, transformation, (state, element), adds_to_graph=False)
        check_state(state, found.output_structure)
        weaker = weakened_state(state, found.output_structure)
        if weaker is None:
            found.function.add_to_graph(get_default_graph())
            return found, state
        state = weaker


@public("data.experimental.group_by_reducer", "contrib.data.group_by_reducer")
def group_by_reducer(key_func, reducer):
    """For Dataset.apply: one element for each key, in the order of the keys.

    Args:
      key_func: makes an int64 scalar of an element.
      reducer: a tf.data.experimental.Reducer.

    Raises:
      TypeError: for states of different classes or types.
      ValueError: for keys that are no int64 scalars.
    """
    return lambda dataset: dataset._of(_GroupByReducerDataset(dataset, key_func, reducer))
