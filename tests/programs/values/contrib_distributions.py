"""tf.contrib.distributions and its bijectors: densities, moments, samples by seed, divergences, determinants."""

import numpy as np

from programs.values import case

_POSITIVE = np.array([[0.3, 0.5, 1.2], [2.0, 0.1, 1.0]], np.float32)
_COUNTS = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 0.0]], np.float32)
_POINTS = np.array([[0.3, -0.5, 1.2], [2.0, 0.1, -1.0]], np.float32)
_THREE = [1.0, 0.5, 2.0]
_TRIL = np.array([[1, 0, 0], [0.5, 2, 0], [0.1, 0.2, 1.5]], np.float32)
_CLASSES = np.array([[0.1, 0.2, 0.7], [1.0, -1.0, 0.0]], np.float32)
_SIMPLEX = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], np.float32)


def _joined(make):
    """A case of all tensors that `make(tf)` returns, one after the other."""

    def build():
        import sys

        tf = sys.modules["stillflow"] if "stillflow" in sys.modules else sys.modules["tensorflow"]
        return tf.concat([tf.reshape(tf.cast(t, tf.float32), [-1]) for t in make(tf)], 0)

    return case(build)


def _family(make, points, moments, others=(), samples=3):
    def all_of_it(tf):
        d = make(tf.contrib.distributions)
        found = [getattr(d, name)() for name in moments.split()] + [d.log_prob(points), d.prob(points)]
        found += [getattr(d, name)(points) for name in others]
        return found + ([d.sample(samples, seed=7)] if samples else [])

    return _joined(all_of_it)


