"""What a graph and its variables hold, and how much: tf.contrib.slim.model_analyzer."""

from __future__ import annotations

from stillflow.names import public_module

public_module("contrib.slim.model_analyzer", "contrib.slim.python.slim.model_analyzer")


def tensor_description(var):
    """A tensor's type and shape, as in "(float32 3x3x64)"."""
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.get_shape())})"


def _print_heading(text):
    for line in ("---------", text, "---------"):
        print(line)


def analyze_ops(graph, print_info=False):
    """How many elements all outputs of a graph's operations have, as far as their shapes are known.

    Args:
      graph: the graph.
      print_info: whether to print a line for each operation.
    """
    if print_info:
        _print_heading("Operations: name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        size = sum(output.get_shape().num_elements() or 0 for output in op.outputs)
        if print_info:
            shapes = [tensor_description(output) for output in op.outputs if output.get_shape()]
            print(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total


def analyze_vars(variables, print_info=False):
    """(how many elements variables have, how many bytes).

    Args:
      variables: the variables.
      print_info: whether to print a line for each, and the sums.
    """
    if print_info:
        _print_heading("Variables: name (type shape) [size]")
    total_size = total_bytes = 0
    for var in variables:
        size = var.get_shape().num_elements() or 0
        total_size += size
        total_bytes += size * var.dtype.size
        if print_info:
            print(var.name, tensor_description(var), f"[{size}, bytes: {size * var.dtype.size}]")
    if print_info:
        print(f"Total size of variables: {total_size}")
        print(f"Total bytes of variables: {total_bytes}")
    return total_size, total_bytes
