"""Random numbers: of the same distributions, drawn by what runs the model, which draws others than TensorFlow.

The model's documentation lists the nodes that do so. A seed of an op becomes a seed of its node.
"""

from __future__ import annotations

import math

import numpy as np

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.dtypes import float32, float64
from stillflow.onnx_export.computed_here import computed_here
from stillflow.onnx_export.translation import Call, converts, element_type
from stillflow.ops.array.constant import constant


def _seed(call):
    """ONNX's attribute for the seeds of the op; without them every run draws others."""
    seeds = [call.attr(name) for name in ("seed", "seed2")]
    return {"seed": float((seeds[0] * 2654435761 + seeds[1]) % 2**24)} if any(seeds) else {}


def drawn(call, op_type, shape, dtype, **options):
    """RandomUniform or RandomNormal numbers of a type, in a shape, int64 [rank], that is computed."""
    call.translation.note_random(call.name)
    whole = call.add("ConstantOfShape", shape)
    return call.add(f"{op_type}Like", whole, dtype=element_type(dtype), **_seed(call), **options)


def uniform(call, shape, dtype, **options):
    return drawn(call, "RandomUniform", shape, dtype, **options)


@converts("RandomUniform")
def random_uniform(call: Call):
    return uniform(call, call.numbers(0), call.op.outputs[0].dtype)


@converts("RandomStandardNormal")
def random_standard_normal(call):
    return drawn(call, "RandomNormal", call.numbers(0), call.op.outputs[0].dtype)


@converts("TruncatedNormal")
def truncated_normal(call):
    """The numbers of whose distribution a uniform part is below, without the two tails beyond two deviations."""
    tail = math.erfc(math.sqrt(2)) / 2
    part = uniform(call, call.numbers(0), float32, low=2 * tail - 1, high=1 - 2 * tail)
    number = call.add("Mul", _inverse_erf(call, part), call.constant(math.sqrt(2), np.float32))
    return call.to_type_of(number, call.op.outputs[0].dtype)


# Of a polynomial in w = -ln(1 - x^2) - 2.5 for w below 2.5, from the highest power on: M. Giles, "Approximating the
# erfinv function", GPU Computing Gems Jade Edition, 2011.
_CENTRAL = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip


def _inverse_erf(call, x):
    """Of numbers whose -ln(1 - x^2) is less than 5, as those of two deviations are."""
    square = call.add("Mul", x, x)
    w = call.add("Neg", call.add("Log", call.add("Sub", call.constant(1, np.float32), square)))
    w = call.add("Sub", w, call.constant(2.5, np.float32))
    found = call.constant(_CENTRAL[0], np.float32)
    for coefficient in _CENTRAL[1:]:
        found = call.add("Add", call.add("Mul", found, w), call.constant(coefficient, np.float32))
    return call.add("Mul", found, x)


@converts("RandomUniformInt")
def random_uniform_int(call):
    """Whole numbers from the first bound to below the second, by double numbers."""
    low, high = (call.cast(call.inputs[index], np.float64) for index in (1, 2))
    part = uniform(call, call.numbers(0), float64)
    number = call.add("Floor", call.add("Mul", part, call.add("Sub", high, low)))
    return call.to_type_of(call.add("Add", number, low), call.op.outputs[0].dtype)


def permutation(call, count):
    """The numbers below `count`, int64 [1], in random order."""
    keys = uniform(call, count, float64)
    return call.add("TopK", keys, count, outputs=2)[1]


@converts("RandomShuffle")
def random_shuffle(call):
    count = call.add("Shape", call.inputs[0], end=1)
    return call.add("Gather", call.inputs[0], permutation(call, count), axis=0)


@converts("Multinomial")
def multinomial(call):
    """The class whose logit is largest once each has Gumbel's noise (E. J. Gumbel, 1954)."""
    logits = call.add("Unsqueeze", call.cast(call.inputs[0], np.float32), call.ints(1))
    batch, classes = (call.add("Shape", call.inputs[0], start=n, end=n + 1) for n in (0, 1))
    shape = call.add("Concat", batch, call.numbers(1), classes, axis=0)
    noise = uniform(call, shape, float32, low=float(np.finfo(np.float32).tiny))
    noise = call.add("Neg", call.add("Log", call.add("Neg", call.add("Log", noise))))
    best = call.add("ArgMax", call.add("Add", logits, noise), axis=2, keepdims=0)
    return call.to_type_of(best, call.op.outputs[0].dtype)


@converts(
    "StatelessMultinomial", "StatelessRandomNormal", "StatelessRandomUniform", "StatelessRandomUniformInt",
    "StatelessTruncatedNormal",
)  # fmt: skip
def stateless(call):
    """Numbers that follow from a seed, as they are drawn here. What runs the model could not draw them."""
    inputs = [call.known(index, "a seed and sizes") for index in range(len(call.inputs))]
    op = call.op

    def build():
        tensors = [constant(value, tensor.dtype) for value, tensor in zip(inputs, op.inputs, strict=True)]
        return get_default_graph().create_op(op.type, tensors, attrs=dict(op.node_def.attr.items())).outputs[0]

    return call.constant(computed_here(build), name=call.name)
