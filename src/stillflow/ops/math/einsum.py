"""Einsum: sums of products over named axes, as one node. tf.einsum of 1.15 makes products of matrices instead."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.math.elementwise_binary import broadcast
from stillflow.ops.registry import define_op

einsum_op = define_op(
    "Einsum(inputs: N * T) -> (output: T)",
    "equation: string; N: int >= 1; T: type",
    kernel="einsum(inputs | equation)",
    differentiable=None,  # as in TensorFlow 1.15
)

_ELLIPSIS = "..."


def _parts(equation):
    """(the axes of each input, the axes of the output) as an equation has them."""
    parts = equation.split("->")
    if len(parts) != 2:
        raise ShapeError(f"Expecting exactly one '->' in einsum equation: {equation}")
    inputs = parts[0].split(",")
    if len(inputs) > 2:
        raise ShapeError(f"Expecting 1 or 2 input subscripts in equation '{equation}' but got: {len(inputs)}")
    for axes in (*inputs, parts[1]):
        dots = axes.count(".")
        if dots not in (0, 3):
            raise ShapeError(
                f"Expected at most one ellipsis (...), but found {dots} periods (.) in the input subscript: {axes}"
            )
        if dots and _ELLIPSIS not in axes:
            raise ShapeError(f"Periods found outside of ellipsis in subscript: {axes}")
    return inputs, parts[1]


def _axes(text, rank, equation, index):
    """The letters of a shape's dimensions, with None for those of an ellipsis; None if the rank is not known."""
    before, ellipsis, after = text.partition(_ELLIPSIS)
    letters = len(before) + len(after)
    if rank is None:
        return None
    if rank < letters or (rank > letters and not ellipsis):
        least = "at least " if ellipsis else ""
        raise ShapeError(
            f"Shape must be {least}rank {letters} but is rank {rank}\n\t for {index}th input and equation: {equation}"
        )
    return [*before, *[None] * (rank - letters), *after]


@einsum_op.shape_rule
def _(context):
    equation = context.attrs["equation"]
    equation = equation.decode() if isinstance(equation, bytes) else equation
    inputs, output = _parts(equation)
    if len(context.shapes) != len(inputs):
        raise ShapeError(f"Expected {len(inputs)} inputs for equation {equation} but got: {len(context.shapes)}")
    sizes: dict[str, int | None] = {}
    ellipses: list[tuple | None] = []
    for index, (text, dims) in enumerate(zip(inputs, context.shapes, strict=True)):
        axes = _axes(text, None if dims is None else len(dims), equation, index)
        if axes is None:
            sizes.update({letter: None for letter in text if letter != "." and letter not in sizes})
            ellipses.append(None if _ELLIPSIS in text else ())
            continue
        for letter, size in zip(axes, dims, strict=True):
            if letter is not None:
                sizes[letter] = plain.merged_size(sizes.get(letter), size)
        ellipses.append(tuple(size for letter, size in zip(axes, dims, strict=True) if letter is None))
    return _output_dims(equation, output, sizes, _broadcast(ellipses))


def _broadcast(ellipses):
    dims = ellipses[0]
    for other in ellipses[1:]:
        dims = broadcast(dims, other)
    return dims


def _output_dims(equation, output, sizes, ellipsis):
    if _ELLIPSIS not in output:
        if ellipsis:
            raise ShapeError(
                f"Shape must be at most rank 0 but is rank {len(ellipsis)}\n\t for einsum equation '{equation}' "
                "without ellipsis (...) in the output subscripts where input(s) have non-empty broadcasting shape"
            )
        ellipsis = ()
    for letter in output:
        if letter != "." and letter not in sizes:
            raise ShapeError(
                f"Einsum output subscripts for equation '{equation}' has label '{letter}' which is not present in "
                "the input subscripts"
            )
    if ellipsis is None:
        return None
    before, _, after = output.partition(_ELLIPSIS)
    rest = tuple(sizes[letter] for letter in after)
    return (*(sizes[letter] for letter in before), *(ellipsis if _ELLIPSIS in output else ()), *rest)
