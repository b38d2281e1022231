"""fuse_nce_loss: tf.nn.nce_loss with its gradient, as one kernel.

The place is found by the program itself: nce_loss and its gradients are built for the shapes at hand, reduced, and
looked for in the plan. What the losses are multiplied by in the loss that is differentiated (1 / batch for a mean)
is in many constants of the reduced program, so it is first found out by a match that does not compare constants.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from stillflow.graph import dtypes
from stillflow.ops.registry import Kernel
from stillflow.plan.drop import drop
from stillflow.plan.ir import Node, Value
from stillflow.plan.patterns import find, make_pattern
from stillflow.plan.uniform import uniform_value

_KERNEL = Kernel(
    "nce_loss",
    ("inputs", "weights", "biases", "ids", "true_expected", "sampled_expected"),
    ("scale", "wants_loss"),
)
_ANY_SCALE = np.float32(0.7182818)


class _Sizes(NamedTuple):
    examples: int
    samples: int
    classes: int
    width: int


def fuse_nce_loss(plan, reduce):
    """Replaces each nce_loss whose gradients are computed too by one node."""
    tried: set = set()
    for sizes in iter(partial(_candidate, plan, tried), None):
        for wants_loss in (True, False):
            found = _find(plan, sizes, wants_loss, reduce)
            if found is not None:
                match, scale = found
                _replace(plan, match, scale, wants_loss)
                break


def _candidate(plan, tried):
    """The sizes of what may be an nce_loss that has not been tried: inputs by rows that are looked up together."""
    for node in plan.nodes:
        if node.type != "MatMul" or node in tried:
            continue
        sizes = _sizes_at(node)
        if sizes is not None:
            tried.add(node)
            return sizes
    return None


def _sizes_at(product):
    inputs, sampled_rows = product.inputs
    rows = _producer(sampled_rows, "Slice")
    lookup = rows and _producer(rows.inputs[0], "GatherV2")
    ids = lookup and _producer(lookup.inputs[1], "ConcatV2")
    if not ids or inputs.dtype is not dtypes.float32 or not product.attrs["transpose_b"]:
        return None
    weights = lookup.inputs[0]
    known = inputs.count is not None and weights.count is not None and sampled_rows.count is not None
    if not known or len(inputs.dims) != 2 or len(weights.dims) != 2 or len(sampled_rows.dims) != 2:
        return None
    sizes = _Sizes(inputs.dims[0], sampled_rows.dims[0], *weights.dims)
    fits = lookup.outputs[0].dims == (sizes.examples + sizes.samples, sizes.width)
    return sizes if fits and min(sizes) > 0 else None


def _producer(value, node_type):
    node = value.producer
    return node if node is not None and node.type == node_type else None


# ---- The pattern ----------------------------------------------------------------------------------------------


def _program(inputs, weights, biases, labels, sampled, true_expected, sampled_expected, scale, wants_loss):
    """nce_loss and the gradients of scale * loss by its inputs, its weights and its biases."""
    from stillflow import ops
    from stillflow.autodiff.reverse import gradients
    from stillflow.composites.sampled_losses import nce_loss

    losses = nce_loss(
        weights, biases, labels, inputs, sampled._dims[0], weights._dims[0],
        sampled_values=(sampled, true_expected, sampled_expected),
    )  # fmt: skip
    upstream = ops.fill([inputs._dims[0]], scale)
    by_inputs, by_weights, by_biases = gradients(losses, [inputs, weights, biases], grad_ys=[upstream])
    return [*([losses] if wants_loss else []), by_inputs, by_weights.values, by_biases.values]


def _pattern(sizes, scale, wants_loss, reduce):
    examples, samples, classes, width = sizes
    arguments = [
        (dtypes.float32, (examples, width)),
        (dtypes.float32, (classes, width)),
        (dtypes.float32, (classes,)),
        (dtypes.int64, (examples, 1)),
        (dtypes.int64, (samples,)),
        (dtypes.float32, (examples, 1)),
        (dtypes.float32, (samples,)),
    ]
    return make_pattern(partial(_program, scale=scale, wants_loss=wants_loss), arguments, reduce)


def _find(plan, sizes, wants_loss, reduce):
    """(match, scale) of an nce_loss of these sizes of which nothing but the results is needed, or None."""
    scale = _scale(plan, sizes, wants_loss, reduce)
    match = find(_pattern(sizes, scale, wants_loss, reduce), plan)
    if match is None or not match.is_closed(plan, shared=_ids(match)):
        return None
    return match, scale


def _scale(plan, sizes, wants_loss, reduce):
    """What the losses are multiplied by; 1 if that cannot be seen."""
    match = find(_pattern(sizes, _ANY_SCALE, wants_loss, reduce), plan, same_constants=False)
    for wanted, value in match.constants if match else ():
        one, other = uniform_value(wanted), uniform_value(value)
        if one is not None and other is not None and one.dtype == np.float32 and one == _ANY_SCALE:
            return np.float32(other)
    return np.float32(1)


def _ids(match):
    """The values of the classes' numbers, which updates read too: they stay."""
    return {value for value in match.values.values() if value.dtype is dtypes.int64}


# ---- The fused node -------------------------------------------------------------------------------------------


def _replace(plan, match, scale, wants_loss):
    inputs, weights, biases, _, _, true_expected, sampled_expected = match.inputs()
    lookup = next(node for node in match.nodes.values() if node.type == "GatherV2")
    outputs = dict.fromkeys(match.outputs()).keys()
    members = sorted(match.nodes.values(), key=lambda node: node.position)
    readers = (i for i, node in enumerate(plan.nodes) if node not in members and not outputs.isdisjoint(node.inputs))
    place = next(readers, len(plan.nodes))
    position = (plan.nodes[place] if place < len(plan.nodes) else plan.nodes[-1]).position
    arguments = [inputs, weights, biases, lookup.inputs[1], true_expected, sampled_expected]
    attrs = {"scale": float(scale), "wants_loss": int(wants_loss)}
    fused = Node(members[0].op, "_NceLoss", _KERNEL, arguments, attrs, position, is_pure=True)
    fused.guard = members[0].guard
    fused.parts = [node.op for node in members]
    if not wants_loss:
        unread = Value(dtypes.float32, (inputs.dims[0],), fused)
        fused.outputs = [unread]
    replacements = {}
    for value in outputs:
        fresh = Value(value.dtype, value.dims, fused, value.source)
        fused.outputs.append(fresh)
        replacements[value] = fresh
    plan.nodes.insert(place, fused)
    plan.replace(replacements)
    drop(plan)
