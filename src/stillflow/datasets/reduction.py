"""Dataset.reduce: folds all elements into one state."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope


def reduce_dataset(dataset, initial_state, reduce_func):
    """See Dataset.reduce."""
    with name_scope("initial_state"):
        state = structure.normalize_element(initial_state)
    spec = structure.type_spec_from_value(state)
    while True:
        function = StructuredFunction(reduce_func, "reduce()", (spec, dataset.element_spec), adds_to_graph=False)
        returned = function.output_structure
        check_state(spec, returned)
        weaker = weakened_state(spec, returned)
        if weaker is None:
            break
        spec = weaker  # the shape of the state changes: trace again with the shape that all states have in common
    traced = function.function
    traced.add_to_graph(get_default_graph())
    tensors = ops.reduce_dataset(
        dataset._variant_tensor,
        structure.to_tensor_list(spec, state),
        traced.captured_inputs,
        f=traced,
        output_shapes=structure.get_flat_tensor_shapes(spec),
        output_types=structure.get_flat_tensor_types(spec),
    )
    return structure.from_compatible_tensor_list(spec, tensors)


def check_state(spec, returned):
    """Raises TypeError if a new state is of other classes or types than the old ones."""
    for what, of, fits in (
        ("classes", structure.output_classes, lambda new, old: new is old or issubclass(new, old)),
        ("types", structure.output_types, lambda new, old: new == old),
    ):
        expected, found = of(spec), of(returned)
        pairs = zip(nest.flatten(found), nest.flatten(expected), strict=False)
        if not all(fits(new, old) for new, old in pairs):
            raise TypeError(
                f"The element {what} for the new state must match the initial state. Expected {expected}; got "
                f"{found}."
            )


def weakened_state(spec, returned):
    """What is known of old and new states alike, or None if that is what is known of the old ones."""
    shapes = structure.output_shapes(spec)
    old = nest.flatten(shapes)
    pairs = zip(old, nest.flatten(structure.output_shapes(returned)), strict=False)
    common = [ours.most_specific_compatible_shape(theirs) for ours, theirs in pairs]
    common.extend(old[len(common) :])
    if all(ours.rank is None or ours._dims == weaker._dims for ours, weaker in zip(old, common, strict=True)):
        return None
    return structure.convert_legacy_structure(
        structure.output_types(spec), nest.pack_sequence_as(shapes, common), structure.output_classes(spec)
    )
