"""Iterators: the node that stands for one, and the ops that start it at a data set and take its next element."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.data.declare import SPEC
from stillflow.ops.registry import define_op

_NO_SPEC = "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []"


def _scalar(op):
    @op.shape_rule
    def _(context):
        for shape in context.shapes:
            plain.with_rank(shape, 0)
        return ()

    return op


def _define_iterator(name):
    return _scalar(
        define_op(
            f"{name}() -> (handle: resource)",
            f"shared_name: string; container: string; {SPEC}",
            kernel="make_iterator_handle(| 'resource', container, shared_name, node_name, output_types, "
            "output_shapes)",
            state="position",
            stateful=True,
            differentiable=False,
        )
    )


iterator = _define_iterator("Iterator")
iterator_v2 = _define_iterator("IteratorV2")

make_iterator = define_op(
    "MakeIterator(dataset: variant, iterator: resource) -> ()",
    kernel="initialize_iterator(dataset, iterator)",
    stateful=True,
    differentiable=False,
)


def _define_get_next(name):
    op = define_op(
        f"{name}(iterator: resource) -> (components: output_types)",
        SPEC,
        kernel="iterator_get_next(iterator | output_types, output_shapes)",
        stateful=True,
        differentiable=False,
        traits="waits",
    )

    @op.shape_rule
    def _(context):
        plain.with_rank(context.shapes[0], 0)
        return [shape._dims for shape in context.attrs["output_shapes"]]

    return op


iterator_get_next = _define_get_next("IteratorGetNext")
iterator_get_next_sync = _define_get_next("IteratorGetNextSync")

iterator_to_string_handle = _scalar(
    define_op(
        "IteratorToStringHandle(resource_handle: resource) -> (string_handle: string)",
        kernel="iterator_to_string_handle(resource_handle)",
        stateful=True,
        differentiable=False,
    )
)


def _define_from_string_handle(name):
    return _scalar(
        define_op(
            f"{name}(string_handle: string) -> (resource_handle: resource)",
            _NO_SPEC,
            kernel="iterator_from_string_handle(string_handle | output_types, output_shapes)",
            stateful=True,
            differentiable=False,
        )
    )


iterator_from_string_handle = _define_from_string_handle("IteratorFromStringHandle")
iterator_from_string_handle_v2 = _define_from_string_handle("IteratorFromStringHandleV2")

serialize_iterator = _scalar(
    define_op(
        "SerializeIterator(resource_handle: resource) -> (serialized: variant)",
        kernel="serialize_iterator(resource_handle)",
        stateful=True,
        differentiable=False,
    )
)
deserialize_iterator = define_op(
    "DeserializeIterator(resource_handle: resource, serialized: variant) -> ()",
    kernel="deserialize_iterator(resource_handle, serialized)",
    stateful=True,
    differentiable=False,
)
iterator_get_next_as_optional = _scalar(
    define_op(
        "IteratorGetNextAsOptional(iterator: resource) -> (optional: variant)",
        SPEC,
        kernel="iterator_get_next_as_optional(iterator | output_types, output_shapes)",
        stateful=True,
        differentiable=False,
        traits="waits",
    )
)
