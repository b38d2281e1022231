"""einsum: sums of products over axes that letters name, made of products of matrices as TensorFlow 1.15 does."""

from __future__ import annotations

import re

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.ops.convert import convert_to_tensor


def einsum(equation, *inputs, name=None):
    """The tensor whose axes `equation` names, as in "ij,jk->ik": products summed over all axes that it leaves out.

    Args:
      equation: letters for the axes of each input and of the result; without "->", the result has the letters that
        occur once, in alphabetical order.

    Raises:
      ValueError: for an equation of another form, or inputs that do not fit it.
    """
    with name_scope(name, "einsum", list(inputs)):
        tensors = [convert_to_tensor(value) for value in inputs]
        input_labels, output_labels = _parsed(equation, tensors)
        result, labels = tensors[0], input_labels[0]
        for tensor, tensor_labels in zip(tensors[1:], input_labels[1:], strict=True):
            summed = (set(labels) & set(tensor_labels)) - set(output_labels)
            result, labels = _product(result, labels, tensor, tensor_labels, summed)
        left_out = [i for i, label in enumerate(labels) if label not in output_labels]
        if left_out:
            result = ops.reduce_sum(result, left_out)
            labels = "".join(label for label in labels if label in output_labels)
        return _transposed(result, [labels.index(label) for label in output_labels])


def _parsed(equation, inputs):
    """The letters of each input and those of the result."""
    equation = equation.replace(" ", "")
    if "..." in equation:
        raise ValueError("Subscripts with ellipses are not yet supported.")
    match = re.match(r"^([a-zA-Z,]*)(?:->([a-zA-Z]*))?$", equation)
    if match is None:
        raise ValueError(f"Indices have incorrect format: {equation}")
    input_labels = match.group(1).split(",")
    if len(input_labels) != len(inputs):
        raise ValueError(f"Incorrect number of arguments: expected {len(input_labels)}, got {len(inputs)}")
    for labels, tensor in zip(input_labels, inputs, strict=True):
        if len(set(labels)) != len(labels):
            raise ValueError(f"Subscript not supported: an axis appears more than once: {labels}")
        if tensor._dims is None:
            raise ValueError("Input shapes of einsum must have a known rank")
        if len(tensor._dims) != len(labels):
            raise ValueError(f"Subscript {labels} does not fit an input of rank {len(tensor._dims)}")
    everything = "".join(input_labels)
    output_labels = match.group(2)
    if output_labels is None:
        output_labels = "".join(sorted(label for label in set(everything) if everything.count(label) == 1))
    if len(set(output_labels)) != len(output_labels):
        raise ValueError(f"Output subscripts contain an axis more than once: {output_labels}")
    for label in output_labels:
        if label not in everything:
            raise ValueError(f"Unknown output subscript: {label}")
    return input_labels, output_labels


def _product(a, a_labels, b, b_labels, summed):
    """The product of two tensors summed over some of the axes that both have, and its letters."""
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
    a = _reshaped(a, [*batch, _count(a_rest), _count(a_summed)])
    b_sizes = _sizes(b)
    b_batch, b_summed, b_rest = _cut(b_sizes, len(both), len(summed))
    b = _reshaped(b, [*b_batch, _count(b_summed), _count(b_rest)])
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
