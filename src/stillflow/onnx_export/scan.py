"""ONNX's Scan: a body that runs over the first axis of tensors, and hands states on from one run to the next."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.block import Block
from stillflow.onnx_export.translation import Call, Translation


def scan(call, body, states, elements, makes=(), is_backwards=False):
    """Adds a Scan; returns (the last states, what the body made in each run, joined along a first axis).

    Args:
      call: the Call of the op that it is a part of.
      body: a function (call, states, elements) -> (states, results) of names of values within the body, which may
        read values from outside of it, too.
      states: (name, numpy type, rank) of the first states.
      elements: (name, numpy type, rank of a part) of what is taken apart along its first axis.
      makes: (numpy type, rank) of the results of a run.
      is_backwards: whether the last elements come first; results lie where their elements do.
    """
    names = call.block.names
    inside = Call(Translation(Block(names), call.translation), call.op, call.inputs)
    kinds = [kind for _, *kind in (*states, *elements)]
    inputs = [names.unique(f"{call.name}/in_body") for _ in kinds]
    count = len(states)
    following, results = body(inside, inputs[:count], inputs[count:])
    outputs = [inside.add("Identity", value) for value in (*following, *results)]
    graph = inside.block.graph("body", _infos(inputs, kinds), _infos(outputs, [*kinds[:count], *makes]))
    options = {"num_scan_inputs": len(elements), "body": graph}
    if is_backwards:
        options |= {"scan_input_directions": [1] * len(elements), "scan_output_directions": [1] * len(results)}
    made = call.add("Scan", *(name for name, *_ in (*states, *elements)), outputs=len(outputs), **options)
    made = made if isinstance(made, list) else [made]
    return made[:count], made[count:]


def _infos(names, kinds):
    from onnx import helper

    return [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(numpy_type)), [None] * rank)
        for name, (numpy_type, rank) in zip(names, kinds, strict=True)
    ]
