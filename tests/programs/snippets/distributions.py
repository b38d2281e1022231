"""tf.distributions: densities, moments, divergences, samples by seed, checks of arguments."""

import numpy as np

_VALUES = np.array([[-3.0, -0.5, 0.0], [0.3, 0.9, 2.5]], np.float32)
_COLUMN = np.array([[0.5], [2.0]], np.float32)
_ROW = np.array([1.0, 2.0, 4.0], np.float32)
_PROBS = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], np.float32)


def _moments(distribution):
    return [distribution.mean(), distribution.stddev(), distribution.variance(), distribution.mode()]


def _densities(distribution, x):
    return [distribution.log_prob(x), distribution.prob(x), distribution.cdf(x), distribution.log_cdf(x)]


def _tails(distribution, x):
    return [distribution.survival_function(x), distribution.log_survival_function(x)]


def _shapes(distribution):
    return [
        distribution.batch_shape_tensor(), distribution.event_shape_tensor(), distribution.is_scalar_batch(),
        distribution.is_scalar_event(),
    ]  # fmt: skip


def normal(tf):
    d = tf.distributions.Normal(_ROW, _COLUMN)
    quantiles = [d.quantile(tf.constant([[0.001, 0.3, 0.999]])), d.quantile([[0.0, 0.5, 1.0]])]
    return [*_moments(d), d.entropy(), *_densities(d, _VALUES), *_tails(d, _VALUES), *_shapes(d), *quantiles]


def normal_far_down(tf):
    d = tf.distributions.Normal(np.float64(0.0), np.float64(1.0), name="standard")
    x = tf.constant([-40.0, -21.0, -10.0, 0.0, 7.0, 9.0], tf.float64)
    values = [d.log_cdf(x), d.log_survival_function(x), d.quantile([1e-300, 1e-10, 1e-3, 0.4, 0.9])]
    return values + tf.gradients(values[:2], x)


def normal_samples(tf):
    tf.set_random_seed(1)
    d = tf.distributions.Normal(loc=tf.constant(_ROW), scale=tf.constant(_COLUMN), validate_args=True)
    samples = [d.sample(), d.sample(4, seed=2), d.sample([2, 1], seed=3, name="more"), d.copy(loc=0.0).sample(2)]
    return samples + tf.gradients(samples[1], [d.loc, d.scale])


def divergence_of_normals(tf):
    a, b = tf.distributions.Normal(_ROW, _COLUMN), tf.distributions.Normal(1.0, 3.0)
    checked = tf.distributions.kl_divergence(a, b, allow_nan_stats=False)
    return [tf.distributions.kl_divergence(a, b, name="kl"), a.kl_divergence(b), a.cross_entropy(b), checked]


def laplace(tf):
    d = tf.distributions.Laplace(_ROW, _COLUMN, validate_args=True)
    return [*_moments(d), d.entropy(), *_densities(d, _VALUES), *_tails(d, _VALUES), d.sample(3, seed=5)]


def uniform(tf):
    d = tf.distributions.Uniform(-1.0, _ROW, validate_args=True)
    moments = [d.mean(), d.stddev(), d.variance(), d.entropy(), d.range()]
    defaults = tf.distributions.Uniform()
    return [
        *moments, *_densities(d, _VALUES)[1:3], *_tails(d, _VALUES)[:1], d.sample(3, seed=5),
        defaults.sample(2, seed=6),
    ]  # fmt: skip


def gamma(tf):
    tf.set_random_seed(3)
    d = tf.distributions.Gamma(_ROW, _COLUMN)
    x = tf.abs(_VALUES) + 0.25
    checked = tf.distributions.Gamma(_ROW + 1.0, 2.0, validate_args=True, allow_nan_stats=False)
    kl = d.kl_divergence(checked)
    return [*_moments(d), d.entropy(), *_densities(d, x), d.sample(2), checked.mode(), checked.log_prob(x), kl]


def exponential(tf):
    d = tf.distributions.Exponential(_COLUMN)
    x = tf.abs(_VALUES)
    return [*_moments(d), d.entropy(), *_densities(d, x), *_tails(d, x), d.sample([2, 2], seed=1), *_shapes(d)]


def student_t(tf):
    d = tf.distributions.StudentT(df=np.float32([0.5, 1.5, 3.0]), loc=_COLUMN, scale=2.0)
    checked = tf.distributions.StudentT(3.0, 1.0, 2.0, validate_args=True, allow_nan_stats=False)
    return [
        d.mean(), d.variance(), d.mode(), d.entropy(), d.log_prob(_VALUES), d.prob(_VALUES), d.sample(3, seed=4),
        checked.mean(), checked.variance(), checked.cdf(_VALUES), checked.log_cdf(_VALUES),
    ]  # fmt: skip


def beta(tf):
    d = tf.distributions.Beta(_ROW, _ROW[::-1])
    x = tf.constant([0.1, 0.5, 0.75])
    checked = tf.distributions.Beta([2.0, 3.0], 4.0, validate_args=True, allow_nan_stats=False)
    values = [*_moments(d), d.entropy(), *_densities(d, x), d.sample(2, seed=7)]
    kl = checked.kl_divergence(checked.copy(concentration0=2.0))
    return [*values, checked.mode(), checked.prob([0.5, 0.25]), kl]


def bernoulli(tf):
    tf.set_random_seed(2)
    d = tf.distributions.Bernoulli(logits=_VALUES)
    other = tf.distributions.Bernoulli(probs=[0.3, 0.5, 0.9], dtype=tf.float32, validate_args=True)
    ones = tf.constant([[0, 1, 1]])
    return [
        *_moments(d), d.entropy(), d.log_prob(ones), d.prob(ones), d.sample(3), d.kl_divergence(other),
        other.log_prob([1.0, 0.0, 1.0]), other.prob(ones), other.sample(2, seed=9), other.logits,
    ]  # fmt: skip


