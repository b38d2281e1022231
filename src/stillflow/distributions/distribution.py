"""Distribution: the base class; subclasses define sampling, densities and moments."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.distributions import divergence
from stillflow.distributions.sample_shapes import as_vector_with_product, set_static_shape
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, as_shape, dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import is_tensor


@public("distributions.ReparameterizationType", "contrib.distributions.ReparameterizationType")
class ReparameterizationType:
    """Whether gradients flow from samples to parameters: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = public("distributions.FULLY_REPARAMETERIZED", "contrib.distributions.FULLY_REPARAMETERIZED")(
    ReparameterizationType("FULLY_REPARAMETERIZED")
)
NOT_REPARAMETERIZED = public("distributions.NOT_REPARAMETERIZED", "contrib.distributions.NOT_REPARAMETERIZED")(
    ReparameterizationType("NOT_REPARAMETERIZED")
)


def _missing(what, distribution):
    return NotImplementedError(f"{what} is not implemented: {type(distribution).__name__}")


def _either(direct, indirect):
    """What `direct()` gives, or `indirect()` if a method is missing that it needs; the error is that of `direct`."""
    try:
        return direct()
    except NotImplementedError as missing:
        try:
            return indirect()
        except NotImplementedError:
            raise missing from None


@public("distributions.Distribution", "contrib.distributions.Distribution")
class Distribution:
    """A batch of distributions of one kind, each over events of one shape.

    A descendant defines methods named as the public ones with an underscore before (`_log_prob`, `_sample_n`,
    `_mean`, ...), which need not care about names, nor about the type of their arguments. What it does not define
    raises NotImplementedError, unless it follows from another: `prob` from `log_prob`, `variance` from `stddev`,
    `cdf` from `log_cdf`, and the other way; `survival_function` from `cdf`.

    Args:
      dtype: the type of samples.
      reparameterization_type: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED.
      validate_args: whether parameters and values are checked when operations run.
      allow_nan_stats: whether a statistic that does not exist is NaN; otherwise running it fails.
      parameters: {name: argument} that made this distribution, for `copy`.
      graph_parents: the tensors that it was made of.
      name: a name, or a name scope that ends with "/"; the class's name by default.

    Raises:
      ValueError: for graph_parents that are no tensors.
    """

    def __init__(
        self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None, graph_parents=None,
        name=None,
    ):  # fmt: skip
        graph_parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(graph_parents):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = parameters or {}
        self._graph_parents = graph_parents
        self._name = name

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """{parameter's name: the shape, a tensor, that makes samples have `sample_shape`}."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """The same as TensorShapes, of a shape that is fully known. Raises ValueError for another."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        shapes = {name: constant_value(shape) for name, shape in cls.param_shapes(sample_shape).items()}
        if any(shape is None for shape in shapes.values()):
            raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
        return {name: TensorShape(shape) for name, shape in shapes.items()}

    @staticmethod
    def _param_shapes(sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def name(self):
        """The name scope of this distribution's operations."""
        return self._name

    @property
    def dtype(self):
        """The type of samples."""
        return self._dtype

    @property
    def parameters(self):
        """{name: argument} that made this distribution."""
        return {
            name: value for name, value in self._parameters.items() if not name.startswith("__") and name != "self"
        }

    @property
    def reparameterization_type(self):
        """FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self):
        """Whether a statistic that does not exist is NaN; otherwise running it fails."""
        return self._allow_nan_stats

    @property
    def validate_args(self):
        """Whether parameters and values are checked when operations run."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs):
        """Another distribution of this class, with the same arguments but those given."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    def _batch_shape_tensor(self):
        raise _missing("batch_shape_tensor", self)

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape of the batch, an int32 vector."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(), dtypes.int32, "batch_shape")
            return self._batch_shape_tensor()

    def _batch_shape(self):
        return TensorShape(None)

    @property
    def batch_shape(self):
        """What is known of the shape of the batch, a TensorShape."""
        return as_shape(self._batch_shape())

    def _event_shape_tensor(self):
        raise _missing("event_shape_tensor", self)

    def event_shape_tensor(self, name="event_shape_tensor"):
        """The shape of an event, an int32 vector."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(self.event_shape.as_list(), dtypes.int32, "event_shape")
            return self._event_shape_tensor()

    def _event_shape(self):
        return TensorShape(None)

    @property
    def event_shape(self):
        """What is known of the shape of an event, a TensorShape."""
        return as_shape(self._event_shape())

    def is_scalar_event(self, name="is_scalar_event"):
        """Whether an event is a scalar, a bool tensor."""
        with self._name_scope(name):
            return convert_to_tensor(
                self._is_scalar_helper(self.event_shape, self.event_shape_tensor), name="is_scalar_event"
            )

    def is_scalar_batch(self, name="is_scalar_batch"):
        """Whether there is one distribution, and no batch, a bool tensor."""
        with self._name_scope(name):
            return convert_to_tensor(
                self._is_scalar_helper(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch"
            )

    def _sample_n(self, n, seed=None):
        raise _missing("sample_n", self)

    def _call_sample_n(self, sample_shape, seed, name, **kwargs):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtypes.int32, "sample_shape")
            sample_shape, n = as_vector_with_product(sample_shape, "sample_shape")
            samples = self._sample_n(n, seed, **kwargs)
            batch_event_shape = ops.shape(samples)[1:]
            samples = ops.reshape(samples, ops.concat([sample_shape, batch_event_shape], 0))
            return self._set_sample_static_shape(samples, sample_shape)

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Samples, of shape sample_shape + batch_shape + event_shape.

        Args:
          sample_shape: how many for each distribution: an integer, or a vector of them.
          seed: an integer; with it or a graph-level seed the samples are the same in every session.
        """
        return self._call_sample_n(sample_shape, seed, name)

    def _call_with_value(self, function, value, name, **kwargs):
        with self._name_scope(name, values=[value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            return function(value, **kwargs)

    def _log_prob(self, value):
        raise _missing("log_prob", self)

    def _call_log_prob(self, value, name, **kwargs):
        def log_prob(value, **kwargs):
            return _either(lambda: self._log_prob(value, **kwargs), lambda: ops.log(self._prob(value, **kwargs)))

        return self._call_with_value(log_prob, value, name, **kwargs)

    def log_prob(self, value, name="log_prob"):
        """The logarithm of the density, or of the probability, at a value."""
        return self._call_log_prob(value, name)

    def _prob(self, value):
        raise _missing("prob", self)

    def _call_prob(self, value, name, **kwargs):
        def prob(value, **kwargs):
            return _either(lambda: self._prob(value, **kwargs), lambda: ops.exp(self._log_prob(value, **kwargs)))

        return self._call_with_value(prob, value, name, **kwargs)

    def prob(self, value, name="prob"):
        """The density, or the probability, at a value."""
        return self._call_prob(value, name)

    def _log_cdf(self, value):
        raise _missing("log_cdf", self)

    def _call_log_cdf(self, value, name, **kwargs):
        def log_cdf(value, **kwargs):
            return _either(lambda: self._log_cdf(value, **kwargs), lambda: ops.log(self._cdf(value, **kwargs)))

        return self._call_with_value(log_cdf, value, name, **kwargs)

    def log_cdf(self, value, name="log_cdf"):
        """The logarithm of the probability that a sample is at most a value."""
        return self._call_log_cdf(value, name)

    def _cdf(self, value):
        raise _missing("cdf", self)

    def _call_cdf(self, value, name, **kwargs):
        def cdf(value, **kwargs):
            return _either(lambda: self._cdf(value, **kwargs), lambda: ops.exp(self._log_cdf(value, **kwargs)))

        return self._call_with_value(cdf, value, name, **kwargs)

    def cdf(self, value, name="cdf"):
        """The probability that a sample is at most a value."""
        return self._call_cdf(value, name)

    def _log_survival_function(self, value):
        raise _missing("log_survival_function", self)

    def _call_log_survival_function(self, value, name, **kwargs):
        def log_survival(value, **kwargs):
            return _either(
                lambda: self._log_survival_function(value, **kwargs), lambda: ops.log1p(-self.cdf(value, **kwargs))
            )

        return self._call_with_value(log_survival, value, name, **kwargs)

    def log_survival_function(self, value, name="log_survival_function"):
        """The logarithm of the probability that a sample is above a value."""
        return self._call_log_survival_function(value, name)

    def _survival_function(self, value):
        raise _missing("survival_function", self)

    def _call_survival_function(self, value, name, **kwargs):
        def survival(value, **kwargs):
            return _either(lambda: self._survival_function(value, **kwargs), lambda: 1.0 - self.cdf(value, **kwargs))

        return self._call_with_value(survival, value, name, **kwargs)

    def survival_function(self, value, name="survival_function"):
        """The probability that a sample is above a value."""
        return self._call_survival_function(value, name)

    def _entropy(self):
        raise _missing("entropy", self)

    def entropy(self, name="entropy"):
        """Shannon's entropy in nats."""
        with self._name_scope(name):
            return self._entropy()

    def _mean(self):
        raise _missing("mean", self)

    def mean(self, name="mean"):
        """The mean."""
        with self._name_scope(name):
            return self._mean()

    def _quantile(self, value):
        raise _missing("quantile", self)

    def _call_quantile(self, value, name, **kwargs):
        return self._call_with_value(self._quantile, value, name, **kwargs)

    def quantile(self, value, name="quantile"):
        """The x for which the probability that a sample is at most x is a value."""
        return self._call_quantile(value, name)

    def _variance(self):
        raise _missing("variance", self)

    def variance(self, name="variance"):
        """The variance of each coordinate."""
        with self._name_scope(name):
            return _either(self._variance, lambda: ops.square(self._stddev()))

    def _stddev(self):
        raise _missing("stddev", self)

    def stddev(self, name="stddev"):
        """The standard deviation of each coordinate."""
        with self._name_scope(name):
            return _either(self._stddev, lambda: ops.sqrt(self._variance()))

    def _covariance(self):
        raise _missing("covariance", self)

    def covariance(self, name="covariance"):
        """The covariance matrix of an event's coordinates."""
        with self._name_scope(name):
            return self._covariance()

    def _mode(self):
        raise _missing("mode", self)

    def mode(self, name="mode"):
        """The most likely event."""
        with self._name_scope(name):
            return self._mode()

    def _cross_entropy(self, other):
        return divergence.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other, name="cross_entropy"):
        """The entropy of this distribution plus its divergence from another."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def _kl_divergence(self, other):
        return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other, name="kl_divergence"):
        """KL(self || other); see tf.distributions.kl_divergence."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    def __str__(self):
        batch = f", batch_shape={self.batch_shape}" if self.batch_shape.ndims is not None else ""
        event = f", event_shape={self.event_shape}" if self.event_shape.ndims is not None else ""
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{batch}{event}, dtype={self.dtype.name})'

    def __repr__(self):
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with name_scope(self.name), name_scope(name, values=[*(values or []), *self._graph_parents]) as scope:
            yield scope

    def _is_scalar_helper(self, static_shape, dynamic_shape_fn):
        if static_shape.ndims is not None:
            return static_shape.ndims == 0
        shape = dynamic_shape_fn()
        if shape.shape.ndims is not None and dimension_value(shape.shape[0]) is not None:
            return shape.shape.as_list() == [0]
        return ops.equal(ops.shape(shape)[0], 0)

    def _set_sample_static_shape(self, x, sample_shape):
        return set_static_shape(x, sample_shape, self.batch_shape, self.event_shape)
