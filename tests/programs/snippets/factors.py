"""Factors, inverses, determinants and solutions of matrices, eigenvalues and singular values.

Eigenvectors and singular vectors may have either sign, so that squares of them are compared.
"""

import numpy as np


def _matrix(tf, unknown=False):
    values = np.array([[[4, 1, -1], [1, 3, 0.5], [-1, 0.5, 2]], [[2, 0, 1], [0, 5, 1], [1, 1, 3]]], np.float32)
    return tf.placeholder_with_default(values, None) if unknown else tf.constant(values, name="a")


def _tall(tf):
    return tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], name="tall")


def factors(tf):
    a = _matrix(tf)
    chol = tf.cholesky(a)
    lu, p = tf.linalg.lu(a)
    return [
        chol, tf.linalg.cholesky(a[0], name="named"), tf.cholesky_solve(chol, tf.ones([2, 3, 1])), lu, p,
        tf.linalg.cholesky_solve(chol[0], [[1.0], [2.0], [3.0]], name="s"), tf.linalg.logdet(a),
        tf.linalg.adjoint(a), tf.linalg.logdet(a, name="l"), tf.linalg.lu(a[1], tf.int64, name="lu")[1],
    ]  # fmt: skip


def inverses(tf):
    a, b = _matrix(tf), tf.constant([[[1.0, 2.0]] * 3] * 2)
    return [
        tf.matrix_inverse(a), tf.linalg.inv(a, adjoint=True, name="i"), tf.matrix_solve(a, b),
        tf.linalg.solve(a, b, adjoint=True, name="s"), tf.matrix_determinant(a), tf.linalg.det(a[0], name="d"),
        *tf.linalg.slogdet(a),
    ]  # fmt: skip


def least_squares(tf):
    a, b = _tall(tf), tf.constant([[1.0], [2.0], [4.0]])
    wide = tf.transpose(a)
    return [
        tf.matrix_solve_ls(a, b, 0.5), tf.matrix_solve_ls(a, b, fast=False), tf.linalg.lstsq(a, b, 0.1, name="named"),
        tf.matrix_solve_ls(wide, b[:2], 0.5), tf.matrix_solve_ls(wide, b[:2], fast=False),
        tf.matrix_solve_ls(a, b, tf.constant(0.25)),
    ]  # fmt: skip


def least_squares_of_unknown_sizes(tf):
    a, b = _tall(tf), tf.constant([[1.0], [2.0], [4.0]])
    tall = tf.placeholder_with_default(a, [None, None])
    wide = tf.placeholder_with_default(tf.transpose(a), None)
    found = [tf.matrix_solve_ls(tall, b, 0.5), tf.matrix_solve_ls(wide, b[:2], 0.5, name="named")]
    return found + tf.gradients(found[0] ** 2, tall)


def spectra(tf):
    a, tall = _matrix(tf), _tall(tf)
    e, v = tf.self_adjoint_eig(a)
    s, u, w = tf.svd(tall)
    _, full, _ = tf.linalg.svd(tall, full_matrices=True, name="full")
    _, full_left, full_right = tf.svd(tf.transpose(tall), True)
    return [
        e, v * v, tf.self_adjoint_eigvals(a), tf.linalg.eigvalsh(a[0], name="e"), tf.linalg.eigh(a)[0], s, u * u,
        w * w, full * full, tf.svd(tall, compute_uv=False), full_left * full_left, full_right * full_right,
    ]  # fmt: skip


def ranks(tf):
    a = tf.constant([[1.0, 2.0], [2.0, 4.0], [1.0, 0.0]])
    return [
        tf.linalg.matrix_rank(a), tf.linalg.matrix_rank(a[:2], name="r"), tf.linalg.matrix_rank(a, tol=10.0),
        tf.linalg.pinv(a), tf.linalg.pinv(tf.placeholder_with_default(a, [None, 2]), name="p"),
        tf.linalg.matrix_rank(_matrix(tf, unknown=True), validate_args=True),
    ]  # fmt: skip


def gradients_of_factors(tf):
    a, b = _matrix(tf), tf.constant([[[1.0, 2.0]] * 3] * 2)
    weights = tf.constant(np.arange(18, dtype=np.float32).reshape(2, 3, 3))
    found = []
    for result in (
        tf.cholesky(a) * weights, tf.matrix_inverse(a) * weights, tf.matrix_determinant(a), tf.linalg.slogdet(a)[1],
        tf.linalg.logdet(a),
    ):  # fmt: skip
        found += tf.gradients(result, a)
    for adjoint in (False, True):
        found += tf.gradients(tf.matrix_solve(a, b, adjoint=adjoint) * weights[:, :, :2], [a, b])
    return found


def gradients_of_spectra(tf):
    a, tall = _matrix(tf), _tall(tf)
    e, v = tf.self_adjoint_eig(a)
    found = tf.gradients([e * [1.0, 2.0, 3.0], v * v * v * v], a)
    found += tf.gradients(tf.self_adjoint_eigvals(a) * [1.0, 2.0, 3.0], a)
    found += tf.gradients(tf.svd(tall, compute_uv=False) * [1.0, 2.0], tall)
    for matrix in (tall, tf.transpose(tall), tall[:2]):
        for full in (False, True):
            s, u, w = tf.svd(matrix, full)
            found += tf.gradients([s * [1.0, 2.0], u[:, :2] ** 4, w[:, :2] ** 4], tall)
    return found


def gradients_of_least_squares(tf):
    a, b = _tall(tf), tf.constant([[1.0], [2.0], [4.0]])
    found = []
    for matrix, rhs in ((a, b), (tf.transpose(a), b[:2])):
        found += tf.gradients(tf.matrix_solve_ls(matrix, rhs, 0.5) ** 2, [a, b])
    many = tf.placeholder_with_default(np.arange(12, dtype=np.float32).reshape(2, 3, 2) ** 2, [2, 3, 2])
    return found + tf.gradients(tf.matrix_solve_ls(many, tf.ones([2, 3, 1]), 1.0), many)
