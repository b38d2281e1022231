"""Bijectors with values, and functions of tf.contrib.distributions, of what v(values) makes."""

import numpy as np


def bijectors(tf, v, checks):
    """{name: (bijector, event_ndims, x, y)}."""
    b = tf.contrib.distributions.bijectors
    more = {"validate_args": True} if checks else {}
    lower = [[1.0, 0.0], [0.3, 2.0]]
    vector, positive = [0.2, 0.4, 0.6], [0.3, 1.4, 2.6]
    matrix = [[2.0, 0.3], [0.3, 1.0]]
    return {
        "AbsoluteValue": (lambda: b.AbsoluteValue(**more), 0, vector, positive),
        "Affine": (lambda: b.Affine(v(vector), scale_diag=v(positive), **more), 1, vector, vector),
        "Affine_empty": (lambda: b.Affine(**more), 1, vector, vector),
        "Affine_identity": (
            lambda: b.Affine(v(vector), scale_identity_multiplier=v(2.0), **more),
            1,
            vector,
            vector,
        ),
        "Affine_tril": (lambda: b.Affine(v([1.0, 2.0]), scale_tril=v(lower), **more), 1, [1.0, 2.0], [1.0, 2.0]),
        "Affine_all": (
            lambda: b.Affine(
                v([1.0, 2.0]),
                v(2.0),
                v([1.0, 3.0]),
                v(lower),
                v([[0.1], [0.2]]),
                v([0.5]),
                adjoint=True,
                **more,
            ),
            1,
            [1.0, 2.0],
            [1.0, 2.0],
        ),
        "AffineLinearOperator": (
            lambda: b.AffineLinearOperator(v([1.0, 2.0]), tf.linalg.LinearOperatorLowerTriangular(v(lower)), **more),
            1,
            [1.0, 2.0],
            [1.0, 2.0],
        ),
        "AffineScalar": (lambda: b.AffineScalar(v(1.0), v(2.0), **more), 0, vector, vector),
        "AffineScalar_shift": (lambda: b.AffineScalar(v(1.0), **more), 0, vector, vector),
        "BatchNormalization": (lambda: b.BatchNormalization(**more), 1, [vector, positive], [vector, positive]),
        "Chain": (lambda: b.Chain([b.Exp(), b.AffineScalar(v(1.0), v(2.0))], **more), 0, vector, positive),
        "Chain_empty": (lambda: b.Chain([], **more), 0, vector, positive),
        "Chain_vector": (
            lambda: b.Chain([b.SoftmaxCentered(), b.Affine(v(vector), scale_diag=v(positive))], **more),
            1,
            vector,
            [0.1, 0.2, 0.3, 0.4],
        ),
        "CholeskyOuterProduct": (lambda: b.CholeskyOuterProduct(**more), 2, lower, matrix),
        "Exp": (lambda: b.Exp(**more), 0, vector, positive),
        "Exp_vector": (lambda: b.Exp(**more), 1, vector, positive),
        "FillTriangular": (lambda: b.FillTriangular(**more), 1, vector, lower),
        "FillTriangular_upper": (lambda: b.FillTriangular(upper=True, **more), 1, vector, lower),
        "Gumbel": (lambda: b.Gumbel(v(1.0), v(2.0), **more), 0, vector, [0.2, 0.5, 0.9]),
        "Identity": (lambda: b.Identity(**more), 0, vector, vector),
        "Inline": (
            lambda: b.Inline(
                forward_fn=tf.exp,
                inverse_fn=tf.log,
                inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
                forward_min_event_ndims=0,
                **more,
            ),
            0,
            vector,
            positive,
        ),
        "Invert": (lambda: b.Invert(b.Exp(), **more), 0, positive, vector),
        "Kumaraswamy": (lambda: b.Kumaraswamy(v(1.5), v(2.0), **more), 0, [0.2, 0.5, 0.9], [0.2, 0.5, 0.9]),
        "MaskedAutoregressiveFlow": (
            lambda: b.MaskedAutoregressiveFlow(lambda y: (y * 0.5, y * 0.25), **more),
            1,
            vector,
            vector,
        ),
        "MaskedAutoregressiveFlow_template": (
            lambda: b.MaskedAutoregressiveFlow(
                b.masked_autoregressive_default_template(hidden_layers=[5, 4]), unroll_loop=True, **more
            ),
            1,
            [vector],
            [vector],
        ),
        "MatrixInverseTriL": (lambda: b.MatrixInverseTriL(**more), 2, lower, lower),
        "Ordered": (lambda: b.Ordered(**more), 1, vector, vector),
        "Permute": (lambda: b.Permute([2, 0, 1], **more), 1, vector, vector),
        "PowerTransform": (lambda: b.PowerTransform(0.5, **more), 0, vector, positive),
        "PowerTransform_zero": (lambda: b.PowerTransform(**more), 0, vector, positive),
        "RealNVP": (
            lambda: b.RealNVP(1, b.real_nvp_default_template(hidden_layers=[5, 4]), **more),
            1,
            [vector],
            [vector],
        ),
        "Reshape": (lambda: b.Reshape([3, 1], [3], **more), 1, vector, [[0.1], [0.2], [0.3]]),
        "Reshape_unknown": (lambda: b.Reshape([-1, 1], [-1], **more), 1, vector, [[0.1], [0.2], [0.3]]),
        "ScaleTriL": (lambda: b.ScaleTriL(**more), 1, vector, lower),
        "Sigmoid": (lambda: b.Sigmoid(**more), 0, vector, [0.2, 0.5, 0.9]),
        "SinhArcsinh": (lambda: b.SinhArcsinh(v(0.5), v(1.2), **more), 0, vector, vector),
        "SinhArcsinh_plain": (lambda: b.SinhArcsinh(**more), 0, vector, vector),
        "SoftmaxCentered": (lambda: b.SoftmaxCentered(**more), 1, vector, [0.1, 0.2, 0.3, 0.4]),
        "Softplus": (lambda: b.Softplus(**more), 0, vector, positive),
        "Softplus_hinge": (lambda: b.Softplus(hinge_softness=v(0.5), **more), 0, vector, positive),
        "Softsign": (lambda: b.Softsign(**more), 0, vector, [0.2, 0.5, 0.9]),
        "Square": (lambda: b.Square(**more), 0, vector, positive),
        "TransformDiagonal": (lambda: b.TransformDiagonal(b.Exp(), **more), 2, lower, lower),
        "Weibull": (lambda: b.Weibull(v(2.0), v(1.5), **more), 0, positive, [0.2, 0.5, 0.9]),
    }


