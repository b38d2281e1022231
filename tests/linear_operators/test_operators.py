"""Operators: hints, bad arguments, what they are made of. Graphs and values are in the golden snippets."""

import numpy as np
import pytest

import stillflow as tf

linalg = tf.linalg
MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]], np.float32)


def value_of(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def test_hints_imply_others():
    operator = linalg.LinearOperatorFullMatrix(MATRIX, is_positive_definite=True)
    assert operator.is_non_singular is True and operator.is_square is True and operator.is_self_adjoint is None
    assert linalg.LinearOperatorFullMatrix(np.ones([2, 3])).is_square is False
    assert linalg.LinearOperatorDiag([1.0]).is_self_adjoint is True


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: linalg.LinearOperatorLowerTriangular([1.0]), ValueError, "must have at least 2 dimensions"),
        (lambda: linalg.LinearOperatorLowerTriangular(MATRIX, is_square=False), ValueError, "Only square"),
        (lambda: linalg.LinearOperatorFullMatrix([[1]]), TypeError, "must have dtype in"),
        (lambda: linalg.LinearOperatorFullMatrix([1.0]), ValueError, "at least 2 dimensions"),
        (lambda: linalg.LinearOperatorDiag(1.0), ValueError, "at least 1 dimension"),
        (lambda: linalg.LinearOperatorDiag([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
        (lambda: linalg.LinearOperatorIdentity(-1), ValueError, "non-negative"),
        (lambda: linalg.LinearOperatorIdentity(2.0), TypeError, "integer type"),
        (lambda: linalg.LinearOperatorIdentity(2, batch_shape=3), ValueError, "1-D"),
        (lambda: linalg.LinearOperatorIdentity(2, is_square=False), ValueError, "always square"),
        (lambda: linalg.LinearOperatorIdentity(tf.Variable(2)), TypeError, "reference type"),
        (lambda: linalg.LinearOperatorZeros(2, 3), ValueError, "is_square=True"),
        (lambda: linalg.LinearOperatorZeros(2, is_non_singular=True), ValueError, "always singular"),
        (lambda: linalg.LinearOperatorZeros(2).assert_non_singular(), tf.errors.InvalidArgumentError, "non-invert"),
        (lambda: linalg.LinearOperatorHouseholder([1.0], is_positive_definite=True), ValueError, "non-positive"),
        (lambda: linalg.LinearOperatorComposition([]), ValueError, "non-empty"),
        (lambda: linalg.LinearOperatorComposition(3), TypeError, "iterable"),
        (lambda: linalg.LinearOperatorBlockDiag([linalg.LinearOperatorFullMatrix(np.ones([2, 3]))]), ValueError,
         "square matrices"),
        (lambda: linalg.LinearOperatorInversion(linalg.LinearOperatorZeros(2)), ValueError, "is_non_singular"),
        (lambda: linalg.LinearOperatorFullMatrix(MATRIX, None, None, True, False), ValueError, "always square"),
        (lambda: linalg.LinearOperatorFullMatrix(MATRIX).cholesky(), ValueError, "self adjoint"),
        (lambda: linalg.LinearOperatorFullMatrix(np.ones([2, 3])).inverse(), ValueError, "non square"),
        (lambda: linalg.LinearOperatorFullMatrix(np.ones([2, 3])).determinant(), NotImplementedError, "square"),
        (lambda: linalg.LinearOperatorFullMatrix(np.ones([2, 3])).solve(np.ones([2, 1])), NotImplementedError,
         "square"),
        (lambda: linalg.LinearOperatorFullMatrix(MATRIX).matmul(np.ones([2, 1])), TypeError, "to have dtype"),
        (lambda: linalg.LinearOperatorFullMatrix(MATRIX).matmul([[1.0]]), ValueError, "not compatible"),
        (lambda: linalg.LinearOperatorFullMatrix(MATRIX).matmul(linalg.LinearOperatorIdentity(3)), ValueError,
         "incompatible"),
        (lambda: linalg.LinearOperator(tf.float32), TypeError, "abstract"),
        (lambda: tf.matmul(linalg.LinearOperatorDiag([1.0]), [[1.0]], transpose_a=True), ValueError, "Transposing"),
        (lambda: linalg.solve(MATRIX, linalg.LinearOperatorDiag([1.0, 2.0])), ValueError, "not supported"),
        (lambda: linalg.logdet(linalg.LinearOperatorFullMatrix(MATRIX)), ValueError, "positive definite"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        build()


def test_failing_assertions_say_why():
    with tf.Graph().as_default():
        operator = linalg.LinearOperatorLowerTriangular(tf.placeholder_with_default([[1.0, 0.0], [1.0, 0.0]], None))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Diagonal contained zero"):
            value_of(operator.assert_non_singular())
        rows = tf.placeholder_with_default(3, [])
        identity = linalg.LinearOperatorIdentity(rows, assert_proper_shapes=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions are not compatible"):
            value_of(identity.matmul(np.ones([2, 2], np.float32)))


def test_factors_of_diagonal_blocks_are_there():
    with tf.Graph().as_default():
        operators = [linalg.LinearOperatorDiag([4.0, 9.0], is_positive_definite=True)] * 2
        blocks = linalg.LinearOperatorBlockDiag(operators).cholesky()
        assert value_of(blocks.diag_part()).tolist() == [2, 3, 2, 3]
        product = linalg.LinearOperatorKronecker(operators).cholesky()
        assert value_of(product.diag_part()).tolist() == [4, 6, 6, 9]


def test_checked_zeros_take_adjoint_arguments():
    with tf.Graph().as_default():
        operator = linalg.LinearOperatorZeros(3, assert_proper_shapes=True)
        assert value_of(operator.matmul(np.ones([2, 3], np.float32), adjoint_arg=True)).shape == (3, 2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_products_of_all_types(dtype):
    with tf.Graph().as_default():
        for operator in (
            linalg.LinearOperatorLowerTriangular(np.tril(MATRIX).astype(dtype)),
            linalg.LinearOperatorFullMatrix(MATRIX.astype(dtype)),
            linalg.LinearOperatorDiag(np.array([1, 2], dtype)),
            linalg.LinearOperatorScaledIdentity(2, np.array(3, dtype)),
            linalg.LinearOperatorIdentity(2, dtype=dtype),
        ):
            dense, product = value_of([operator.to_dense(), operator.matvec(np.array([1, 2], dtype))])
            assert product.dtype == dtype
            np.testing.assert_allclose(product, dense @ np.array([1, 2], dtype), rtol=1e-3)


def test_operators_of_variables_follow_them_and_are_saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable([1.0, 2.0], use_resource=True)
        inner = linalg.LinearOperatorDiag(variable)
        operator = linalg.LinearOperatorComposition([inner, linalg.LinearOperatorIdentity(2)])
        assert operator.variables == (variable,) and operator.submodules[0] is inner
        determinant = operator.determinant()
        session.run(variable.initializer)
        assert session.run(determinant) == 2
        path = tf.train.Checkpoint(operator=inner).save(str(tmp_path / "model"), session)
        session.run(variable.assign([3.0, 5.0]))
        assert session.run(determinant) == 15
        tf.train.Checkpoint(operator=inner).restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(determinant) == 2


def test_a_subclass_needs_three_methods():
    class Twice(linalg.LinearOperator):
        def _shape(self):
            return tf.TensorShape([2, 2])

        def _shape_tensor(self):
            return tf.constant([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return 2.0 * (linalg.adjoint(x) if adjoint_arg else x)

    with tf.Graph().as_default():
        operator = Twice(tf.float32, is_non_singular=True)
        assert value_of(operator.determinant()) == 4
        assert value_of(operator.solvevec([2.0, 6.0])).tolist() == [1, 3]
        assert value_of(operator.inverse().to_dense()).tolist() == [[0.5, 0], [0, 0.5]]


def test_module_names_are_identifiers():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="not a valid module name"):
        tf.Module("a-b")


def test_determinants_of_complex_updates():
    factor = np.array([[1.0 + 2j], [0.5]], np.complex64)
    base = linalg.LinearOperatorFullMatrix(MATRIX.astype(np.complex64))
    operator = linalg.LinearOperatorLowRankUpdate(base, factor, diag_update=np.array([-0.5], np.complex64))
    expected = np.log(abs(np.linalg.det(MATRIX - 0.5 * factor @ factor.conj().T)))
    np.testing.assert_allclose(value_of(operator.log_abs_determinant()), expected, rtol=1e-5)
