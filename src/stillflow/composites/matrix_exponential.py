"""expm: the matrix exponential, by Pade approximants with scaling and squaring."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor

# Order -> the coefficients of the approximation's numerator, of the powers from 0 on but the highest, whose is 1.
_COEFFICIENTS = {
    3: (120.0, 60.0, 12.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0),
    9: (
        17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0,
    ),
    13: (
        64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
        10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0,
    ),
}  # fmt: skip

_Orders = tuple[tuple[float, ...], tuple[int, ...], float]
# For float32 and float64: the largest norms for which an order is enough, the orders, and the norm from which on
# matrices are halved for the last.
_FOR_FLOAT: _Orders = ((0.4258730016922831, 1.880152677804762), (3, 5, 7), 3.92572478313866)
_FOR_DOUBLE: _Orders = (
    (0.01495585217958292, 0.253939833006323, 0.9504178996162932, 2.097847961257068),
    (3, 5, 7, 9, 13),
    5.371920351148152,
)


@public("linalg.expm")
def matrix_exponential(input, name=None):
    """The exponential of each matrix [..., n, n]: 1 + a + a a / 2 + ...

    Raises ValueError for types that are neither floats nor complex.
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape.rank is not None and matrix.shape[-2:] == [0, 0]:
            return matrix
        batch = matrix.shape[:-2]
        if not batch.is_fully_defined():
            batch = ops.shape(matrix)[:-2]
        matrix = ops.reshape(matrix, ops.concat(([-1], ops.shape(matrix)[-2:]), axis=0))
        sums = ops.reduce_sum(ops.abs(matrix), axis=ops.size(ops.shape(matrix)) - 2)
        size = ops.reduce_max(sums, axis=-1)
        if matrix.dtype in (dtypes.float16, dtypes.float32, dtypes.complex64):
            limits, orders, largest = _FOR_FLOAT
        elif matrix.dtype in (dtypes.float64, dtypes.complex128):
            limits, orders, largest = _FOR_DOUBLE
        else:
            raise ValueError(f"tf.linalg.expm does not support matrices of type {matrix.dtype}")
        largest = ops.constant(largest, size.dtype)
        halvings = ops.floor(ops.log(size / largest) / ops.log(ops.constant(2.0, size.dtype)))
        halvings = ops.maximum(halvings, 0)
        parts = [_pade(matrix, order) for order in orders[:-1]]
        power = ops.pow(ops.constant(2.0, dtype=matrix.dtype), ops.cast(halvings, matrix.dtype))
        parts.append(_pade(matrix / power[..., None, None], orders[-1]))
        odd = _chosen(size, limits, [part[0] for part in parts])
        even = _chosen(size, limits, [part[1] for part in parts])
        above = odd + even
        result = ops.matrix_solve(-odd + even, above)
        result = _squared(result, halvings)
        if not matrix.shape.is_fully_defined():
            return ops.reshape(result, ops.concat((batch, ops.shape(result)[-2:]), axis=0))
        return ops.reshape(result, batch.concatenate(result.shape[-2:]))


def _chosen(size, limits, cases):
    """For each matrix the first case whose limit its size is below."""
    is_small = ops.less(size, ops.constant(limits[0], size.dtype))
    rest = cases[1] if len(limits) == 1 else _chosen(size, limits[1:], cases[1:])
    return ops.where(is_small, cases[0], rest)


def _squared(result, halvings):
    """Each matrix squared as often as it was halved."""
    most = ops.reduce_max(halvings)
    zero = ops.constant(0.0, halvings.dtype)

    def step(i, matrix):
        return i + 1, ops.where(ops.less(i, halvings), ops.matmul(matrix, matrix), matrix)

    return while_loop(lambda i, _: ops.less(i, most), step, [zero, result])[1]


def _pade(matrix, order):
    """(odd, even): the parts of the numerator's polynomial with odd and with even powers."""
    b = [ops.constant(coefficient, matrix.dtype) for coefficient in _COEFFICIENTS[order]]
    shape = ops.shape(matrix)
    identity = ops.eye(shape[-2], batch_shape=ops.shape(matrix)[:-2], dtype=matrix.dtype)
    powers = [identity, ops.matmul(matrix, matrix)]
    while len(powers) < (order + 1) // 2 and len(powers) < (4 if order == 13 else 5):
        powers.append(ops.matmul(powers[-1], powers[1]))
    if order == 13:
        return _pade_13(matrix, powers, b)
    odd = powers[-1]
    for i in reversed(range(len(powers) - 1)):
        odd = odd + b[2 * i + 1] * powers[i]
    odd = ops.matmul(matrix, odd)
    even = b[order - 1] * powers[-1]
    for i in reversed(range(len(powers) - 1)):
        even = even + b[2 * i] * powers[i]
    return odd, even


def _pade_13(matrix, powers, b):
    """The same with powers up to the sixth alone."""
    one, two, four, six = powers
    odd = ops.matmul(six, six + b[11] * four + b[9] * two) + b[7] * six + b[5] * four + b[3] * two + b[1] * one
    odd = ops.matmul(matrix, odd)
    even = ops.matmul(six, b[12] * six + b[10] * four + b[8] * two)
    return odd, even + b[6] * six + b[4] * four + b[2] * two + b[0] * one
