"""tf.distributions: what is refused when a graph is built."""


def cases(tf):
    d = tf.distributions

    class Plain(d.Distribution):
        def __init__(self, graph_parents=None):
            super().__init__(tf.float32, d.NOT_REPARAMETERIZED, False, True, graph_parents=graph_parents)

    def of(function, *args, **kwargs):
        return lambda: function(*args, **kwargs)

    statistics = ("mean", "variance", "stddev", "entropy", "mode", "covariance", "batch_shape_tensor", "sample")
    functions = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile")
    return {
        **{name: lambda name=name: getattr(Plain(), name)() for name in statistics},
        **{name: lambda name=name: getattr(Plain(), name)(1.0) for name in functions},
        "graph parents": of(Plain, [1.0]),
        "no divergence": lambda: d.kl_divergence(Plain(), d.Normal(0.0, 1.0)),
        "divergence twice": lambda: [d.RegisterKL(Plain, Plain)(len) for _ in range(2)],
        "divergence that is no function": lambda: d.RegisterKL(Plain, Plain)(3),
        "types of a normal": of(d.Normal, tf.constant(1.0, tf.float64), 1.0),
        "integers": of(d.Normal, 1, 2),
        "logits and probs": of(d.Bernoulli, [0.0], [0.5]),
        "neither": of(d.Categorical),
        "integer logits": of(d.Bernoulli, [1]),
        "integer probs": of(d.Categorical, probs=[1, 0]),
        "scalar of classes": of(d.Categorical, 1.0),
        "one class": of(d.Categorical, [1.0], validate_args=True),
        "one class of counts": of(d.DirichletMultinomial, 2.0, [1.0], validate_args=True),
        "scale": of(d.Normal, 0.0, -1.0, validate_args=True),
        "bounds": of(d.Uniform, 2.0, 1.0, validate_args=True),
        "classes of bools": lambda: d.Categorical([1.0, 2.0]).log_prob(tf.constant([True])),
        "matrix of sizes": lambda: d.Normal(0.0, 1.0).sample([[1]]),
        "value of another type": lambda: d.Gamma(1.0, 1.0).log_prob(tf.constant(1.0, tf.float64)),
        "parameters of no size": lambda: d.Normal.param_static_shapes(tf.TensorShape([None])),
        "parameters of a tensor": lambda: d.Normal.param_static_shapes(tf.placeholder(tf.int32, [None])),
        "parameters of classes": lambda: d.Categorical.param_shapes([2]),
    }
