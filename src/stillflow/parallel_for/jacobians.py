"""Jacobians: all derivatives of the elements of a tensor, from gradients that are vectorized."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.composites.checks import assert_equal
from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.parallel_for.loops import for_loop, pfor


@public("python.ops.parallel_for.gradients.jacobian", "python.ops.parallel_for.jacobian")
def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """The derivatives of each element of `output` with respect to each element of `inputs`.

    Args:
      output: a tensor of shape [y_1, ..., y_n].
      inputs: a tensor of shape [x_1, ..., x_m], or a structure of tensors.
      use_pfor: whether all elements are worked on at once, instead of by a loop of the graph.
      parallel_iterations: how many elements at once.

    Returns:
      What `inputs` is, with tensors of shape [y_1, ..., y_n, x_1, ..., x_m], or None where `output` does not depend.
    """
    sources = nest.flatten(inputs)
    static, shape = output.shape, ops.shape(output)
    output = ops.reshape(output, [-1])

    def of_element(i):
        return gradients(ops.gather(output, i), sources)

    size = output.shape.dims[0].value
    size = ops.shape(output)[0] if size is None else size
    if use_pfor:
        found = pfor(of_element, size, parallel_iterations=parallel_iterations)
    else:
        found = for_loop(of_element, [output.dtype] * len(sources), size, parallel_iterations=parallel_iterations)
    found = list(found)
    for index, rows in enumerate(found):
        if isinstance(rows, Tensor):
            rows = ops.reshape(rows, ops.concat([shape, ops.shape(rows)[1:]], 0))
            rows.set_shape(static.concatenate(sources[index].shape))
            found[index] = rows
    return nest.pack_sequence_as(inputs, found)


@public("python.ops.parallel_for.gradients.batch_jacobian", "python.ops.parallel_for.batch_jacobian")
def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """The derivatives of each element of output[i] with respect to each of inp[i], for all i.

    Args:
      output: a tensor [b, y_1, ..., y_n]; `output[i]` depends on `inp[i]` only.
      inp: a tensor [b, x_1, ..., x_m].
      use_pfor, parallel_iterations: as for `jacobian`.

    Returns:
      A tensor [b, y_1, ..., y_n, x_1, ..., x_m], or None.

    Raises:
      ValueError: if the first dimensions differ; InvalidArgumentError if they are found to when the graph runs.
    """
    shape = output.shape
    if not shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(f"Need first dimension of output shape ({shape}) and inp shape ({inp.shape}) to match.")
    if shape.is_fully_defined():
        batch = int(shape.dims[0])
        width = shape.num_elements() // batch
    else:
        shape = ops.shape(output)
        batch = shape[0]
        width = ops.size(output) // batch
    inp_shape = ops.shape(inp)
    with get_default_graph().control_dependencies([assert_equal(batch, inp_shape[0])]):
        output = ops.reshape(output, [batch, width])

    def of_column(i):
        return gradients(ops.gather(output, i, axis=1), inp)[0]

    if use_pfor:
        found = pfor(of_column, width, parallel_iterations=parallel_iterations)
    else:
        found = for_loop(of_column, output.dtype, width, parallel_iterations=parallel_iterations)
    if found is None:
        return None
    rows = ops.transpose(ops.reshape(found, [width, batch, -1]), [1, 0, 2])
    return ops.reshape(rows, ops.concat([shape, inp_shape[1:]], 0))
