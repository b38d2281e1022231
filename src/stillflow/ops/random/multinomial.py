"""Multinomial: class indices sampled from rows of logits."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops.dims import with_rank
from stillflow.ops.random.fill import require_scalar
from stillflow.ops.registry import define_op

_NUMBERS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"

multinomial_op = define_op(
    "Multinomial(logits: T, num_samples: int32) -> (output: output_dtype)",
    f"seed: int = 0; seed2: int = 0; T: {_NUMBERS}; output_dtype: {{int32, int64}} = int64",
    kernel="multinomial(logits, num_samples | output_dtype)",
    state="random",
    stateful=True,
    differentiable=False,
    traits="is_unordered",
)
stateless_multinomial_op = define_op(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> (output: output_dtype)",
    f"T: {_NUMBERS}; Tseed: {{int32, int64}} = int64; output_dtype: {{int32, int64}} = int64",
    kernel="stateless_multinomial(logits, num_samples, seed | output_dtype)",
    differentiable=False,
)


@multinomial_op.shape_rule
def _classes(context):
    rows = with_rank(context.shapes[0], 2)[0]
    require_scalar(context, 1)
    count = context.value(1)
    if count is not None and count < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {count}")
    return (rows, None if count is None else int(count))


@stateless_multinomial_op.shape_rule
def _(context):
    seed = with_rank(context.shapes[2], 1)
    if seed[0] not in (None, 2):
        raise ShapeError(f"Dimension must be 2 but is {seed[0]}")
    return _classes(context)
