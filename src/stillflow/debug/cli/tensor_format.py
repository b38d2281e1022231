"""Tensors as lines of text, in which elements can be found again."""

from __future__ import annotations

import bisect
import re

import numpy as np

from stillflow.debug.cli.rich_text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list
from stillflow.debug.dumps.tensor_dumps import InconvertibleTensorProto
from stillflow.names import public_module

public_module("python.debug.cli.tensor_format")

BEGIN_INDICES_KEY = "i0"
OMITTED_INDICES_KEY = "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"

_OMISSION = "...,"
_EDGE_ITEMS = 3  # of numpy
_NUMBER = re.compile(r"[-+]?([0-9][-+0-9eE\.]*|nan|inf)(\s|,|\])")


class HighlightOptions:
    """Which elements are shown in another way.

    Args:
      criterion: a function from an array to one of bools.
      description: what it is, a text.
      font_attr: the attribute of these elements.
    """

    def __init__(self, criterion, description=None, font_attr=DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR):
        self.criterion = criterion
        self.description = description
        self.font_attr = font_attr


def format_tensor(
    tensor, tensor_label, include_metadata=False, auxiliary_message=None, include_numeric_summary=False,
    np_printoptions=None, highlight_options=None,
):  # fmt: skip
    """A tensor as RichTextLines.

    Args:
      tensor: an array; of what is none, the text is shown.
      tensor_label: a name to begin with, or None.
      include_metadata: whether to tell of dtype and shape.
      auxiliary_message: RichTextLines to put before the array.
      include_numeric_summary: whether to put counts and statistics before the array.
      np_printoptions: arguments of numpy.set_printoptions.
      highlight_options: HighlightOptions.

    Returns:
      The lines; in the annotation of a line that an array's row is in, the indices of its first element.
    """
    formatted = RichTextLines([])
    if tensor_label is not None:
        formatted.append(f'Tensor "{tensor_label}":', _label_segments(tensor_label))
    if not isinstance(tensor, np.ndarray):
        if tensor_label is not None:
            formatted.append("")
        is_text = isinstance(tensor, (InconvertibleTensorProto, np.generic))
        formatted.extend(RichTextLines((str(tensor) if is_text else repr(tensor)).split("\n")))
        return formatted
    if include_metadata:
        formatted.append(f"  dtype: {tensor.dtype}")
        formatted.append(f"  shape: {tensor.shape}")
    if formatted.num_lines():
        formatted.append("")
    if auxiliary_message:
        formatted.extend(auxiliary_message)
    if include_numeric_summary:
        formatted.append("Numeric summary:")
        formatted.extend(numeric_summary(tensor))
        formatted.append("")
    formatted.extend(_array_lines(tensor, np_printoptions or {}))
    if highlight_options is not None:
        _highlight(formatted, tensor, highlight_options)
    return formatted


def _label_segments(label):
    """The name in bold; a debug op after it in yellow."""
    name, _, suffix = label.rpartition(":")
    if suffix.isdigit() or not name:
        return [(8, 8 + len(label), "bold")]
    return [(8, 8 + len(name), "bold"), (8 + len(name) + 1, 8 + len(label), "yellow")]


def _array_lines(array, options):
    with np.printoptions(**options):
        lines = repr(array).split("\n")
    if array.dtype.type is np.bytes_:
        return RichTextLines(lines)
    annotations = _annotations(lines, array, options.get("edgeitems", _EDGE_ITEMS))
    return RichTextLines(lines, annotations=annotations)


def _annotations(lines, array, edge_items):
    """{number of a line: the indices of its first element}, and what array it is."""
    found: dict = {"tensor_metadata": {"dtype": array.dtype, "shape": array.shape}}
    if array.ndim == 0:
        return found
    indices = [0] * array.ndim
    depth = 0  # of brackets
    for i, line in enumerate(map(str.strip, lines)):
        if not line:
            continue
        if line == _OMISSION:
            found[i] = {OMITTED_INDICES_KEY: list(indices)}
            indices[depth - 1] = array.shape[depth - 1] - edge_items
            continue
        closed = line.count("]")
        depth += line.count("[") - closed
        found[i] = {BEGIN_INDICES_KEY: list(indices)}
        if not closed:  # a row that goes on in the next line
            indices[depth - 1] += line.rpartition("[")[2].count(",")
        elif depth > 0:
            indices[depth - 1] += 1
            indices[depth:] = [0] * (array.ndim - depth)
    return found


