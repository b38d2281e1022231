"""StringJoin: strings put together, element by element."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

string_join = define_op(
    "StringJoin(inputs: N * string) -> (output: string)",
    "N: int >= 1; separator: string = ''",
    kernel="string_join(inputs | separator)",
    differentiable=False,
    public="string_join strings.join",
    doc="""Strings of several tensors put together, element by element; scalars go with every element.""",
)


@string_join.shape_rule
def _(context):
    """Scalars go with every element of the others."""
    if any(dims is None for dims in context.shapes):
        return None
    result = ()
    for dims in context.shapes:
        if dims:
            result = plain.merged(result, dims) if result else dims
    return result
