"""Data sets of what a function makes of a state and an element: scan; and numbers without end: Counter."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import structure
from stillflow.datasets.dataset import DatasetV1
from stillflow.datasets.node import UnaryDataset
from stillflow.datasets.reduction import check_state, weakened_state
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class ScanDataset(UnaryDataset):
    """What a function makes of the last state and an element, besides the next state."""

    def __init__(self, input_dataset, initial_state, scan_func):
        self._input_dataset = input_dataset
        state = structure.normalize_element(initial_state)
        spec = structure.type_spec_from_value(state)
        while True:
            function = StructuredFunction(
                scan_func, "tf.data.experimental.scan()", (spec, input_dataset.element_spec), adds_to_graph=False
            )
            returned = function.output_structure
            if not (isinstance(returned, tuple) and len(returned) == 2):
                raise TypeError("The scan function must return a pair comprising the new state and the output value.")
            new_state, self._structure = returned
            check_state(spec, new_state)
            weaker = weakened_state(spec, new_state)
            if weaker is None:
                break
            spec = weaker
        self._scan_func = function
        function.function.add_to_graph(get_default_graph())
        variant = ops.scan_dataset(
            input_dataset._variant_tensor,
            structure.to_tensor_list(spec, state),
            function.function.captured_inputs,
            f=function.function,
            preserve_cardinality=True,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self):
        return [self._scan_func]

    @property
    def element_spec(self):
        return self._structure


@public("data.experimental.scan", "contrib.data.scan")
def scan(initial_state, scan_func):
    """For Dataset.apply: like map, with a state that goes from one call to the next.

    Args:
      initial_state: tensors in tuples and dictionaries.
      scan_func: makes (the next state, an element) of a state and an element.

    Raises TypeError for functions that return something else.
    """
    return lambda dataset: dataset._of(ScanDataset(dataset, initial_state, scan_func))


@public("data.experimental.Counter", "contrib.data.Counter")
def Counter(start=0, step=1, dtype=dtypes.int64):  # noqa: N802
    """A data set of start, start + step, ... without end."""
    with name_scope("counter"):
        start = convert_to_tensor(start, dtype=dtype, name="start")
        step = convert_to_tensor(step, dtype=dtype, name="step")
        one = DatasetV1.from_tensors(0).repeat(None)
        return one.apply(scan(start, lambda state, _: (state + step, state)))
