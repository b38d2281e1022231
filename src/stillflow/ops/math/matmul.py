"""Products of matrices: MatMul, BatchMatMul, BatchMatMulV2, SparseMatMul, and tf.matmul over them."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.recording import unwanted_inputs
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.math.elementwise_binary import broadcast
from stillflow.ops.registry import define_op

_NUMBERS = "T: {bfloat16, float16, float32, float64, int32, int64, complex64, complex128}"
_SPARSE_TYPES = (dtypes.bfloat16, dtypes.float32)

mat_mul = define_op(
    "MatMul(a: T, b: T) -> (product: T)",
    f"transpose_a: bool = false; transpose_b: bool = false; {_NUMBERS}",
    kernel="matmul(a, b | transpose_a, transpose_b)",
)
sparse_mat_mul = define_op(
    "SparseMatMul(a: Ta, b: Tb) -> (product: float32)",
    "transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; b_is_sparse: bool = false; "
    "Ta: {float32, bfloat16} = float32; Tb: {float32, bfloat16} = float32",
    kernel="sparse_matmul(a, b | transpose_a, transpose_b)",
    public="sparse_matmul",
    doc="The product of two matrices of float32 or bfloat16, as float32.",
)
batch_mat_mul = define_op(
    "BatchMatMul(x: T, y: T) -> (output: T)",
    f"{_NUMBERS}; adj_x: bool = false; adj_y: bool = false",
    kernel="batch_matmul(x, y | adj_x, adj_y, false)",
)
batch_mat_mul_v2 = define_op(
    "BatchMatMulV2(x: T, y: T) -> (output: T)",
    f"{_NUMBERS}; adj_x: bool = false; adj_y: bool = false",
    kernel="batch_matmul(x, y | adj_x, adj_y, true)",
)


# ---- Shapes -----------------------------------------------------------------------------------------------


def _product_dims(a, b, transposes_a, transposes_b):
    """The last two sizes of a product; a and b are such pairs."""
    rows, inner = reversed(a) if transposes_a else a
    other_inner, columns = reversed(b) if transposes_b else b
    if inner is not None and other_inner is not None and inner != other_inner:
        raise ShapeError(f"Dimensions must be equal, but are {inner} and {other_inner}")
    return rows, columns


@mat_mul.shape_rule
@sparse_mat_mul.shape_rule
def _(context):
    for dims in context.shapes:
        if dims is not None and len(dims) != 2:
            raise ShapeError(f"Shape must be rank 2 but is rank {len(dims)}")
    a, b = (dims or (None, None) for dims in context.shapes)
    return _product_dims(a, b, context.attrs["transpose_a"], context.attrs["transpose_b"])


def _batch_rule(combine):
    def rule(context):
        for dims in context.shapes:
            if dims is not None and len(dims) < 2:
                raise ShapeError(f"Shape must be at least rank 2 but is rank {len(dims)}")
        x, y = context.shapes
        x_matrix, y_matrix = ((None, None) if dims is None else dims[-2:] for dims in (x, y))
        product = _product_dims(x_matrix, y_matrix, context.attrs["adj_x"], context.attrs["adj_y"])
        batch = combine(*(None if dims is None else dims[:-2] for dims in (x, y)))
        return None if batch is None else batch + product

    return rule


def _merged_batch(x, y):
    merged = merge(x, y)
    if merged is False:
        raise ShapeError(incompatible(x, y))
    return merged


batch_mat_mul.shape_rule(_batch_rule(_merged_batch))
batch_mat_mul_v2.shape_rule(_batch_rule(broadcast))


# ---- Functions --------------------------------------------------------------------------------------------


@public("matmul", "linalg.matmul")
@dispatched
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    """The matrix product a * b, of matrices or of batches of them.

    Args:
      a: a tensor of two or more dimensions.
      b: a tensor of the same type; batch dimensions are broadcast.
      transpose_a, transpose_b: whether to transpose the last two dimensions first.
      adjoint_a, adjoint_b: the same, of the complex conjugate.
      a_is_sparse, b_is_sparse: whether a matrix has many zeros.

    Raises:
      ValueError: if both transposition and adjoint are asked for, or shapes do not fit.
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        is_sparse = a_is_sparse or b_is_sparse
        is_batch = not is_sparse and any(t._dims is None or len(t._dims) > 2 for t in (a, b))
        # Batches are multiplied by adjoints, matrices by transposed ones.
        if transpose_a if is_batch else adjoint_a:
            a = ops.conj(a)
        if transpose_b if is_batch else adjoint_b:
            b = ops.conj(b)
        transpose_a, transpose_b = bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b)
        if is_batch:
            return batch_mat_mul_v2(a, b, adj_x=transpose_a, adj_y=transpose_b, name=scope)
        are_sparse_types = a.dtype in _SPARSE_TYPES and b.dtype in _SPARSE_TYPES
        are_mixed = a.dtype is not b.dtype and dtypes.bfloat16 in (a.dtype, b.dtype)
        if not ((is_sparse and are_sparse_types) or are_mixed):
            return mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope)
        product = sparse_mat_mul(
            a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=bool(a_is_sparse),
            b_is_sparse=bool(b_is_sparse), name=scope,
        )  # fmt: skip
        is_half = a.dtype is dtypes.bfloat16 and b.dtype is dtypes.bfloat16
        return ops.cast(product, dtypes.bfloat16) if is_half else product