def categorical(tf):
    tf.set_random_seed(2)
    d = tf.distributions.Categorical(logits=_VALUES)
    other = tf.distributions.Categorical(probs=_PROBS, dtype=tf.int64, validate_args=True)
    kl = tf.distributions.kl_divergence(d, other)
    return [
        d.mode(), d.entropy(), d.log_prob([0, 2]), d.prob([[1, 1], [0, 2], [2, 0]]), d.cdf([1, 2]), d.sample(4), kl,
        d.sample(), other.log_prob([1.0, 2.0]), other.cdf([3.0, 1.0]), other.sample([2, 3], seed=1),
        other.event_size, *_shapes(d),
    ]  # fmt: skip


def categorical_of_unknown_sizes(tf):
    logits = tf.placeholder_with_default(_VALUES, None)
    d = tf.distributions.Categorical(logits=logits, validate_args=True)
    rows = tf.distributions.Categorical(logits=tf.placeholder_with_default(_VALUES, [None, 3]))
    values = [d.log_prob([0, 2]), d.mode(), d.sample(2, seed=3), d.batch_shape_tensor()]
    return [*values, rows.sample(seed=2), rows.mode()]


def categorical_of_one(tf):
    d = tf.distributions.Categorical(logits=_ROW)
    loss = d.log_prob(d.mode())
    return [d.sample(5, seed=3), d.sample(seed=4), loss, *tf.gradients(loss, d.logits)]


def dirichlet(tf):
    d = tf.distributions.Dirichlet(_PROBS * 8.0)
    checked = tf.distributions.Dirichlet([2.0, 3.0, 4.0], validate_args=True, allow_nan_stats=False)
    x = tf.constant([0.2, 0.3, 0.5])
    return [
        d.mean(), d.stddev(), checked.variance(), d.entropy(), d.covariance(), d.log_prob(x),
        d.prob(x), d.sample(2, seed=7), checked.log_prob(x),
        checked.mode(), checked.copy(allow_nan_stats=True).mode(), d.kl_divergence(checked), *_shapes(d),
    ]  # fmt: skip


def dirichlet_multinomial(tf):
    d = tf.distributions.DirichletMultinomial(5.0, [1.0, 2.0, 3.0])
    checked = tf.distributions.DirichletMultinomial(np.float32([4.0, 3.0]), _PROBS, validate_args=True)
    counts = tf.constant([1.0, 2.0, 1.0])
    return [
        d.mean(), d.variance(), d.stddev(), d.covariance(), d.log_prob([3.0, 1.0, 1.0]), d.prob([0.0, 0.0, 5.0]),
        d.sample(3, seed=3), checked.log_prob([[1.0, 2.0, 1.0], [0.0, 0.0, 3.0]]), counts,
    ]  # fmt: skip


def multinomial(tf):
    d = tf.distributions.Multinomial(4.0, probs=_PROBS)
    checked = tf.distributions.Multinomial([4.0, 3.0], logits=_VALUES, validate_args=True)
    one = tf.distributions.Multinomial(4.0, logits=_ROW)  # TensorFlow draws for several in parallel, in any order
    counts = [[1.0, 2.0, 1.0], [0.0, 0.0, 3.0]]
    return [
        d.mean(), d.variance(), d.covariance(), d.log_prob([1.0, 2.0, 1.0]), d.prob([0.0, 0.0, 4.0]),
        checked.log_prob(counts), one.sample(2, seed=3), *_shapes(d),
    ]  # fmt: skip


def of_unknown_shapes(tf):
    loc = tf.placeholder_with_default(_ROW, None)
    count = tf.placeholder_with_default(np.int32(2), None)
    d = tf.distributions.Normal(loc, 1.0)
    return [d.sample(count, seed=1), d.sample([count, 1], seed=2), *_shapes(d), d.is_scalar_batch(name="again")]


def shapes_of_parameters(tf):
    shapes = tf.distributions.Normal.param_shapes([2, 3])
    return [shapes["loc"], shapes["scale"]]


def own_distribution(tf):
    class Constant(tf.distributions.Distribution):
        def __init__(self, value, name="Constant"):
            self._value = tf.convert_to_tensor(value)
            super().__init__(
                self._value.dtype, tf.distributions.NOT_REPARAMETERIZED, False, True, {"value": value}, [self._value],
                name,
            )  # fmt: skip

        def _batch_shape(self):
            return self._value.shape

        def _event_shape(self):
            return tf.TensorShape([])

        def _sample_n(self, n, seed=None):
            return tf.tile(self._value[None], [n, 1])

        def _log_prob(self, value):
            return tf.log(tf.cast(tf.equal(value, self._value), self.dtype))

    d = Constant([1.0, 2.0])
    return [d.prob([1.0, 1.0]), d.sample([2, 2]), d.copy(value=[3.0]).sample(), d.batch_shape_tensor()]


def own_divergence(tf):
    class Narrow(tf.distributions.Normal):
        pass

    @tf.distributions.RegisterKL(Narrow, tf.distributions.Laplace)
    def divergence(a, b, name=None):
        return tf.add(a.loc, b.loc, name=name)

    narrow = Narrow(1.0, 2.0)
    return [narrow.kl_divergence(tf.distributions.Laplace(2.0, 1.0)), narrow.kl_divergence(narrow)]