_FAMILIES = {
    "exponential_vector": (
        lambda cd: cd.VectorExponentialDiag([1.0, 2.0, 0.0], _THREE), _POSITIVE + 2.0,
        "mean variance stddev covariance mode",
    ),
    "laplace_vector": (
        lambda cd: cd.VectorLaplaceDiag([1.0, 2.0, 0.0], _THREE), _POSITIVE, "mean variance stddev covariance mode",
    ),
    "skewed": (lambda cd: cd.SinhArcsinh([0.0, 1.0, 2.0], _THREE, 0.3, 1.2), _POSITIVE, "", ["cdf", "log_cdf"]),
    "skewed_vector": (lambda cd: cd.VectorSinhArcsinhDiag([1.0, 2.0, 0.0], _THREE, skewness=0.1), _POSITIVE, ""),
    "poisson": (lambda cd: cd.Poisson(rate=[1.0, 2.5, 3.0]), _COUNTS, "mean variance mode", ["cdf"]),
    "poisson_by_logarithm": (lambda cd: cd.Poisson(log_rate=[0.0, 0.5, 1.0]), _COUNTS, "mean"),
    "geometric": (lambda cd: cd.Geometric(probs=[0.1, 0.5, 0.9]), _COUNTS, "mean stddev mode entropy", ["cdf"]),
    "binomial": (lambda cd: cd.Binomial(5.0, probs=[0.1, 0.5, 0.9]), _COUNTS, "mean variance mode", ["cdf"], 0),
    "negative_binomial": (
        lambda cd: cd.NegativeBinomial([5.0, 2.0, 1.0], logits=[0.1, 0.5, -1.0]), _COUNTS[0],
        "mean variance mode", ["cdf"],
    ),
    "logistic": (
        lambda cd: cd.Logistic([0.0, 1.0, 2.0], _THREE), _POSITIVE, "mean stddev mode entropy",
        ["cdf", "log_cdf", "survival_function"],
    ),
    "cauchy": (lambda cd: cd.Cauchy([0.0, 1.0, 2.0], _THREE), _POSITIVE, "mean mode entropy", ["cdf", "log_cdf"]),
    "half_normal": (lambda cd: cd.HalfNormal(_THREE), _POSITIVE, "mean variance mode entropy", ["cdf"]),
    "inverse_gamma": (
        lambda cd: cd.InverseGamma([1.0, 3.5, 2.5], _THREE), _POSITIVE, "mean stddev mode entropy", ["cdf"],
    ),
    "chi2": (lambda cd: cd.Chi2([1.0, 3.5, 2.5]), _POSITIVE, "mean stddev mode entropy", ["cdf"]),
    "kumaraswamy": (
        lambda cd: cd.Kumaraswamy([1.0, 3.5, 2.5], _THREE), _POSITIVE / 3, "mean variance mode entropy", ["cdf"],
    ),
    "one_hot": (lambda cd: cd.OneHotCategorical(logits=_CLASSES), np.eye(3)[[0, 2]], "mode entropy covariance"),
    "relaxed_one_hot": (lambda cd: cd.RelaxedOneHotCategorical(0.5, logits=_CLASSES), _SIMPLEX, ""),
    "logarithm_of_relaxed": (
        lambda cd: cd.ExpRelaxedOneHotCategorical([0.5, 1.0], probs=_SIMPLEX), np.log(_SIMPLEX[::-1]), "",
    ),
    "relaxed_bernoulli": (lambda cd: cd.RelaxedBernoulli(0.5, probs=[0.1, 0.7]), [0.2, 0.3], "", ["cdf"]),
    "independent": (
        lambda cd: cd.Independent(cd.Normal([[0.0, 1.0], [2.0, 3.0]], 1.0)), _POINTS[:, :2],
        "mean stddev mode entropy",
    ),
    "deterministic": (
        lambda cd: cd.Deterministic([1.0, 2.0], atol=0.1), [1.05, 2.2], "mean stddev mode entropy", ["cdf"],
    ),
    "deterministic_vector": (lambda cd: cd.VectorDeterministic([1.0, 2.0]), [[1.0, 2.0], [1.0, 2.1]], "mean mode"),
    "mixture": (
        lambda cd: cd.Mixture(
            cd.Categorical(probs=[[0.3, 0.7], [0.5, 0.5]]),
            [cd.Normal([0.0, 1.0], 1.0), cd.Normal([5.0, -5.0], 0.5)],
        ),
        [0.1, 0.2], "mean stddev entropy_lower_bound", ["log_cdf"],
    ),
    "mixture_of_vectors": (
        lambda cd: cd.Mixture(
            cd.Categorical(probs=[0.3, 0.7]),
            [cd.MultivariateNormalDiag([0.0, 1.0]), cd.MultivariateNormalDiag([3.0, -1.0])],
        ),
        [0.1, 0.2], "mean stddev",
    ),
    "mixture_by_masks": (
        lambda cd: cd.Mixture(
            cd.Categorical(probs=[0.3, 0.7]), [cd.Normal(0.0, 1.0), cd.Normal(3.0, 2.0)], use_static_graph=True
        ),
        0.1, "mean",
    ),
    "mixture_of_a_batch": (
        lambda cd: cd.MixtureSameFamily(
            cd.Categorical(probs=[0.3, 0.7]), cd.MultivariateNormalDiag([[0.0, 1.0], [3.0, -1.0]])
        ),
        [0.1, 0.2], "mean stddev covariance", [], 0,
    ),
    "normal_vectors": (
        lambda cd: cd.MultivariateNormalDiag([1.0, 2.0, 3.0], [0.5, 1.0, 2.0]), _POINTS,
        "mean stddev covariance entropy mode",
    ),
    "normal_vectors_by_a_number": (
        lambda cd: cd.MultivariateNormalDiag(np.zeros((2, 3), np.float32), scale_identity_multiplier=[1.0, 2.0]),
        _POINTS, "",
    ),
    "normal_vectors_by_a_triangle": (
        lambda cd: cd.MultivariateNormalTriL(np.zeros((2, 3), np.float32), _TRIL), _POINTS, "mean variance entropy",
    ),
    "normal_vectors_by_covariance": (
        lambda cd: cd.MultivariateNormalFullCovariance(covariance_matrix=[[2.0, 0.5], [0.5, 1.0]]),
        [0.1, 0.2], "mean covariance",
    ),
    "normal_vectors_of_low_rank": (
        lambda cd: cd.MultivariateNormalDiagPlusLowRank(
            [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], scale_perturb_factor=[[1.0], [0.5], [0.2]]
        ),
        _POINTS, "covariance",
    ),
    "log_normal": (
        lambda cd: cd.TransformedDistribution(cd.Normal([0.0, 1.0], 1.0), cd.bijectors.Exp()), _POSITIVE[:, :2], "",
        ["cdf", "log_survival_function"],
    ),
    "transformed_with_events": (
        lambda cd: cd.TransformedDistribution(
            cd.Normal([0.0, 1.0], 1.0), cd.bijectors.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 3.0]),
            event_shape=[3],
        ),
        _POINTS, "entropy",
    ),
    "absolute_value": (
        lambda cd: cd.TransformedDistribution(cd.Normal(1.0, 1.0), cd.bijectors.AbsoluteValue()), _POSITIVE, "",
    ),
}  # fmt: skip

