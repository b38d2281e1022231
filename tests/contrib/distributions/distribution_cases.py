"""Distributions with a value of each, of constants or placeholders that v(values) makes."""

import numpy as np


def of_scalars(tf, v, checks):
    d, c = tf.distributions, tf.contrib.distributions
    more = {"validate_args": True} if checks else {}
    three, positive, probs = [0.5, -1.0, 2.0], [1.0, 0.3, 2.5], [0.3, 0.5, 0.9]
    logits = [-1.0, 0.0, 2.0]
    counts, real, unit, above = [0.0, 2.0, 3.0], [0.3, 0.9, 1.7], [0.2, 0.5, 0.9], [0.3, 0.9, 1.7]
    bits = [0, 1, 1]
    return {
        "Normal": (lambda: d.Normal(v(three), v(positive), **more), real),
        "NormalWithSoftplusScale": (lambda: c.NormalWithSoftplusScale(v(three), v(three), **more), real),
        "Bernoulli": (lambda: d.Bernoulli(probs=v(probs), **more), bits),
        "Bernoulli_logits": (lambda: d.Bernoulli(logits=v(logits), dtype=tf.int64, **more), bits),
        "BernoulliWithSigmoidProbs": (lambda: c.BernoulliWithSigmoidProbs(v(logits), **more), bits),
        "Beta": (lambda: d.Beta(v(positive), v(above), **more), unit),
        "BetaWithSoftplusConcentration": (lambda: c.BetaWithSoftplusConcentration(v(three), v(above), **more), unit),
        "Exponential": (lambda: d.Exponential(v(positive), **more), above),
        "ExponentialWithSoftplusRate": (lambda: c.ExponentialWithSoftplusRate(v(three), **more), above),
        "Gamma": (lambda: d.Gamma(v(above), v(positive), **more), above),
        "GammaWithSoftplusConcentrationRate": (
            lambda: c.GammaWithSoftplusConcentrationRate(v(three), v(three), **more),
            above,
        ),
        "Laplace": (lambda: d.Laplace(v(three), v(positive), **more), real),
        "LaplaceWithSoftplusScale": (lambda: c.LaplaceWithSoftplusScale(v(three), v(three), **more), real),
        "StudentT": (lambda: d.StudentT(v([3.0, 5.0, 1.5]), v(three), v(positive), **more), real),
        "StudentT_two": (lambda: d.StudentT(v([3.0, 5.0, 1.5]), v(three), v(positive), allow_nan_stats=False), real),
        "StudentTWithAbsDfSoftplusScale": (
            lambda: c.StudentTWithAbsDfSoftplusScale(v([3.0, 5.0, -1.5]), v(three), v(three), **more),
            real,
        ),
        "Uniform": (lambda: d.Uniform(v([0.0, -1.0, 1.0]), v([1.0, 0.3, 2.5]), **more), [0.5, 0.1, 3.0]),
        "Poisson": (lambda: c.Poisson(v(above), **more), counts),
        "Poisson_log_rate": (lambda: c.Poisson(log_rate=v(three), **more), counts),
        "Poisson_continuous": (lambda: c.Poisson(v(above), interpolate_nondiscrete=False, **more), counts),
        "Geometric": (lambda: c.Geometric(probs=v(probs), **more), counts),
        "Geometric_logits": (lambda: c.Geometric(logits=v(logits), **more), counts),
        "NegativeBinomial": (lambda: c.NegativeBinomial(v([2.0, 3.0, 4.0]), probs=v(probs), **more), counts),
        "NegativeBinomial_logits": (lambda: c.NegativeBinomial(v([2.0, 3.0, 4.0]), logits=v(logits), **more), counts),
        "Binomial": (lambda: c.Binomial(v([2.0, 3.0, 4.0]), probs=v(probs), **more), counts),
        "Binomial_logits": (lambda: c.Binomial(v([2.0, 3.0, 4.0]), logits=v(logits), **more), counts),
        "Logistic": (lambda: c.Logistic(v(three), v(positive), **more), real),
        "Cauchy": (lambda: c.Cauchy(v(three), v(positive), **more), real),
        "Gumbel": (lambda: c.Gumbel(v(three), v(positive), **more), real),
        "HalfNormal": (lambda: c.HalfNormal(v(positive), **more), above),
        "InverseGamma": (lambda: c.InverseGamma(v([1.5, 2.0, 7.0]), v(positive), **more), above),
        "InverseGamma_nan": (lambda: c.InverseGamma(v([1.5, 2.0, 7.0]), v(positive), allow_nan_stats=False), above),
        "InverseGammaWithSoftplusConcentrationRate": (
            lambda: c.InverseGammaWithSoftplusConcentrationRate(v(three), v(three), **more),
            above,
        ),
        "Chi2": (lambda: c.Chi2(v([1.0, 2.0, 7.0]), **more), above),
        "Chi2WithAbsDf": (lambda: c.Chi2WithAbsDf(v([1.0, -2.0, 7.0]), **more), above),
        "Kumaraswamy": (lambda: c.Kumaraswamy(v(positive), v(above), **more), unit),
        "RelaxedBernoulli": (lambda: c.RelaxedBernoulli(v(0.5), probs=v(probs), **more), unit),
        "RelaxedBernoulli_logits": (lambda: c.RelaxedBernoulli(v(0.5), logits=v(logits), **more), unit),
        "SinhArcsinh": (
            lambda: c.SinhArcsinh(v([0.5, -1.0]), v([1.0, 0.3]), v([0.1, 0.2]), v([1.0, 1.2]), **more),
            [0.2, 0.4],
        ),
        "SinhArcsinh_plain": (lambda: c.SinhArcsinh(v([0.5, -1.0]), v([1.0, 0.3]), **more), [0.2, 0.4]),
        "SinhArcsinh_Laplace": (
            lambda: c.SinhArcsinh(
                v([0.5, -1.0]), v([1.0, 0.3]), v(0.1), distribution=d.Laplace(v(0.0), v(1.0)), **more
            ),
            [0.2, 0.4],
        ),
        "QuantizedDistribution": (
            lambda: c.QuantizedDistribution(d.Normal(v(three), v(positive)), low=v(-3.0), high=v(4.0), **more),
            [0.0, 1.0, -1.0],
        ),
        "QuantizedDistribution_high": (
            lambda: c.QuantizedDistribution(d.Normal(v(three), v(positive)), high=v(4.0), **more),
            [0.0, 1.0, -1.0],
        ),
        "QuantizedDistribution_free": (
            lambda: c.QuantizedDistribution(d.Normal(v(three), v(positive)), **more),
            [0.0, 1.0, -1.0],
        ),
        "Deterministic": (lambda: c.Deterministic(v([0.5, -1.0]), **more), [0.5, 0.2]),
        "Deterministic_near": (lambda: c.Deterministic(v([0.5, -1.0]), v(0.1), v(0.2), **more), [0.5, 0.2]),
        "Mixture": (
            lambda: c.Mixture(
                d.Categorical(probs=v([[0.3, 0.7], [0.4, 0.6]])),
                [d.Normal(v([0.5, 1.0]), v([1.0, 2.0])), d.Laplace(v([-0.5, 1.0]), v([1.0, 2.0]))],
                **more,
            ),
            [0.3, 0.4],
        ),
        "MixtureSameFamily": (
            lambda: c.MixtureSameFamily(
                d.Categorical(probs=v([0.3, 0.7])), d.Normal(v([0.5, -1.0]), v([1.0, 0.3])), **more
            ),
            0.3,
        ),
        "PoissonLogNormalQuadratureCompound": (
            lambda: c.PoissonLogNormalQuadratureCompound(v([0.0, -0.5]), v([1.0, 0.9]), 4, **more),
            [1.0, 2.0],
        ),
    }