@public("linalg.matvec")
def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of a matrix and a vector, or of batches of them; see `matmul`."""
    with name_scope(name, "MatVec", [a, b]):
        column = ops.expand_dims(b, -1)
        product = matmul(a, column, transpose_a, False, adjoint_a, False, a_is_sparse, b_is_sparse)
        return ops.squeeze(product, -1)


@public("batch_matmul")
def batch_matmul(x, y, adj_x=False, adj_y=False, name=None):
    """Products of matrices in batches of equal shapes; a name from before TensorFlow 1.0."""
    return batch_mat_mul(x, y, adj_x=adj_x, adj_y=adj_y, name=name)


# ---- Gradients --------------------------------------------------------------------------------------------


def _product_gradient(multiply, x, y, grad, transposes_x, transposes_y):
    """The gradients of x y, with x or y transposed; `multiply(a, b, transpose a, transpose b)` adds a product."""
    by_x = _gradient_by_first(multiply, y, grad, transposes_x, transposes_y)
    return by_x, _gradient_by_second(multiply, x, grad, transposes_x, transposes_y)


def _gradient_by_first(multiply, y, grad, transposes_x, transposes_y):
    return multiply(y, grad, transposes_y, True) if transposes_x else multiply(grad, y, False, not transposes_y)


def _gradient_by_second(multiply, x, grad, transposes_x, transposes_y):
    return multiply(grad, x, True, transposes_x) if transposes_y else multiply(x, grad, not transposes_x, False)


@mat_mul.gradient
def _(op, grad):
    def multiply(a, b, transpose_a, transpose_b):
        return mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)

    x, y = op._inputs
    transposes = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    unwanted = unwanted_inputs(op)
    if 1 in unwanted:
        return _gradient_by_first(multiply, ops.conj(y), grad, *transposes), None
    if 0 in unwanted:
        return None, _gradient_by_second(multiply, ops.conj(x), grad, *transposes)
    return _product_gradient(multiply, ops.conj(x), ops.conj(y), grad, *transposes)


@sparse_mat_mul.gradient
def _(op, grad):
    x, y = op._inputs
    is_sparse = {x: op.get_attr("a_is_sparse"), y: op.get_attr("b_is_sparse"), grad: grad._op.type == "ReluGrad"}

    types = iter((x.dtype, y.dtype))  # of the gradients, in the order in which they are made

    def multiply(a, b, transpose_a, transpose_b):
        b_is_sparse = is_sparse[b]
        if transpose_b:
            b = ops.transpose(b)
        product = matmul(a, b, transpose_a=transpose_a, a_is_sparse=is_sparse[a], b_is_sparse=b_is_sparse)
        dtype = next(types)
        return product if product.dtype is dtype else ops.cast(product, dtype)

    return _product_gradient(multiply, x, y, grad, op.get_attr("transpose_a"), op.get_attr("transpose_b"))


def _batch_product_gradient(op, grad):
    def multiply(a, b, adjoint_a, adjoint_b):
        return matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)

    x, y = op._inputs
    return _product_gradient(multiply, x, y, grad, op.get_attr("adj_x"), op.get_attr("adj_y"))


batch_mat_mul.gradient(_batch_product_gradient)


@batch_mat_mul_v2.gradient
def _(op, grad):
    x, y = op._inputs
    x_grad, y_grad = _batch_product_gradient(op, grad)
    if x._dims == y._dims and x.shape.is_fully_defined():
        return x_grad, y_grad
    x_shape, y_shape = ops.shape(x), ops.shape(y)
    x_axes, y_axes = ops.broadcast_gradient_args(x_shape[:-2], y_shape[:-2])
    x_grad = ops.reshape(ops.reduce_sum(x_grad, x_axes), x_shape)
    return x_grad, ops.reshape(ops.reduce_sum(y_grad, y_axes), y_shape)
