"""How calls of functions, and parsing, are vectorized."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.parallel_for.rules import stacked, vectorizes


@vectorizes("PartitionedCall", "StatefulPartitionedCall")
def _call(node):
    body = node.op.graph.find_function(node.attr("f").name).body
    inner = node.vectorizer.of_function(body.get_operations())
    for placeholder, found in zip(body.inputs, node.inputs, strict=True):
        inner.set(placeholder, found)
    return [inner.find(output) for output in body.outputs]


@vectorizes("DecodeCSV")
def _decode_csv(node):
    defaults = [node.common(index) for index in range(1, len(node))]
    return [stacked(output) for output in node.again([node.rows(0), *defaults])]


@vectorizes("ParseSingleExample")
def _parse_single_example(node):
    defaults = [node.common(index) for index in range(1, len(node))]
    attrs = node.op._attrs
    sparse_keys = [ops.constant(key) for key in attrs["sparse_keys"]]
    dense_keys = [ops.constant(key) for key in attrs["dense_keys"]]
    no_names = ops.constant([], "string", shape=[0])
    parsed = (
        get_default_graph()
        .create_op(
            "ParseExample",
            [node.rows(0), no_names, *sparse_keys, *dense_keys, *defaults],
            attrs={
                "Nsparse": len(sparse_keys),
                "Ndense": len(dense_keys),
                **{name: attrs[name] for name in ("sparse_types", "Tdense", "dense_shapes")},
            },
        )
        .outputs
    )
    count = len(sparse_keys)
    node.vectorizer.sparse.update(node.op.outputs[: 3 * count])
    return [stacked(output) for output in parsed]
