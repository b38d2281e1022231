"""Fractional pools and their gradients. Cells are drawn anew by what runs the model, or once and for all if the op
draws the same in all runs."""

from __future__ import annotations

import numpy as np

from stillflow.graph.dtypes import float64
from stillflow.onnx_export.computed_here import computed_here
from stillflow.onnx_export.ops.indexing import numbered, scatter_elements
from stillflow.onnx_export.ops.random import permutation, uniform
from stillflow.onnx_export.translation import END, Call, converts
from stillflow.ops.nn.fractional_pool import fractional_max_pool

_ROWS, _COLUMNS = 1, 2

# ---- Where cells begin --------------------------------------------------------------------------------------------


def _fixed_cells(call):
    """Where cells of rows and columns begin, as they are drawn here, of an op that draws the same in all runs."""
    rows, columns = call.dims()[_ROWS : _COLUMNS + 1]
    if rows is None or columns is None:
        raise call.error("draws the same cells in all runs, and needs the height and width of its images for that")
    names = ("pooling_ratio", "pseudo_random", "deterministic", "seed", "seed2")
    image = np.zeros([1, rows, columns, 1], np.float32)
    options = {name: call.attr(name) for name in names}
    begins = computed_here(lambda: fractional_max_pool(image, **options)[1:])
    return [call.constant(each) for each in begins]


def _drawn_cells(call, axis):
    """Where the cells of an axis begin, and the end of the last one, int64 [cells + 1].

    Sizes of cells are shuffled; of pseudo-random ones the begins are ratio (i + shift), rounded up, less 1, for one
    shift that makes neither the first cell nor the last one too large.
    """
    size = call.add("Shape", call.inputs[0], start=axis, end=axis + 1)
    ratio = call.constant(np.float32(call.attr("pooling_ratio")[axis]))
    cells = call.cast(call.add("Floor", call.add("Div", call.cast(size, np.float32), ratio)), np.int64)
    smaller = call.add("Div", size, cells)
    numbers = call.below(call.add("Squeeze", cells))
    if not call.attr("pseudo_random"):
        is_larger = call.add("Less", permutation(call, cells), call.add("Mod", size, cells))
        sizes = call.add("Add", smaller, call.cast(is_larger, np.int64))
        ends = call.add("CumSum", sizes, call.constant(0, np.int64))
        return call.add("Concat", call.ints(0), ends, axis=0)
    real_size, real_cells, real_smaller, places = (
        call.cast(value, np.float64) for value in (size, cells, smaller, numbers)
    )
    one = call.constant(1, np.float64)
    exact = call.add("Div", real_size, real_cells)
    first = call.add("Add", real_smaller, call.constant(2, np.float64))
    first = call.add("Sub", call.add("Div", first, exact), one)
    last = call.add("Div", call.add("Add", call.add("Sub", real_size, real_smaller), one), exact)
    last = call.add("Sub", last, call.add("Sub", real_cells, one))
    shift = call.add("Mul", uniform(call, call.ints(1), float64), call.add("Min", first, last))
    begins = call.add("Ceil", call.add("Mul", exact, call.add("Add", places, shift)))
    begins = call.cast(call.add("Sub", begins, one), np.int64)
    inner = call.add("Slice", begins, call.ints(1), call.ints(END))
    return call.add("Concat", call.ints(0), inner, size, axis=0)


# ---- Cells --------------------------------------------------------------------------------------------------------


class _Cells:
    """The cells of an axis: `places` [cells, longest], int64, of the elements of each, of which a shorter cell
    repeats the last one; `is_inside`, whether an element is not such a repetition; `counts`, [cells]."""

    def __init__(self, call, begins, size):
        end = END
        first = call.add("Slice", begins, call.ints(0), call.ints(-1))
        behind = call.add("Slice", begins, call.ints(1), call.ints(end))
        if call.attr("overlapping"):
            behind = call.add("Min", call.add("Add", behind, call.ints(1)), size)
        self.counts = call.add("Sub", behind, first)
        longest = call.add("ReduceMax", self.counts, keepdims=0)
        steps = call.below(longest)
        first, behind = (call.add("Unsqueeze", value, call.ints(1)) for value in (first, behind))
        places = call.add("Add", first, steps)
        self.is_inside = call.add("Less", places, behind)
        self.places = call.add("Min", places, call.add("Sub", behind, call.ints(1)))

    def elements(self, call, image, axis):
        """The image with the axis replaced by two: cells, and the elements of each."""
        return call.add("Gather", image, self.places, axis=axis)