def of_vectors(tf, v, checks):
    d, c = tf.distributions, tf.contrib.distributions
    more = {"validate_args": True} if checks else {}
    rows = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    scores = [[0.1, 0.2, 0.7], [-0.3, 0.3, 2.4]]
    loc, diag = [0.5, -1.0, 2.0], [1.0, 0.3, 2.5]
    lower = [[1.0, 0.0], [0.3, 2.0]]
    x3, x2, hot = [0.2, 0.4, 0.6], [0.2, 0.4], [0.0, 0.0, 1.0]
    counts = [[1.0, 2.0, 1.0], [0.0, 3.0, 0.0]]
    simplex = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    low_rank = [[0.1], [0.2], [0.3]]
    return {
        "Categorical": (lambda: d.Categorical(probs=v(rows), **more), [0, 2]),
        "Categorical_logits": (lambda: d.Categorical(logits=v(scores), **more), [1, 2]),
        "Dirichlet": (lambda: d.Dirichlet(v([[1.5, 2.0, 3.0], [0.7, 0.8, 4.0]]), **more), simplex),
        "Dirichlet_nan": (lambda: d.Dirichlet(v([1.5, 2.0, 3.0]), allow_nan_stats=False), simplex),
        "DirichletMultinomial": (
            lambda: d.DirichletMultinomial(v([4.0, 3.0]), v([[1.5, 2.0, 3.0], [0.7, 0.8, 4.0]]), **more),
            counts,
        ),
        "Multinomial": (lambda: d.Multinomial(v([4.0, 3.0]), probs=v(rows), **more), counts),
        "Multinomial_logits": (lambda: d.Multinomial(v([4.0, 3.0]), logits=v(scores), **more), counts),
        "OneHotCategorical": (lambda: c.OneHotCategorical(logits=v(scores[0]), **more), np.array(hot, np.int32)),
        "OneHotCategorical_probs": (
            lambda: c.OneHotCategorical(probs=v(rows), dtype=tf.float32, **more),
            [hot, hot],
        ),
        "RelaxedOneHotCategorical": (
            lambda: c.RelaxedOneHotCategorical(v(0.5), logits=v(scores), **more),
            [[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]],
        ),
        "RelaxedOneHotCategorical_probs": (
            lambda: c.RelaxedOneHotCategorical(v([0.5, 0.6]), probs=v(rows), **more),
            [[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]],
        ),
        "ExpRelaxedOneHotCategorical": (
            lambda: c.ExpRelaxedOneHotCategorical(v(0.5), probs=v(rows[0]), **more),
            [-1.0, -1.5, -0.9],
        ),
        "MultivariateNormalDiag": (lambda: c.MultivariateNormalDiag(v(loc), v(diag), **more), x3),
        "MultivariateNormalDiag_loc": (lambda: c.MultivariateNormalDiag(v(loc), **more), x3),
        "MultivariateNormalDiag_scale": (lambda: c.MultivariateNormalDiag(scale_diag=v(diag), **more), x3),
        "MultivariateNormalDiag_identity": (
            lambda: c.MultivariateNormalDiag(v(loc), scale_identity_multiplier=v(2.0), **more),
            x3,
        ),
        "MultivariateNormalDiag_both": (lambda: c.MultivariateNormalDiag(v(loc), v(diag), v(2.0), **more), x3),
        "MultivariateNormalDiag_batch": (
            lambda: c.MultivariateNormalDiag(v([loc, diag]), v([diag, diag]), **more),
            x3,
        ),
        "MultivariateNormalDiagWithSoftplusScale": (
            lambda: c.MultivariateNormalDiagWithSoftplusScale(v(loc), v(loc), **more),
            x3,
        ),
        "MultivariateNormalDiagPlusLowRank": (
            lambda: c.MultivariateNormalDiagPlusLowRank(
                v(loc), scale_diag=v(diag), scale_perturb_factor=v(low_rank), **more
            ),
            x3,
        ),
        "MultivariateNormalDiagPlusLowRank_full": (
            lambda: c.MultivariateNormalDiagPlusLowRank(
                v(loc), v(diag), v(2.0), scale_perturb_factor=v(low_rank), scale_perturb_diag=v([0.5]), **more
            ),
            x3,
        ),
        "MultivariateNormalFullCovariance": (
            lambda: c.MultivariateNormalFullCovariance(v([0.5, -1.0]), v([[2.0, 0.3], [0.3, 1.0]]), **more),
            x2,
        ),
        "MultivariateNormalTriL": (lambda: c.MultivariateNormalTriL(v([0.5, -1.0]), v(lower), **more), x2),
        "MultivariateNormalTriL_loc": (lambda: c.MultivariateNormalTriL(v([0.5, -1.0]), **more), x2),
        "VectorExponentialDiag": (lambda: c.VectorExponentialDiag(v(loc), v(diag), **more), [1.2, 1.4, 2.6]),
        "VectorExponentialDiag_identity": (
            lambda: c.VectorExponentialDiag(v(loc), scale_identity_multiplier=v(2.0), **more),
            [1.2, 1.4, 2.6],
        ),
        "VectorLaplaceDiag": (lambda: c.VectorLaplaceDiag(v(loc), v(diag), **more), x3),
        "VectorSinhArcsinhDiag": (lambda: c.VectorSinhArcsinhDiag(v(loc), v(diag), **more), x3),
        "VectorSinhArcsinhDiag_skewed": (
            lambda: c.VectorSinhArcsinhDiag(v(loc), v(diag), v(2.0), v(0.1), v([1.0, 1.2, 1.3]), **more),
            x3,
        ),
        "VectorDiffeomixture": (
            lambda: c.VectorDiffeomixture(
                mix_loc=v([[0.0], [1.0]]),
                temperature=v([1.0]),
                distribution=d.Normal(v(0.0), v(1.0)),
                loc=[None, v([2.0, 2.0, 2.0])],
                scale=[
                    tf.linalg.LinearOperatorScaledIdentity(3, multiplier=v(1.1), is_positive_definite=True),
                    tf.linalg.LinearOperatorDiag(v([2.5, 2.5, 2.5]), is_positive_definite=True),
                ],
                quadrature_size=3,
                **more,
            ),
            [x3, x3],
        ),
        "VectorDeterministic": (lambda: c.VectorDeterministic(v([0.5, -1.0]), **more), x2),
        "WishartCholesky": (lambda: c.WishartCholesky(v(4.0), v(lower), **more), [[2.0, 0.3], [0.3, 1.0]]),
        "WishartCholesky_factors": (
            lambda: c.WishartCholesky(v(4.0), v(lower), cholesky_input_output_matrices=True, **more),
            lower,
        ),
        "WishartFull": (lambda: c.WishartFull(v(4.0), v([[2.0, 0.3], [0.3, 1.0]]), **more), [[2.0, 0.3], [0.3, 1.0]]),
        "Independent": (lambda: c.Independent(d.Normal(v([loc, diag]), v(diag)), 1, **more), x3),
        "Independent_default": (lambda: c.Independent(d.Normal(v([loc, diag]), v(diag)), **more), x3),
        "BatchReshape": (
            lambda: c.BatchReshape(d.Normal(v(np.ones(6)), v(1.0)), batch_shape=[2, -1], **more),
            [[0.1, 0.2, 0.3]] * 2,
        ),
        "Mixture_vectors": (
            lambda: c.Mixture(
                d.Categorical(probs=v([0.3, 0.7])),
                [c.MultivariateNormalDiag(v(loc), v(diag)), c.MultivariateNormalDiag(v(diag), v(diag))],
                **more,
            ),
            x3,
        ),
        "MixtureSameFamily_vectors": (
            lambda: c.MixtureSameFamily(
                d.Categorical(logits=v([0.3, 0.7])),
                c.MultivariateNormalDiag(v([loc[:2], diag[:2]]), v([[1.0, 2.0], [0.4, 0.7]])),
                **more,
            ),
            x2,
        ),
        "Autoregressive": (
            lambda: c.Autoregressive(
                lambda x: c.Independent(d.Normal(x * 0.5, v([1.0, 1.0, 1.0])), 1), v([0.1, 0.2, 0.3]), 3, **more
            ),
            x3,
        ),
    }