def _highlight(formatted, array, options):
    chosen = np.argwhere(options.criterion(array)).tolist()
    description = f"({options.description})" if options.description else ""
    percentage = len(chosen) / max(1, array.size) * 100.0
    formatted.lines[0] += f" Highlighted{description}: {len(chosen)} of {array.size} element(s) ({percentage:.2f}%)"
    if not chosen:
        return
    for is_omitted, row, begin, end in zip(*locate_tensor_element(formatted, chosen), strict=True):
        if not is_omitted and begin is not None:
            formatted.font_attr_segs.setdefault(row, []).append((begin, end, options.font_attr))


def locate_tensor_element(formatted, indices):
    """Where elements are in the lines of `format_tensor`.

    Args:
      formatted: these lines.
      indices: those of an element, or a list of them in ascending order.

    Returns:
      Whether it is left out in favour of an ellipsis, its line, and the columns where it begins and ends, None if it
      cannot be found; or lists of them.

    Raises:
      AttributeError: if the lines are not those of an array.
      ValueError: for indices that the array does not have, or that are not in order.
    """
    if "tensor_metadata" not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    is_batch = isinstance(indices[0], list)
    batch = indices if is_batch else [indices]
    _check_indices(batch, formatted.annotations["tensor_metadata"]["shape"])
    rows = sorted(row for row in formatted.annotations if isinstance(row, int))
    begins = [_begin(formatted.annotations[row]) for row in rows]
    found = []
    for element in batch:
        place = max(0, bisect.bisect_right(begins, element) - 1)
        # Of several lines that begin with the same element, as the last ones do, the first one has it.
        place = bisect.bisect_left(begins, begins[place])
        row = rows[place]
        is_omitted = OMITTED_INDICES_KEY in formatted.annotations[row]
        columns = _columns(formatted.lines[row], element[-1] - begins[place][-1])
        found.append((is_omitted, row, *columns))
    return tuple(map(list, zip(*found, strict=True))) if is_batch else found[0]


def _begin(annotation):
    return annotation[BEGIN_INDICES_KEY] if BEGIN_INDICES_KEY in annotation else annotation[OMITTED_INDICES_KEY]


def _check_indices(batch, shape):
    before = None
    for element in batch:
        if len(element) != len(shape):
            raise ValueError(f"Dimensions mismatch: requested: {len(element)}; actual: {len(shape)}")
        if any(index >= size for index, size in zip(element, shape, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if any(index < 0 for index in element):
            raise ValueError("Indices contain negative value(s).")
        if before is not None and element < before:
            raise ValueError("Input indices sets are not in ascending order.")
        before = element


def _columns(line, number):
    """Where the number after `number` others begins and ends in a line; an ellipsis ends what can be found."""
    ellipsis = line.find(_OMISSION)
    matches = [match for match in _NUMBER.finditer(line) if ellipsis < 0 or match.start() <= ellipsis]
    if number >= len(matches):
        return None, None
    return matches[number].start(), matches[number].end() - 1


def numeric_summary(tensor):
    """Counts of an array's elements by sign, infinity and NaN, and statistics of those that are finite."""
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype == bool:
        return _counts([("False", np.sum(tensor == 0)), ("True", np.sum(tensor > 0))], tensor.size)
    if not (np.issubdtype(tensor.dtype, np.floating) or np.issubdtype(tensor.dtype, np.integer)):
        return RichTextLines([f"No numeric summary available due to tensor dtype: {tensor.dtype}."])
    finite = tensor[np.isfinite(tensor)]
    counts = [
        ("nan", np.sum(np.isnan(tensor))), ("-inf", np.sum(tensor == -np.inf)), ("-", np.sum(finite < 0)),
        ("0", np.sum(finite == 0)), ("+", np.sum(finite > 0)), ("+inf", np.sum(tensor == np.inf)),
    ]  # fmt: skip
    output = _counts(counts, tensor.size)
    if finite.size:
        statistics = [("min", finite.min()), ("max", finite.max()), ("mean", finite.mean()), ("std", finite.std())]
        output.extend(_table(statistics))
    return output


def _counts(counts, total):
    counts = [(name, count) for name, count in counts if count]
    width = max(len("total") + 1, len(str(total)))
    return _table(counts, ["total".rjust(width), str(total).rjust(width)])


def _table(entries, last=None):
    """Two lines: names, and numbers under them."""
    width = max((max(len(name), len(str(value))) + 1 for name, value in entries), default=0)
    lines = [RichLine("|"), RichLine("|")]
    for name, value in entries:
        lines[0] += name.rjust(width)
        lines[1] += str(value).rjust(width)
    lines = [line + " |" for line in lines]
    if last is not None:
        lines = [line + text + " |" for line, text in zip(lines, last, strict=True)]
    return rich_text_lines_from_rich_line_list(lines)
