"""einsum: tensor contractions in Einstein notation, lowered to matrix products as in TensorFlow 1.15."""

from __future__ import annotations

import re
import string

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _einsum(equation, *inputs, name=None):
    """The tensor whose axes `equation` names, as in "ij,jk->ik": products summed over all axes that it leaves out.

    Args:
      equation: letters for the axes of each input and of the result, "..." for any number of them; without "->", the
        result has those of "..." and the letters that occur once, in alphabetical order.

    Raises:
      ValueError: for an equation of another form, or inputs that do not fit it.
    """
    with name_scope(name, "einsum", list(inputs)):
        tensors = [convert_to_tensor(value) for value in inputs]
        input_labels, output_labels = _parsed(equation, tensors)
        if "->" not in equation and len(tensors) == 1 and _is_trace(input_labels[0]):
            return ops.trace(tensors[0])
        for labels in input_labels:
            if len(set(labels)) != len(labels):
                raise ValueError(f"Subscript not supported: an axis appears more than once: {labels}")
        for label in sorted(set("".join(input_labels)) - set(output_labels)):
            if sum(label in labels for labels in input_labels) > 2:
                return _product_of_all(tensors, input_labels, output_labels)
        result, labels = tensors[0], input_labels[0]
        for tensor, tensor_labels in zip(tensors[1:], input_labels[1:], strict=True):
            summed = (set(labels) & set(tensor_labels)) - set(output_labels)
            result, labels = _product(result, labels, tensor, tensor_labels, summed)
        left_out = [i for i, label in enumerate(labels) if label not in output_labels]
        if left_out:
            result = ops.reduce_sum(result, left_out)
            labels = "".join(label for label in labels if label in output_labels)
        if sorted(labels) != sorted(output_labels):
            raise ValueError(f"Invalid equation: {equation}")
        return _transposed(result, [labels.index(label) for label in output_labels])


def _is_trace(labels):
    return len(labels) == 2 and labels[0] == labels[1]


def _parsed(equation, inputs):
    """The letters of each input and those of the result; "..." becomes letters that are not used."""
    equation = equation.replace(" ", "")
    match = re.match(r"^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$", equation)
    if match is None:
        raise ValueError(f"Indices have incorrect format: {equation}")
    input_labels = match.group(1).split(",")
    output_labels = match.group(2)[2:] if match.group(2) else None
    if len(input_labels) != len(inputs):
        raise ValueError(f'Got {len(inputs)} arguments for equation "{equation}", expecting {len(input_labels)}')
    spread = ""
    if "..." in equation:
        unused = "".join(letter for letter in string.ascii_letters if letter not in "".join(input_labels))
        found = [
            _without_ellipsis(labels, tensor, unused) for labels, tensor in zip(input_labels, inputs, strict=True)
        ]
        input_labels = [labels for labels, _ in found]
        spread = max((letters for _, letters in found), key=len)
        output_labels = None if output_labels is None else output_labels.replace("...", spread)
    if any("." in labels for labels in (*input_labels, output_labels or "")):
        raise ValueError('period "." found outside of ellipsis')
    everything = "".join(input_labels)
    if output_labels is None:
        once = {label for label in everything if everything.count(label) == 1}
        output_labels = spread + "".join(sorted(once - set(spread)))
    return input_labels, output_labels


def _without_ellipsis(labels, tensor, unused):
    """Labels with letters in the place of "...", and these letters."""
    if "..." not in labels:
        return labels, ""
    if labels.count("...") != 1:
        raise ValueError("Unable to resolve ellipsis. Excess number found.")
    if tensor._dims is None:
        raise ValueError("Unable to statically infer ellipsis axes.")
    count = len(tensor._dims) - len(labels) + 3
    if count < 0:
        raise ValueError("Ellipses lengths do not match.")
    if len(unused) < count:
        raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
    letters = unused[len(unused) - count :]
    return labels.replace("...", letters), letters


def _check_rank(labels, tensor, position):
    if tensor._dims is None:
        raise ValueError(f"Tensor t{position} with the axes {labels} must have a known rank")
    if len(tensor._dims) != len(labels):
        raise ValueError(
            f"Tensor t{position} of rank {len(tensor._dims)} does not match einsum reduction of length {len(labels)}"
        )


def _product_of_all(inputs, input_labels, output_labels):
    """The sum over axes that more than two inputs have: of the products of all elements with all."""
    summed = sorted(set("".join(input_labels)) - set(output_labels))
    order = summed + list(output_labels)
    product: object = 1
    expanded = []
    for position, (tensor, labels) in enumerate(zip(inputs, input_labels, strict=True)):
        _check_rank(labels, tensor, position)
        own = sorted(labels, key=order.index)
        if own != list(labels):
            tensor = ops.transpose(tensor, [labels.index(label) for label in own])
        sizes = dict(zip(own, tensor._dims, strict=True))
        expanded.append((tensor, [-1 if sizes.get(label, 1) is None else sizes.get(label, 1) for label in order]))
    for tensor in [ops.reshape(tensor, shape) for tensor, shape in expanded]:
        product = product * tensor
    return ops.reduce_sum(product, list(range(len(summed))))


def _product(a, a_labels, b, b_labels, summed):
    """The product of two tensors summed over some of the axes that both have, and its letters."""
    _check_rank(a_labels, a, 0)
    _check_rank(b_labels, b, 1)
    both = sorted((set(a_labels) & set(b_labels)) - summed)
    a_own, b_own = sorted(set(a_labels) - set(b_labels)), sorted(set(b_labels) - set(a_labels))
    a = _transposed(a, [a_labels.index(label) for label in [*both, *a_own, *sorted(summed)]])
    b = _transposed(b, [b_labels.index(label) for label in [*both, *sorted(summed), *b_own]])
    labels = "".join([*both, *a_own, *b_own])
    if not summed:
        for _ in b_own:
            a = ops.expand_dims(a, -1)
        for _ in a_own:
            b = ops.expand_dims(b, len(both))
        return ops.mul(a, b), labels
    a_sizes = _sizes(a)
    batch, a_rest, a_summed = _cut(a_sizes, len(both), len(a_own))
    rows, inner = _count(a_rest), _count(a_summed)
    a = _reshaped(a, [*batch, rows, inner])
    b_sizes = _sizes(b)
    b_batch, _, b_rest = _cut(b_sizes, len(both), len(summed))
    b = _reshaped(b, [*b_batch, inner, _count(b_rest)])
    return _reshaped(ops.matmul(a, b), [*batch, *a_rest, *b_rest]), labels


def _cut(sizes, first, second):
    return sizes[:first], sizes[first : first + second], sizes[first + second :]


def _sizes(tensor):
    """The sizes of a tensor: numbers where they are known, and scalars of its shape where not."""
    sizes = list(tensor._dims)
    if None in sizes:
        shape = ops.shape(tensor)
        sizes = [shape[i] if size is None else size for i, size in enumerate(sizes)]
    return sizes


def _count(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


def _transposed(tensor, order):
    return tensor if order == list(range(len(order))) else ops.transpose(tensor, order)


def _reshaped(tensor, sizes):
    is_known = not any(isinstance(size, Tensor) for size in sizes)
    return tensor if is_known and tuple(sizes) == tensor._dims else ops.reshape(tensor, sizes)


@public("einsum", "linalg.einsum")
def einsum(equation, *inputs, **kwargs):
    """Sums of products over the axes that `equation`, as "ij,jk->ik", names; see numpy.einsum.

    Raises TypeError for keyword arguments other than `name`.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    return _einsum(equation, *inputs, name=name)
