"""Products, powers and arrangements of several matrices."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.functional import scan
from stillflow.graph import dtypes
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.names import public
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor


@public("contrib.timeseries.python.timeseries.math_utils.block_diagonal")
def block_diagonal(matrices, dtype=dtypes.float32, name="block_diagonal"):
    """A matrix with matrices [..., rows, columns] along its diagonal, and zeros elsewhere."""
    matrices = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    rows, columns, batch = Dimension(0), Dimension(0), TensorShape(None)
    for matrix in matrices:
        shape = matrix.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[:-2])
        rows += shape[-2]
        columns += shape[-1]
    total = ops.add_n([ops.shape(matrix)[-1] for matrix in matrices])
    blocks = []
    before = 0
    for matrix in matrices:
        shape = ops.shape(matrix)
        place = before
        before += shape[-1]
        behind = total - before
        unpadded = ops.zeros([ops.rank(matrix) - 1, 2], dtype=dtypes.int32)
        blocks.append(ops.pad(matrix, paddings=ops.concat([unpadded, [(place, behind)]], axis=0)))
    found = ops.concat(blocks, -2, name=name)
    found.set_shape(batch.concatenate((rows, columns)))
    return found


@public("contrib.timeseries.python.timeseries.math_utils.power_sums_tensor")
def power_sums_tensor(array_size, power_matrix, multiplier):
    """[array_size, size, size]: for each n the sum of M^k multiplier (M^k)' over k < n.

    Args:
      array_size: how many sums.
      power_matrix: M, [size, size].
      multiplier: [size, size].
    """
    array_size = ops.cast(array_size, dtypes.int32)
    power_matrix = convert_to_tensor(power_matrix)
    identity = ops.eye(ops.shape(power_matrix)[0], dtype=power_matrix.dtype)
    identity.set_shape(power_matrix.shape)
    powers = scan(lambda power, _: ops.matmul(power, power_matrix), ops.range(array_size - 1), initializer=identity)
    first = ops.expand_dims(multiplier, 0)
    later = ops.matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    sums = ops.cumsum(ops.concat([first, later], 0))
    return ops.concat([ops.expand_dims(ops.zeros_like(multiplier), 0), sums], 0)


@public("contrib.timeseries.python.timeseries.math_utils.matrix_to_powers")
def matrix_to_powers(matrix, powers):
    """[count, size, size]: the powers [count] of a matrix [size, size]."""
    return batch_matrix_pow(ops.tile(ops.expand_dims(matrix, 0), [ops.size(powers), 1, 1]), powers)


@public("contrib.timeseries.python.timeseries.math_utils.batch_matrix_pow")
def batch_matrix_pow(matrices, powers):
    """The power of each of several matrices [count, size, size], as [count] says, by squaring."""

    def is_left(_argument, residual, _accumulator):
        return ops.reduce_any(ops.greater(residual, ops.ones_like(residual)))

    def square(argument, residual, accumulator):
        is_even = ops.equal(residual % 2, ops.zeros(ops.shape(residual), dtype=dtypes.int32))
        new_accumulator = ops.where(is_even, accumulator, ops.matmul(accumulator, argument))
        new_argument = ops.matmul(argument, argument)
        is_left = ops.greater(residual, 1)
        new_residual = residual - residual % 2
        new_residual //= 2
        accumulator = ops.where(is_left, new_accumulator, accumulator)
        argument = ops.where(is_left, new_argument, argument)
        residual = ops.where(is_left, new_residual, residual)
        return argument, residual, accumulator

    matrices = convert_to_tensor(matrices)
    powers = ops.cast(powers, dtype=dtypes.int32)
    identity = ops.expand_dims(ops.diag(ops.ones([ops.shape(matrices)[1]], dtype=matrices.dtype)), 0)
    identities = ops.tile(identity, [ops.shape(matrices)[0], 1, 1])
    argument, residual, accumulator = while_loop(is_left, square, [matrices, powers, identities])
    is_zero = ops.equal(residual, ops.zeros_like(residual, dtype=dtypes.int32))
    return ops.where(is_zero, identities, ops.matmul(argument, accumulator))


@public("contrib.timeseries.python.timeseries.math_utils.batch_times_matrix")
def batch_times_matrix(batch, matrix, adj_x=False, adj_y=False):
    """The products of matrices [count, a, b] with one, [b, c]: [count, a, c]; either may be transposed before."""
    batch, matrix = convert_to_tensor(batch), convert_to_tensor(matrix)
    if batch.shape.ndims != 3 or matrix.shape.ndims != 2:
        raise ValueError(f"Expected shapes of rank 3 and 2, got {batch.shape} and {matrix.shape}.")
    if adj_x:
        batch = ops.transpose(batch, [0, 2, 1])
    known = batch.shape.as_list()
    shape = ops.shape(batch)
    sizes = [shape[i] if known[i] is None else known[i] for i in range(2)]
    rows = ops.reshape(batch, [-1, shape[2]])
    last = 0 if adj_y else 1
    size = matrix.shape.as_list()[last]
    sizes.append(ops.shape(matrix)[last] if size is None else size)
    return ops.reshape(ops.matmul(rows, matrix, adjoint_b=adj_y), sizes)


@public("contrib.timeseries.python.timeseries.math_utils.matrix_times_batch")
def matrix_times_batch(matrix, batch, adj_x=False, adj_y=False):
    """The products of a matrix [a, b] with several [count, b, c]: [count, a, c]; either may be transposed before."""
    return ops.transpose(batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x), [0, 2, 1])


@public("contrib.timeseries.python.timeseries.math_utils.make_toeplitz_matrix")
def make_toeplitz_matrix(inputs, name=None):
    """A symmetric block Toeplitz matrix of blocks [count, size, size]."""
    count = ops.shape(inputs)[0]
    size = ops.shape(inputs)[1]
    total = size * count
    lags = ops.reshape(ops.range(count), shape=[1, -1])
    blocks = ops.gather(inputs, ops.abs(lags - ops.transpose(lags)))
    found = ops.reshape(ops.transpose(blocks, [0, 2, 1, 3]), [total, total])
    return ops.identity(found, name=name)
