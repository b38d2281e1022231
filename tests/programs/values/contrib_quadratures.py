"""tf.contrib.distributions of quadratures: grids, weights, and the mixtures over their points."""

import numpy as np

from programs.values import case


def _joined(make):
    """A case of all tensors that `make(tf, tf.contrib.distributions)` returns, one after the other."""

    def build():
        import sys

        tf = sys.modules["stillflow"] if "stillflow" in sys.modules else sys.modules["tensorflow"]
        found = make(tf, tf.contrib.distributions)
        return tf.concat([tf.reshape(tf.cast(t, tf.float32), [-1]) for t in found], 0)

    return case(build)


def _lognormal(tf, cd):
    loc, scale = tf.constant([0.1, -0.5]), tf.constant([1.0, 0.2])
    return [
        *cd.quadrature_scheme_lognormal_gauss_hermite(loc, scale, 5),
        *cd.quadrature_scheme_lognormal_quantiles(loc, scale, 4),
    ]


def _softmax_normal(tf, cd):
    loc, scale = tf.constant([[0.1], [-0.5]]), tf.constant([[1.0], [0.2]])
    return cd.quadrature_scheme_softmaxnormal_quantiles(loc, scale, 4, validate_args=True)


def _rates(tf, cd):
    found = []
    for loc, scheme in ((0.1, cd.quadrature_scheme_lognormal_gauss_hermite), ([0.0, -0.5], None)):
        more = {"quadrature_fn": scheme} if scheme else {}
        d = cd.PoissonLogNormalQuadratureCompound(loc, 0.7, quadrature_size=6, validate_args=True, **more)
        found += [d.mean(), d.variance(), d.stddev(), d.log_prob(2.0), d.prob([[1.0], [4.0]]), d.sample(5, seed=42)]
    return found


def _mixtures(scales):
    def make(tf, cd):
        operators = scales(tf.linalg)
        d = cd.VectorDiffeomixture(
            mix_loc=[[0.0], [1.0]], temperature=[1.5], distribution=cd.Normal(0.0, 1.5),
            loc=[None, np.float32([2.0, 0.5, -1.0])], scale=operators, quadrature_size=4, validate_args=True,
        )  # fmt: skip
        x = d.sample(3, seed=7)
        return [d.grid, x, d.log_prob(x), d.mean(), d.covariance(), d.variance()]

    return make


def _of_one_batch(tf, cd):
    d = cd.VectorDiffeomixture(
        mix_loc=[0.5], temperature=[0.5], distribution=cd.Normal(0.0, 1.0),
        scale=[tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorScaledIdentity(2, tf.constant(3.0))],
    )  # fmt: skip
    x = d.sample(4, seed=3)
    return [x, d.prob(x), d.mean(), d.covariance(), d.variance()]


def _diagonals(linalg):
    multiple = linalg.LinearOperatorScaledIdentity(3, np.float32(1.1), is_positive_definite=True)
    return [multiple, linalg.LinearOperatorDiag(np.float32([0.3, 1.0, 2.0]), is_positive_definite=True)]


def _triangles(linalg):
    tril = np.float32([[1, 0, 0], [0.5, 2, 0], [0.1, 0.2, 1.5]])
    return [
        linalg.LinearOperatorLowerTriangular(tril, is_non_singular=True, is_positive_definite=True),
        linalg.LinearOperatorLowerTriangular(tril.T @ tril, is_non_singular=True, is_positive_definite=True),
    ]


def cases(tf):
    return {
        "lognormal": _joined(_lognormal),
        "softmax_normal": _joined(_softmax_normal),
        "rates": _joined(_rates),
        "mixture_of_diagonals": _joined(_mixtures(_diagonals)),
        "mixture_of_triangles": _joined(_mixtures(_triangles)),
        "mixture_of_one_batch": _joined(_of_one_batch),
    }
