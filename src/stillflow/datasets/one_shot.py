"""Dataset.make_one_shot_iterator: an iterator that starts itself."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import structure
from stillflow.datasets.iterator import Iterator
from stillflow.datasets.node import check_graph
from stillflow.datasets.rewriting import apply_options
from stillflow.functions.factory import factory_of
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.random.seeds import get_seed


@public("data.make_one_shot_iterator")
@by_mode
def make_one_shot_iterator(dataset):
    """See DatasetV1.make_one_shot_iterator."""
    check_graph(dataset)
    graph_seed, op_seed = get_seed(None)
    seed = None if graph_seed is None else (graph_seed + 87654321 * op_seed) % (2**63 - 1)

    def _make_dataset():
        """Factory function for a dataset."""
        return apply_options(dataset)._variant_tensor

    try:
        factory = factory_of(_make_dataset, "_make_dataset", _variant_operations(dataset), seed)
    except ValueError as error:
        if "Cannot capture a stateful node" not in str(error):
            raise
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does not support "
            "datasets that capture stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
            f"`Dataset.make_initializable_iterator()`. (Original error: {error})"
        ) from None
    factory.add_to_graph(get_default_graph())
    spec = dataset.element_spec
    resource = ops.one_shot_iterator(dataset_factory=factory, **dataset._flat_structure)
    return Iterator(
        resource, None, structure.output_types(spec), structure.output_shapes(spec), structure.output_classes(spec)
    )


@eager_version_of(make_one_shot_iterator)
def eager_iterator(dataset):
    return iter(dataset)


def _variant_operations(dataset):
    """The operations that the data set is made of, as far as variants lead to them."""
    found: dict = {}
    pending = [dataset._variant_tensor.op]
    while pending:
        op = pending.pop()
        if op not in found:
            found[op] = None
            pending.extend(tensor.op for tensor in op.inputs if tensor.dtype is dtypes.variant)
    return found
