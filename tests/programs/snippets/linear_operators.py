"""tf.linalg.LinearOperator and its kinds."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _matrix(tf, *shape):
    random = np.random.RandomState(len(shape))
    return tf.constant((random.rand(*shape) + 3 * np.eye(shape[-2], shape[-1])).astype(np.float32))


def _positive(tf, *shape):
    values = np.random.RandomState(9).rand(*shape)
    return tf.constant((values @ np.swapaxes(values, -1, -2) + np.eye(shape[-1])).astype(np.float32))


def _everything(tf, operator, x, vector, adjoint_arg=True):
    """All values of a square operator."""
    transposed = tf.linalg.transpose(x)
    results = [
        operator.shape_tensor(), operator.batch_shape_tensor(), operator.tensor_rank_tensor(),
        operator.domain_dimension_tensor(), operator.range_dimension_tensor(), operator.to_dense(),
        operator.diag_part(), operator.trace(), operator.determinant(), operator.log_abs_determinant(),
        operator.matmul(x), operator.matmul(x, adjoint=True), operator.matvec(vector),
        operator.matvec(vector, adjoint=True), operator.solve(x), operator.solve(x, adjoint=True),
        operator.solvevec(vector), operator.solvevec(vector, adjoint=True),
        operator.add_to_tensor(operator.to_dense()),
    ]  # fmt: skip
    if adjoint_arg:
        results += [
            operator.matmul(transposed, adjoint_arg=True),
            operator.matmul(transposed, adjoint=True, adjoint_arg=True),
            operator.solve(transposed, adjoint_arg=True), operator.solve(transposed, adjoint=True, adjoint_arg=True),
        ]  # fmt: skip
    return results


def lower_triangular(tf):
    operator = tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 3, 3), is_non_singular=True, name="tril")
    operator.assert_non_singular()
    results = _everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0]))
    inverse, adjoint = operator.inverse(), operator.adjoint()
    return results + [
        inverse.to_dense(),
        inverse.determinant(),
        adjoint.to_dense(),
        adjoint.solvevec([1.0, 2.0, 3.0]),
    ]


def batches_of_lower_triangular(tf):
    operator = tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 2, 3, 3))
    unbatched = tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 3, 3))
    return _everything(tf, operator, _matrix(tf, 2, 3, 2), tf.ones([2, 3])) + [
        unbatched.solve(_matrix(tf, 4, 3, 2)), unbatched.solve(_matrix(tf, 4, 3, 2), adjoint=True),
        unbatched.solve(_matrix(tf, 4, 3, 5)), operator.solve(_matrix(tf, 3, 2)),
    ]  # fmt: skip


def lower_triangular_of_unknown_shapes(tf):
    operator = tf.linalg.LinearOperatorLowerTriangular(_unknown(tf, _matrix(tf, 2, 3, 3), [None, None, None]))
    return _everything(tf, operator, _matrix(tf, 2, 3, 2), tf.ones([2, 3]))


def gradients_of_lower_triangular(tf):
    matrix, x = _matrix(tf, 3, 3), _matrix(tf, 3, 2)
    operator = tf.linalg.LinearOperatorLowerTriangular(matrix)
    return tf.gradients([operator.matmul(x), operator.solve(x), operator.log_abs_determinant()], [matrix, x])


def lower_triangular_variable(tf):
    variable = tf.Variable(np.eye(3, dtype=np.float32) * 2, name="v")
    operator = tf.linalg.LinearOperatorLowerTriangular(variable)
    assert operator.variables == (variable,)
    return [operator.matvec([1.0, 2.0, 3.0]), operator.determinant(), operator.diag_part(), operator.shape_tensor()]


def full_matrix(tf):
    operator = tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 3, 3))
    operator.assert_non_singular()
    operator.assert_self_adjoint()
    return _everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0]))


def full_matrix_that_is_not_square(tf):
    operator = tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 2, 3))
    assert operator.is_square is False
    adjoint = operator.adjoint()
    return [
        operator.matmul(_matrix(tf, 3, 2)), operator.matvec([1.0, 2.0, 3.0]), operator.to_dense(),
        operator.diag_part(), operator.trace(), adjoint.to_dense(), adjoint.matvec([1.0, 2.0]),
        adjoint.shape_tensor(), operator.matmul(adjoint).to_dense(),
    ]  # fmt: skip


def positive_definite_full_matrix(tf):
    operator = tf.linalg.LinearOperatorFullMatrix(
        _positive(tf, 2, 3, 3), is_self_adjoint=True, is_positive_definite=True
    )
    operator.assert_positive_definite()
    operator.assert_non_singular()
    factor = operator.cholesky()
    return _everything(tf, operator, _matrix(tf, 2, 3, 2), tf.ones([2, 3])) + [factor.to_dense()]


def full_matrix_of_unknown_shapes(tf):
    operator = tf.linalg.LinearOperatorFullMatrix(_unknown(tf, _matrix(tf, 2, 3, 3)), is_square=True)
    return _everything(tf, operator, _matrix(tf, 2, 3, 2), tf.ones([2, 3])) + [operator.adjoint().shape_tensor()]


def diagonal(tf):
    operator = tf.linalg.LinearOperatorDiag([1.0, 2.0, 4.0], is_positive_definite=True)
    operator.assert_non_singular()
    operator.assert_positive_definite()
    operator.assert_self_adjoint()
    return _everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0])) + [
        operator.inverse().to_dense(), operator.cholesky().to_dense(), operator.adjoint().to_dense(),
        operator.matmul(operator).to_dense(), operator.solve(operator).to_dense(),
    ]  # fmt: skip


def diagonal_of_unknown_shape(tf):
    operator = tf.linalg.LinearOperatorDiag(_unknown(tf, _matrix(tf, 2, 3), [None, None]))
    return _everything(tf, operator, _matrix(tf, 2, 3, 2), tf.ones([2, 3]))


def diagonal_variable(tf):
    operator = tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0], name="d"))
    operator.assert_positive_definite()
    return [
        operator.matvec([1.0, 2.0], adjoint=True), operator.determinant(), operator.solvevec([1.0, 2.0]),
        operator.to_dense(), operator.trace(), operator.add_to_tensor([[1.0, 2.0], [3.0, 4.0]]),
    ]  # fmt: skip


def identities(tf):
    one = tf.linalg.LinearOperatorIdentity(3)
    batch = tf.linalg.LinearOperatorIdentity(3, batch_shape=[2])
    one.assert_non_singular()
    one.assert_positive_definite()
    one.assert_self_adjoint()
    return [
        *_everything(tf, one, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0])),
        *_everything(tf, batch, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0])),
        one.cholesky().to_dense(), one.inverse().to_dense(),
        tf.linalg.LinearOperatorIdentity(2, dtype=tf.float64).to_dense(),
    ]  # fmt: skip


def identities_of_unknown_size(tf):
    operator = tf.linalg.LinearOperatorIdentity(
        _unknown(tf, 3), batch_shape=_unknown(tf, [2]), assert_proper_shapes=True
    )
    return _everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0]), adjoint_arg=False)


def scaled_identities(tf):
    operator = tf.linalg.LinearOperatorScaledIdentity(3, 2.0, is_positive_definite=True)
    operator.assert_non_singular()
    operator.assert_positive_definite()
    operator.assert_self_adjoint()
    return [
        *_everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0])), operator.cholesky().to_dense(),
        operator.inverse().to_dense(), operator.adjoint().to_dense(),
        *_everything(
            tf, tf.linalg.LinearOperatorScaledIdentity(_unknown(tf, 3), [2.0, 3.0], assert_proper_shapes=True),
            _matrix(tf, 2, 3, 2), tf.ones([2, 3]),
        ),
    ]  # fmt: skip


def zeros(tf):
    square = tf.linalg.LinearOperatorZeros(3, batch_shape=[2])
    wide = tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False, dtype=tf.float64)
    unknown = tf.linalg.LinearOperatorZeros(_unknown(tf, 3), assert_proper_shapes=True)
    square.assert_self_adjoint()
    return [
        square.to_dense(), square.matmul(_matrix(tf, 3, 2)), square.determinant(), square.trace(), square.diag_part(),
        square.add_to_tensor(_matrix(tf, 3, 3)), square.matmul(_matrix(tf, 2, 3), adjoint_arg=True),
        wide.to_dense(), wide.matvec(np.ones(3)), wide.matmul(np.ones([2, 4]), adjoint=True), wide.shape_tensor(),
        unknown.to_dense(), unknown.trace(), unknown.diag_part(), unknown.matmul(_matrix(tf, 3, 2)),
    ]  # fmt: skip


def householder(tf):
    operator = tf.linalg.LinearOperatorHouseholder([1.0, 2.0, 2.0])
    operator.assert_non_singular()
    batch = tf.linalg.LinearOperatorHouseholder(_unknown(tf, _matrix(tf, 2, 3), [None, 3]))
    return [
        *_everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0])), operator.inverse().to_dense(),
        *_everything(tf, batch, _matrix(tf, 2, 3, 2), tf.ones([2, 3])),
    ]  # fmt: skip


def compositions(tf):
    left = tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 3, 3), is_non_singular=True)
    right = tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 2, 3, 3), is_non_singular=True)
    unknown = tf.linalg.LinearOperatorFullMatrix(_unknown(tf, _matrix(tf, 3, 3), [None, None]))
    return [
        *_everything(tf, left.matmul(right), _matrix(tf, 2, 3, 2), tf.ones([2, 3])),
        left.solve(right).to_dense(), left.matmul(right, adjoint=True, adjoint_arg=True).to_dense(),
        tf.linalg.LinearOperatorComposition([unknown, left], name="c").shape_tensor(),
        left.inverse().solve(right).to_dense(),
    ]  # fmt: skip


def products_by_type(tf):
    diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0, 4.0], is_non_singular=True)
    scaled = tf.linalg.LinearOperatorScaledIdentity(3, 2.0, is_non_singular=True)
    triangular = tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 3, 3), is_non_singular=True)
    identity, nothing = tf.linalg.LinearOperatorIdentity(3), tf.linalg.LinearOperatorZeros(3)
    operators = [
        diagonal.matmul(scaled), scaled.matmul(diagonal), diagonal.matmul(triangular), triangular.matmul(diagonal),
        diagonal.solve(scaled), scaled.solve(diagonal), diagonal.solve(triangular), triangular.solve(diagonal),
        identity.matmul(triangular), triangular.matmul(identity), nothing.matmul(triangular),
        triangular.matmul(nothing), identity.solve(scaled),
    ]  # fmt: skip
    return [operator.to_dense() for operator in operators]


def block_diagonals(tf):
    operator = tf.linalg.LinearOperatorBlockDiag(
        [tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 2, 2)), tf.linalg.LinearOperatorDiag([3.0])]
    )
    batch = tf.linalg.LinearOperatorBlockDiag(
        [
            tf.linalg.LinearOperatorLowerTriangular(_unknown(tf, _matrix(tf, 2, 2, 2)), is_non_singular=True),
            tf.linalg.LinearOperatorDiag([3.0], is_non_singular=True),
        ]
    )
    batch.assert_non_singular()
    return [
        *_everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0])), operator.adjoint().to_dense(),
        operator.inverse().to_dense(), *_everything(tf, batch, _matrix(tf, 2, 3, 2), tf.ones([2, 3])),
    ]  # fmt: skip


def factors_of_blocks(tf):
    matrix = tf.linalg.LinearOperatorFullMatrix(_positive(tf, 2, 2), is_self_adjoint=True, is_positive_definite=True)
    diagonal = tf.linalg.LinearOperatorDiag([3.0, 5.0], is_positive_definite=True)
    return [
        tf.linalg.LinearOperatorBlockDiag([matrix, diagonal]).cholesky().to_dense(),
        tf.linalg.LinearOperatorKronecker([matrix, diagonal]).cholesky().to_dense(),
    ]


def kronecker_products(tf):
    operator = tf.linalg.LinearOperatorKronecker(
        [
            tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 2, 2)),
            tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 3, 3)),
        ]
    )
    x = tf.constant(np.random.RandomState(1).rand(6, 2).astype(np.float32))
    wide = tf.linalg.LinearOperatorKronecker(
        [tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 2, 3)), tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 1, 2))]
    )
    return [
        *_everything(tf, operator, x, tf.ones([6])), operator.adjoint().to_dense(), operator.inverse().to_dense(),
        wide.to_dense(), wide.matvec(tf.ones([6])), wide.matvec(tf.ones([2]), adjoint=True),
    ]  # fmt: skip


def low_rank_updates(tf):
    base = tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0], is_positive_definite=True)
    u, v = tf.constant([[1.0], [2.0], [0.5]]), tf.constant([[0.5], [0.25], [1.0]])
    vector = tf.constant([1.0, 2.0, 3.0])
    plain = tf.linalg.LinearOperatorLowRankUpdate(base, u)
    general = tf.linalg.LinearOperatorLowRankUpdate(
        tf.linalg.LinearOperatorFullMatrix(_matrix(tf, 3, 3)), u, [2.0], v, is_square=True
    )
    return [
        *_everything(tf, plain, _matrix(tf, 3, 2), vector), *_everything(tf, general, _matrix(tf, 3, 2), vector),
    ]  # fmt: skip


def functions_of_operators(tf):
    diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0, 4.0], is_positive_definite=True)
    triangular = tf.linalg.LinearOperatorLowerTriangular(_matrix(tf, 3, 3), is_non_singular=True)
    x = _matrix(tf, 3, 2)
    return [
        tf.matmul(diagonal, x), tf.matmul(x, triangular, adjoint_a=True), tf.linalg.adjoint(triangular).to_dense(),
        tf.linalg.cholesky(diagonal).to_dense(), tf.linalg.diag_part(diagonal), tf.linalg.det(triangular),
        tf.linalg.inv(triangular, adjoint=True).to_dense(), tf.linalg.logdet(diagonal),
        tf.linalg.solve(triangular, x), tf.linalg.trace(triangular),
        tf.linalg.matmul(diagonal, triangular).to_dense(),
    ]  # fmt: skip


def modules(tf):
    class Layer(tf.Module):
        def __init__(self, name=None):
            super().__init__(name)
            self.weights = [tf.Variable(1.0, name="w"), tf.Variable(2.0, trainable=False, name="u")]

        @tf.Module.with_name_scope
        def __call__(self, x):
            return x * self.weights[0]

    class MyModel(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = {"b": Layer(), "a": Layer("named")}
            self.bias = tf.Variable(0.5, name="bias")

    model = MyModel()
    assert [variable.op.name for variable in model.variables] == ["bias", "w_1", "u_1", "w", "u"]
    assert [variable.op.name for variable in model.trainable_variables] == ["bias", "w_1", "w"]
    assert [module.name for module in model.submodules] == ["named", "layer"]
    assert model.name == "my_model"
    return [layer(tf.constant(3.0)) for layer in model.submodules]


def circulant(tf):
    spectrum = np.array([6.0, 4 + 1j, 4 - 1j], np.complex64)
    operator = tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float32, is_non_singular=True)
    results = _everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0]))
    with tf.control_dependencies([operator.assert_positive_definite()]):
        results.append(operator.convolution_kernel())
    pair = [tf.linalg.LinearOperatorCirculant(s, name=f"c{i}") for i, s in enumerate((spectrum, spectrum * 1j))]
    others = [pair[0].matmul(pair[1]), pair[0].solve(pair[1]), pair[1].adjoint(), pair[1].inverse()]
    return results + [each.to_dense() for each in others]


def circulants_of_unknown_shape(tf):
    spectrum = _unknown(tf, np.array([[1.0, 2.0, 3.0, 2.0], [5.0, 1.0, 2.0, 1.0]], np.float32))
    operator = tf.linalg.LinearOperatorCirculant(spectrum, is_self_adjoint=True)
    x = tf.complex(_matrix(tf, 2, 4, 2), 1.0)
    return [operator.to_dense(), operator.matmul(x), operator.solve(x), operator.diag_part(), operator.trace()]


def circulants_of_more_dimensions(tf):
    results = []
    for kind, shape in (
        (tf.linalg.LinearOperatorCirculant2D, (2, 3)),
        (tf.linalg.LinearOperatorCirculant3D, (2, 1, 3)),
    ):
        spectrum = np.random.RandomState(3).rand(*shape).astype(np.float32) + 1
        operator = kind(spectrum)
        x = tf.complex(_matrix(tf, 6, 2), 0.5)
        results += [
            operator.block_shape_tensor(), operator.convolution_kernel(), operator.matmul(x), operator.solve(x),
            operator.determinant(), operator.log_abs_determinant(), operator.diag_part(),
        ]  # fmt: skip
    return results


def toeplitz(tf):
    col, row = tf.constant([3.0, 2.0, 0.5]), tf.constant([3.0, -1.0, 0.25])
    operator = tf.linalg.LinearOperatorToeplitz(col, row)
    return _everything(tf, operator, _matrix(tf, 3, 2), tf.constant([1.0, 2.0, 3.0]))
