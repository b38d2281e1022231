"""Data sets that end before the first element that does not pass a test: take_while."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph import dtypes
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public


class _TakeWhileDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, predicate):
        self._input_dataset = input_dataset
        self._predicate = StructuredFunction(
            predicate, "tf.data.experimental.take_while()", input_dataset.element_spec
        )
        returned: Any = self._predicate.output_structure
        if not returned.is_compatible_with(TensorSpec([], dtypes.bool_)):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        function = self._predicate.function
        variant = ops.take_while_dataset(
            input_dataset._variant_tensor,
            other_arguments=function.captured_inputs,
            predicate=function,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self):
        return [self._predicate]


@public("data.experimental.take_while")
def take_while(predicate):
    """For Dataset.apply: the elements before the first of which `predicate` says no.

    Args:
      predicate: makes a scalar of bool of an element.

    Raises ValueError for a function that returns something else.
    """
    return lambda dataset: dataset._of(_TakeWhileDataset(dataset, predicate))