def functions(tf, v):
    d, c = tf.distributions, tf.contrib.distributions
    x = np.arange(24.0).reshape(2, 3, 4)

    def moving():
        return [
            tf.contrib.distributions.assign_moving_mean_variance(
                tf.Variable(np.float32(0)), tf.Variable(np.float32(1)), v(2.0), 0.9
            ),
            c.moving_mean_variance(v([2.0, 3.0]), 0.9),
        ]

    def lognormal():
        prior = d.Normal(v(0.0), v(1.0))
        return [
            c.normal_conjugates_known_scale_posterior(prior, v(2.0), v(3.0), v(4.0)),
            c.normal_conjugates_known_scale_predictive(prior, v(2.0), v(3.0), v(4.0)),
        ]

    return {
        "moving_mean_variance": moving,
        "assign_log_moving_mean_exp": lambda: c.assign_log_moving_mean_exp(
            tf.Variable(np.float32([0, 1])), v([2.0, 3.0]), 0.9
        ),
        "conjugates": lognormal,
        "percentile": lambda: [
            c.percentile(v(x), 30.0),
            c.percentile(v(x), 30.0, axis=[1], interpolation="lower", keep_dims=True),
            c.percentile(v(x), 30.0, axis=[0, 2], interpolation="higher", validate_args=True),
        ],
        "auto_correlation": lambda: [
            c.auto_correlation(v(x), axis=1),
            c.auto_correlation(v(x), max_lags=2, center=False, normalize=False),
        ],
        "fill_triangular": lambda: [c.fill_triangular(v([1.0, 2.0, 3.0])), c.fill_triangular(v([1.0, 2, 3]), True)],
        "softplus_inverse": lambda: c.softplus_inverse(v([1.0, 2.0])),
        "tridiag": lambda: c.tridiag(v([1.0, 2.0]), v([1.0, 2.0, 3.0]), v([4.0, 5.0])),
        "matrix_diag_transform": lambda: c.matrix_diag_transform(v([[1.0, 2.0], [3.0, 4.0]]), tf.nn.softplus),
        "reduce_weighted_logsumexp": lambda: c.reduce_weighted_logsumexp(
            v([[1.0, 2.0]]), v([[0.5, -3.0]]), axis=1, return_sign=True
        ),
        "quadratures": lambda: [
            c.quadrature_scheme_softmaxnormal_quantiles(v([0.5]), v([2.0]), 3),
            c.quadrature_scheme_lognormal_quantiles(v(0.5), v(2.0), 3),
            c.quadrature_scheme_lognormal_gauss_hermite(v(0.5), v(2.0), 3),
        ],
        "matrix_of_masked_dense": lambda: c.bijectors.masked_dense(v([[1.0, 2.0, 3.0]]), 6, num_blocks=3),
    }
