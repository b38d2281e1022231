"""RandomShuffle: a random permutation along the first dimension."""

from __future__ import annotations

from stillflow.ops.registry import define_op

random_shuffle = define_op(
    "RandomShuffle(value: T) -> (output: T)",
    "seed: int = 0; seed2: int = 0; T: type",
    kernel="random_shuffle(value)",
    state="random",
    stateful=True,
    differentiable=None,
    traits="is_unordered",
)


@random_shuffle.shape_rule
def _(context):
    return context.shapes[0]