_BIJECTORS = {
    "exp": lambda b: b.Exp(),
    "sigmoid": lambda b: b.Sigmoid(),
    "softplus": lambda b: b.Softplus(),
    "soft_softplus": lambda b: b.Softplus(hinge_softness=2.0),
    "softsign": lambda b: b.Softsign(validate_args=True),
    "power": lambda b: b.PowerTransform(power=0.5),
    "square": lambda b: b.Square(),
    "gumbel": lambda b: b.Gumbel(loc=0.5, scale=2.0),
    "kumaraswamy": lambda b: b.Kumaraswamy(concentration1=2.0, concentration0=3.0),
    "sinh_arcsinh": lambda b: b.SinhArcsinh(skewness=0.5, tailweight=1.5),
    "affine_scalar": lambda b: b.AffineScalar(shift=1.0, scale=-2.0),
    "identity": lambda b: b.Identity(),
    "chain_of_numbers": lambda b: b.Chain([b.Exp(), b.AffineScalar(scale=2.0)]),
    "invert": lambda b: b.Invert(b.Exp()),
    "affine": lambda b: b.Affine(shift=[1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 3.0]),
    "affine_by_a_number": lambda b: b.Affine(scale_identity_multiplier=2.0),
    "affine_by_a_triangle": lambda b: b.Affine(scale_tril=_TRIL, scale_identity_multiplier=0.5),
    "affine_of_low_rank": lambda b: b.Affine(shift=[1.0, 1.0, 1.0], scale_perturb_factor=[[1.0], [0.5], [0.2]]),
    "permute": lambda b: b.Permute([2, 0, 1]),
    "ordered": lambda b: b.Ordered(),
    "softmax_centered": lambda b: b.SoftmaxCentered(),
    "chain": lambda b: b.Chain([b.Permute([1, 0, 2]), b.Affine(scale_diag=[1.0, 2.0, 3.0]), b.Exp()]),
    "inline": lambda b: b.Inline(
        forward_fn=lambda x: 2 * x,
        inverse_fn=lambda y: y / 2,
        forward_log_det_jacobian_fn=lambda x: 0 * x + np.log(2.0),
        forward_min_event_ndims=0,
    ),
}


def _bijector(make):
    def all_of_it(tf):
        b = make(tf.contrib.distributions.bijectors)
        x = tf.constant(np.array([[0.1, 0.3, 0.45], [0.2, 0.25, 0.4]], np.float32))
        y = b.forward(x)
        shape = y.shape.as_list()
        shapes = b.forward_event_shape_tensor([3]) if b.forward_min_event_ndims else shape
        ranks = max(b.forward_min_event_ndims, 1), max(b.inverse_min_event_ndims, 1)
        determinants = [
            b.forward_log_det_jacobian(x, event_ndims=ranks[0]),
            b.inverse_log_det_jacobian(tf.identity(y), event_ndims=ranks[1]),
        ]
        return [y, b.inverse(tf.identity(y)), *determinants, shapes]

    return _joined(all_of_it)


def _divergences(tf):
    cd = tf.contrib.distributions
    diagonal = cd.MultivariateNormalDiag([1.0, 2.0, 3.0], [0.5, 1.0, 2.0])
    triangle = cd.MultivariateNormalTriL(np.zeros(3, np.float32), _TRIL)
    pairs = [
        (diagonal, triangle),
        (triangle, diagonal),
        (diagonal, cd.MultivariateNormalDiag(np.zeros(3, np.float32))),
        (cd.OneHotCategorical(logits=_CLASSES), cd.OneHotCategorical(probs=[0.2, 0.3, 0.5])),
        (cd.Independent(cd.Normal(_POINTS, 1.0)), cd.Independent(cd.Normal(0.0 * _POINTS, 2.0))),
    ]
    return [cd.kl_divergence(a, b) for a, b in pairs]


def _softplus_variants(tf):
    cd = tf.contrib.distributions
    found = [
        cd.NormalWithSoftplusScale(1.0, _THREE),
        cd.LaplaceWithSoftplusScale(1.0, _THREE),
        cd.GammaWithSoftplusConcentrationRate(1.0, _THREE),
        cd.ExponentialWithSoftplusRate(_THREE),
        cd.InverseGammaWithSoftplusConcentrationRate(_THREE, 1.0),
        cd.BetaWithSoftplusConcentration(_THREE, 1.0),
        cd.Chi2WithAbsDf([-2.5, 1.0, 2.0]),
        cd.StudentTWithAbsDfSoftplusScale([-2.5, 3.0, 4.0], 0.0, _THREE),
    ]
    return [d.log_prob(_POSITIVE / 3) for d in found]