def transformed(tf, v, checks):
    d, c = tf.distributions, tf.contrib.distributions
    b = c.bijectors
    more = {"validate_args": True} if checks else {}
    vector = [0.3, 1.4, 2.6]
    return {
        "TransformedDistribution": (
            lambda: c.TransformedDistribution(d.Normal(v([0.0, 1.0]), v([1.0, 2.0])), b.Exp(), **more),
            [0.3, 1.4],
        ),
        "TransformedDistribution_identity": (
            lambda: c.TransformedDistribution(d.Normal(v([0.0, 1.0]), v([1.0, 2.0])), **more),
            [0.3, 1.4],
        ),
        "TransformedDistribution_shapes": (
            lambda: c.TransformedDistribution(
                d.Normal(v(0.0), v(1.0)),
                b.Affine(v(vector), scale_diag=v(vector)),
                batch_shape=[2],
                event_shape=[3],
                **more,
            ),
            vector,
        ),
        "TransformedDistribution_event": (
            lambda: c.TransformedDistribution(
                d.Normal(v([0.0, 1.0]), v(1.0)), b.Affine(v(vector), scale_diag=v(vector)), event_shape=[3], **more
            ),
            [vector, vector],
        ),
        "TransformedDistribution_batch": (
            lambda: c.TransformedDistribution(d.Normal(v(0.0), v(1.0)), b.Exp(), batch_shape=[2], **more),
            [0.3, 0.4],
        ),
        "TransformedDistribution_square": (
            lambda: c.TransformedDistribution(d.Normal(v([0.0, 1.0]), v(1.0)), b.Square(), **more),
            [0.3, 0.4],
        ),
        "TransformedDistribution_absolute": (
            lambda: c.TransformedDistribution(d.Normal(v([0.0, 1.0]), v(1.0)), b.AbsoluteValue(), **more),
            [0.3, 0.4],
        ),
        "TransformedDistribution_chain": (
            lambda: c.TransformedDistribution(
                c.MultivariateNormalDiag(v(vector), v(vector)),
                b.Chain([b.SoftmaxCentered(), b.Affine(v(vector), scale_diag=v(vector))]),
                **more,
            ),
            [0.1, 0.2, 0.3, 0.4],
        ),
        "TransformedDistribution_flow": (
            lambda: c.TransformedDistribution(
                d.Normal(v(0.0), v(1.0)),
                b.Invert(b.MaskedAutoregressiveFlow(lambda y: (y * 0.5, y * 0.25))),
                event_shape=[3],
                **more,
            ),
            vector,
        ),
        "ConditionalTransformedDistribution": (
            lambda: c.ConditionalTransformedDistribution(d.Normal(v(0.0), v(1.0)), b.Exp(), **more),
            [0.3, 0.4],
        ),
    }