def _both_cells(call, begins):
    sizes = [call.add("Shape", call.inputs[0], start=axis, end=axis + 1) for axis in (_ROWS, _COLUMNS)]
    return [_Cells(call, *each) for each in zip(begins, sizes, strict=True)]


def _cell_sizes(call, rows, columns, dtype):
    """How many elements the cells have, [rows, columns, 1], in the type of the images."""
    counts = call.add("Mul", call.add("Unsqueeze", rows.counts, call.ints(1)), columns.counts)
    return call.to_type_of(call.add("Unsqueeze", counts, call.ints(2)), dtype)


def _reduced(call, image, cells, axis):
    """The largest elements, or the sums, of the cells of an axis."""
    elements = cells.elements(call, image, axis)
    if call.op.type == "FractionalMaxPool":
        return call.add("ReduceMax", elements, call.ints(axis + 1), keepdims=0)
    is_inside = call.add("Unsqueeze", cells.is_inside, call.ints(*range(2, 5 - axis)))
    elements = call.add("Where", is_inside, elements, call.like(0))
    return call.add("ReduceSum", elements, call.ints(axis + 1), keepdims=0)


@converts("FractionalMaxPool", "FractionalAvgPool")
def fractional_pool(call: Call):
    begins = _fixed_cells(call) if call.attr("deterministic") else [_drawn_cells(call, axis) for axis in (1, 2)]
    rows, columns = _both_cells(call, begins)
    pooled = _reduced(call, _reduced(call, call.inputs[0], rows, _ROWS), columns, _COLUMNS)
    if call.op.type == "FractionalAvgPool":
        pooled = call.add("Div", pooled, _cell_sizes(call, rows, columns, call.dtype()))
    return [pooled, *begins]


# ---- Gradients, of cells as they were drawn -----------------------------------------------------------------------


@converts("FractionalMaxPoolGrad")
def fractional_max_pool_gradient(call):
    """The gradient of a cell goes to the first of its largest elements, whose numbers are gathered as they are."""
    image = call.inputs[0]
    rows, columns = _both_cells(call, call.inputs[3:])
    shape = call.add("Shape", image)
    elements, numbers = (_cells_together(call, value, rows, columns) for value in (image, numbered(call, shape)))
    best = call.add("ArgMax", elements, axis=3, keepdims=1)
    places = call.add("GatherElements", numbers, best, axis=3)
    return scatter_elements(call, shape, places, call.inputs[2], 2)


def _cells_together(call, image, rows, columns):
    """[batch, rows, columns, elements of a cell row by row, channels]"""
    apart = columns.elements(call, rows.elements(call, image, _ROWS), 3)  # [batch, rows, y, columns, x, channels]
    apart = call.add("Transpose", apart, perm=[0, 1, 3, 2, 4, 5])
    outer, channels = (call.add("Shape", apart, start=start, end=end) for start, end in ((0, 3), (5, 6)))
    return call.add("Reshape", apart, call.add("Concat", outer, call.ints(-1), channels, axis=0))


@converts("FractionalAvgPoolGrad")
def fractional_average_pool_gradient(call):
    """Each element has a part of the gradients of the cells that it is in: products with what says which."""
    sizes = call.numbers(0)
    grad, begins = call.inputs[1], call.inputs[2:]
    rows, columns = (
        _Cells(call, begins[axis - 1], call.add("Gather", sizes, call.ints(axis))) for axis in (_ROWS, _COLUMNS)
    )
    shares = call.add("Div", call.cast(grad, np.float64), _cell_sizes(call, rows, columns, float64))
    is_in_row = _members(call, rows, call.add("Gather", sizes, call.ints(_ROWS)))
    is_in_column = _members(call, columns, call.add("Gather", sizes, call.ints(_COLUMNS)))
    found = call.add("Einsum", is_in_row, shares, equation="ry,brsc->bysc")
    found = call.add("Einsum", is_in_column, found, equation="sx,bysc->byxc")
    return call.to_type_of(found, call.dtype(1))


def _members(call, cells, size):
    """1 for the elements that are in a cell, 0 for others: float64 [cells, elements]."""
    elements = call.below(call.add("Squeeze", size))
    is_equal = call.add("Equal", call.add("Unsqueeze", cells.places, call.ints(2)), elements)
    return call.add("ReduceMax", call.cast(is_equal, np.float64), call.ints(1), keepdims=0)
