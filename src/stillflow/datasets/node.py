"""A data set as a node of the graph: what iterators and the data sets made of it need to know.

tf.data.Dataset, with the methods that make one data set of another, is in the module `dataset`.
"""

from __future__ import annotations

import logging

from stillflow.datasets import structure
from stillflow.datasets.options import Options
from stillflow.datasets.specs import DatasetSpec
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph


class DatasetNode(CompositeTensor):
    """A sequence of elements, which are tensors in tuples and dictionaries, all of one form."""

    _input_datasets: list
    # Whether an element may be several of an input's, and whether they may come in another order than there.
    _may_batch = True
    _may_reorder = True

    def __init__(self, variant_tensor):
        self._variant_tensor_attr = variant_tensor
        self._graph_attr = get_default_graph()

    @property
    def _variant_tensor(self):
        return self._variant_tensor_attr

    @property
    def _graph(self):
        return self._graph_attr

    def _inputs(self):
        """The data sets that it is made of."""
        raise NotImplementedError("Dataset._inputs")

    def _functions(self):
        """The functions that it calls."""
        return []

    def _has_captured_ref(self):
        """Whether a function of the pipeline uses a reference variable, which rules rewrites out."""

        def is_or_uses_ref(tensor):
            return tensor.dtype._is_ref_dtype or any(is_or_uses_ref(source) for source in tensor._op._inputs)

        captured = (tensor for each in self._functions() for tensor in each.function.captured_inputs)
        return any(map(is_or_uses_ref, captured)) or any(each._has_captured_ref() for each in self._inputs())

    @property
    def element_spec(self):
        """What elements are: specifications in tuples and dictionaries."""
        raise NotImplementedError("Dataset.element_spec")

    @property
    def _type_spec(self):
        return DatasetSpec(self.element_spec)

    @property
    def _flat_structure(self):
        """The attributes of the node that say what elements are."""
        spec = self.element_spec
        return {
            "output_shapes": structure.get_flat_tensor_shapes(spec),
            "output_types": structure.get_flat_tensor_types(spec),
        }

    def options(self):
        """The tf.data.Options of the pipeline."""
        options = Options()
        for each in self._inputs():
            options = options.merge(each.options())
        return options


class DatasetSource(DatasetNode):
    """A data set that is made of no other."""

    _may_batch = _may_reorder = False

    def _inputs(self):
        return []


class UnaryDataset(DatasetNode):
    """A data set that is made of one other."""

    def __init__(self, input_dataset, variant_tensor):
        self._input_dataset = input_dataset
        super().__init__(variant_tensor)

    def _inputs(self):
        return [self._input_dataset]


class UnaryUnchangedStructureDataset(UnaryDataset):
    """One with elements of the same form."""

    _may_batch = _may_reorder = False

    def __init__(self, input_dataset, variant_tensor):
        self._input_dataset = input_dataset
        super().__init__(input_dataset, variant_tensor)

    @property
    def element_spec(self):
        return self._input_dataset.element_spec


def check_graph(dataset):
    """Warns of a pipeline that lies in another graph than the default one."""
    graph = get_default_graph()
    pending, seen = [dataset], []
    while pending:
        each = pending.pop(0)
        seen.append(each)
        if each._graph is not graph:
            logging.getLogger("tensorflow").warning(
                "The graph (%s) of the iterator is different from the graph (%s) the dataset: %s was created in.",
                graph, each._graph, each._variant_tensor,
            )  # fmt: skip
        pending.extend(source for source in each._inputs() if source not in seen)