def _functions(tf):
    cd = tf.contrib.distributions
    numbers = np.arange(1.0, 11.0, dtype=np.float32)
    lower, upper = cd.fill_triangular(numbers), cd.fill_triangular(numbers, upper=True)
    return [
        lower,
        upper,
        cd.fill_triangular_inverse(lower),
        cd.fill_triangular_inverse(upper, upper=True),
        cd.softplus_inverse([1e-8, 0.5, 30.0]),
        cd.reduce_weighted_logsumexp([1.0, 2.0], [1.0, -3.0]),
        cd.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]),
        cd.matrix_diag_transform(_TRIL, tf.exp),
    ]


def _statistics(tf):
    cd = tf.contrib.distributions
    x = np.random.RandomState(0).randn(4, 5, 6).astype(np.float32)
    prior = cd.Normal(0.0, [1.0, 2.0])
    given = prior, 2.0, tf.constant(6.0), 3
    after, following = (
        cd.normal_conjugates_known_scale_posterior(*given),
        cd.normal_conjugates_known_scale_predictive(*given),
    )
    return [
        cd.auto_correlation(x, axis=1),
        cd.auto_correlation(x[0], max_lags=3, center=False, normalize=False),
        cd.percentile(x, 30.0, axis=[0, 2], interpolation="lower", keep_dims=True),
        cd.percentile(x, 50.0, axis=-1, interpolation="higher"),
        cd.percentile(x, 5.0, keep_dims=True),
        after.mean(), after.stddev(), following.mean(), following.stddev(),
    ]  # fmt: skip


def _of_matrices(tf):
    cd = tf.contrib.distributions
    full = [[4.0, 2.0, 1.0], [2.0, 10.0, 1.75], [1.0, 1.75, 1.3125]]
    found = []
    for d in (cd.WishartCholesky(5.0, _TRIL), cd.WishartFull(5.0, full), cd.WishartCholesky(4.0, _TRIL, True)):
        x = d.sample(2, seed=4)
        found += [x, d.log_prob(x), d.mean(), d.variance(), d.mode(), d.entropy(), d.mean_log_det(), d.scale()]
    return found


def _bijectors_of_matrices(tf):
    b = tf.contrib.distributions.bijectors
    found = []
    for bijector, x, rank in (
        (b.CholeskyOuterProduct(), _TRIL, 2),
        (b.MatrixInverseTriL(), _TRIL, 2),
        (b.TransformDiagonal(b.Exp()), _TRIL, 2),
        (b.FillTriangular(), _TRIL.ravel()[:6], 1),
        (b.ScaleTriL(), _TRIL.ravel()[:6], 1),
        (b.BatchNormalization(training=False), _TRIL, 1),
    ):
        y = bijector.forward(x)
        found += [y, bijector.inverse(tf.identity(y)), bijector.forward_log_det_jacobian(x, rank)]
    return found


def _made_of_others(tf):
    cd = tf.contrib.distributions
    normals = cd.MultivariateNormalDiag(np.arange(12.0, dtype=np.float32).reshape(6, 2), np.ones([6, 2], np.float32))
    reshaped = cd.BatchReshape(normals, [2, -1], validate_args=True)

    def next_of(x=None):
        before = tf.zeros([3]) if x is None else tf.concat([tf.zeros_like(x[..., :1]), x[..., :-1] * 0.5], -1)
        return cd.Independent(cd.Normal(before, 1.0), 1)

    found = []
    for d in (reshaped, cd.Autoregressive(next_of)):
        x = d.sample(2, seed=5)
        found += [x, d.log_prob(x), d.prob(x)]
    quantized, whole = (
        cd.QuantizedDistribution(cd.Normal([0.0, 1.0], [2.0, 1.0]), -2.0, 3.0),
        [[-1.0, 2.0], [3.0, -2.0]],
    )
    names = "log_prob prob cdf log_cdf survival_function log_survival_function"
    found += [getattr(quantized, name)(whole) for name in names.split()]
    return [*found, quantized.sample(4, seed=3), reshaped.mean(), reshaped.covariance(), reshaped.entropy()]


def cases(tf):
    found = {name: _family(*arguments) for name, arguments in _FAMILIES.items()}
    found.update(("bijector_" + name, _bijector(make)) for name, make in _BIJECTORS.items())
    for name, make in (
        ("divergences", _divergences),
        ("softplus_variants", _softplus_variants),
        ("functions", _functions),
        ("statistics", _statistics),
        ("of_matrices", _of_matrices),
        ("bijectors_of_matrices", _bijectors_of_matrices),
        ("made_of_others", _made_of_others),
    ):
        found[name] = _joined(make)
    return found
