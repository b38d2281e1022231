"""Bijector: the base class; descendants define a function, its inverse, and the logarithm of its determinant."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import is_tensor


class _Known:
    """What was computed for a pair of x and y, of which one may not be known yet."""

    def __init__(self):
        self.x: Any = None
        self.y: Any = None
        self.determinants: dict = {}  # logarithms of those of the inverse, by rank of events


def _key(value, arguments):
    return id(value), tuple(sorted((name, repr(item)) for name, item in arguments.items()))


def _snake_case(name):
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name.lstrip("_"))
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", name).lower()


@contextlib.contextmanager
def init_scope(name, values=None):
    """The scope of what a bijector is made of, in that of its own name."""
    with name_scope(name), name_scope("init", values=values) as scope:
        yield scope


def static_number(value):
    """An int if the value, a number or an integer scalar, is known; else the value."""
    if isinstance(value, int):
        return value
    known = constant_value(value) if isinstance(value, Tensor) else value
    return value if known is None else int(known)


@public("contrib.distributions.bijectors.Bijector", "python.ops.distributions.bijector.Bijector")
class Bijector:
    """A differentiable function with an inverse, for events of some rank.

    A descendant defines `_forward` and `_inverse`, and `_forward_log_det_jacobian` or `_inverse_log_det_jacobian` for
    events of the least rank that it is a function of. What was computed once for a tensor is not computed again.

    Args:
      graph_parents: the tensors that it was made of.
      is_constant_jacobian: whether the determinant is the same everywhere.
      validate_args: whether arguments are checked when operations run.
      dtype: the type of values, or None for any.
      forward_min_event_ndims, inverse_min_event_ndims: the least rank of events; the other's if one is None.
      name: by default the class's name, in lower case.

    Raises:
      ValueError: without a rank, for a negative one, and for graph_parents that are no tensors.
      TypeError: for a rank that is no int.
    """

    def __init__(
        self,
        graph_parents=None,
        is_constant_jacobian=False,
        validate_args=False,
        dtype=None,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name=None,
    ):
        ranks = {"forward": forward_min_event_ndims, "inverse": inverse_min_event_ndims}
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        for which, other in (("forward", "inverse"), ("inverse", "forward")):
            if ranks[which] is None:
                ranks[which] = ranks[other]
            if not isinstance(ranks[which], int):
                kind = type(ranks[which]).__name__
                raise TypeError(f"Expected {which}_min_event_ndims to be of type int, got {kind}")
            if ranks[which] < 0:
                raise ValueError(f"{which}_min_event_ndims must be a non-negative integer.")
        self._graph_parents = graph_parents or []
        for i, parent in enumerate(self._graph_parents):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._forward_min_event_ndims, self._inverse_min_event_ndims = ranks["forward"], ranks["inverse"]
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._name = name or _snake_case(type(self).__name__)
        self._constant_determinants: dict = {}
        self._of_x: dict = {}
        self._of_y: dict = {}

    @property
    def graph_parents(self):
        """The tensors that it was made of."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self):
        """The least rank of an x."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self):
        """The least rank of a y."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self):
        """Whether the determinant is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self):
        """Whether there is one x for each y; otherwise the inverse and its determinant are tuples."""
        return True

    @property
    def validate_args(self):
        """Whether arguments are checked when operations run."""
        return self._validate_args

    @property
    def dtype(self):
        """The type of values, or None for any."""
        return self._dtype

    @property
    def name(self):
        """The name scope of its operations."""
        return self._name

    # ---- Shapes of events

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        """The shape, an int32 vector, of the y of an x of some shape."""
        with self._name_scope(name, [input_shape]):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, dtypes.int32, "input_shape"))

    def _forward_event_shape(self, input_shape):
        return input_shape

    def forward_event_shape(self, input_shape):
        """What is known of the shape of the y of an x of some shape, a TensorShape."""
        return self._forward_event_shape(TensorShape(input_shape))

    def _inverse_event_shape_tensor(self, output_shape):
        return output_shape

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        """The shape, an int32 vector, of the x of a y of some shape."""
        with self._name_scope(name, [output_shape]):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, dtypes.int32, "output_shape"))

    def _inverse_event_shape(self, output_shape):
        return TensorShape(output_shape)

    def inverse_event_shape(self, output_shape):
        """What is known of the shape of the x of a y of some shape, a TensorShape."""
        return self._inverse_event_shape(TensorShape(output_shape))

    # ---- The function and its inverse

    def _forward(self, x):
        raise NotImplementedError("forward not implemented.")

    def _call_forward(self, x, name, **kwargs):
        with self._name_scope(name, [x]):
            x = self._value(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            known = self._lookup_x(x, kwargs)
            if known.y is None:
                known.y = self._forward(x, **kwargs)
                self._of_y[_key(known.y, kwargs)] = known
            return known.y

    def forward(self, x, name="forward"):
        """The y of an x. Raises TypeError for another type than `dtype`."""
        return self._call_forward(x, name)

    def _inverse(self, y):
        raise NotImplementedError("inverse not implemented")

    def _call_inverse(self, y, name, **kwargs):
        with self._name_scope(name, [y]):
            y = self._value(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            known = self._lookup_y(y, kwargs)
            if known.x is None:
                known.x = self._inverse(y, **kwargs)
                self._of_x[_key(known.x, kwargs)] = known
            return known.x

    def inverse(self, y, name="inverse"):
        """The x of a y; a tuple of several if the function is not injective."""
        return self._call_inverse(y, name)

    # ---- Logarithms of determinants

    def _inverse_log_det_jacobian(self, y):
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _call_inverse_log_det_jacobian(self, y, event_ndims, name, **kwargs):
        with self._name_scope(name, [y]):
            if event_ndims in self._constant_determinants:
                return self._constant_determinants[event_ndims]
            y = self._value(y, "y")
            with control_dependencies(self._check_rank(self.inverse_min_event_ndims, event_ndims)):
                if not self._is_injective:
                    return tuple(
                        self._summed(y, part, self.inverse_min_event_ndims, event_ndims)
                        for part in self._inverse_log_det_jacobian(y, **kwargs)
                    )
                known = self._lookup_y(y, kwargs)
                if event_ndims not in known.determinants:
                    self._remember(known, event_ndims, self._inverse_determinant(known, y, event_ndims, kwargs))
                return known.determinants[event_ndims]

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """log |det dx / dy| at a y, for events of that rank; a tuple if the function is not injective.

        Raises ValueError for a rank below `inverse_min_event_ndims`.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _inverse_determinant(self, known, y, rank, kwargs):
        try:
            found = self._inverse_log_det_jacobian(y, **kwargs)
            return self._summed(y, found, self.inverse_min_event_ndims, rank)
        except NotImplementedError as missing:
            try:
                x = self._inverse(y, **kwargs) if known.x is None else known.x
                found = -self._forward_log_det_jacobian(x, **kwargs)
            except NotImplementedError:
                raise missing from None
            known.x = x
            self._of_x[_key(x, kwargs)] = known
            return self._summed(x, found, self.forward_min_event_ndims, rank)

    def _forward_log_det_jacobian(self, x):
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _call_forward_log_det_jacobian(self, x, event_ndims, name, **kwargs):
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with (
            self._name_scope(name, [x]),
            control_dependencies(self._check_rank(self.forward_min_event_ndims, event_ndims)),
        ):
            if event_ndims in self._constant_determinants:
                return -1.0 * self._constant_determinants[event_ndims]
            x = self._value(x, "x")
            known = self._lookup_x(x, kwargs)
            if event_ndims in known.determinants:
                return -known.determinants[event_ndims]
            determinant = self._negated_determinant(known, x, event_ndims, kwargs)
            self._remember(known, event_ndims, determinant)
            return -determinant

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """log |det dy / dx| at an x, for events of that rank.

        Raises ValueError for a rank below `forward_min_event_ndims`.
        """
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def _negated_determinant(self, known, x, rank, kwargs):
        try:
            found = -self._forward_log_det_jacobian(x, **kwargs)
            return self._summed(x, found, self.forward_min_event_ndims, rank)
        except NotImplementedError as missing:
            try:
                y = self._forward(x, **kwargs) if known.y is None else known.y
                found = self._inverse_log_det_jacobian(y, **kwargs)
            except NotImplementedError:
                raise missing from None
            known.y = y
            self._of_y[_key(y, kwargs)] = known
            return self._summed(y, found, self.inverse_min_event_ndims, rank)

    def _remember(self, known, rank, determinant):
        known.determinants[rank] = determinant
        if self.is_constant_jacobian:
            self._constant_determinants[rank] = determinant

    # ---- What methods share

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with name_scope(self.name), name_scope(name, values=[*(values or []), *self.graph_parents]) as scope:
            yield scope

    def _value(self, value, name):
        tensor = convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != tensor.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {tensor.dtype}.")
        return tensor

    def _lookup_x(self, x, arguments):
        known = self._of_x.setdefault(_key(x, arguments), _Known())
        known.x = x  # which keeps it, and so the number that it is found by
        return known

    def _lookup_y(self, y, arguments):
        known = self._of_y.setdefault(_key(y, arguments), _Known())
        known.y = y
        return known

    def _check_rank(self, least, event_ndims):
        rank = convert_to_tensor(event_ndims, name="event_ndims")
        known = constant_value(rank)
        if not rank.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {rank.dtype}")
        found = []
        if known is not None:
            if rank.shape.ndims != 0:
                raise ValueError(f"Expected scalar event_ndims, got shape {rank.shape}")
            if least > known:
                raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
        elif self.validate_args:
            found.append(checks.assert_greater_equal(rank, least))
        if rank.shape.is_fully_defined():
            if rank.shape.ndims != 0:
                raise ValueError(f"Expected scalar shape, got ndims {rank.shape.ndims}")
        elif self.validate_args:
            found.append(assert_rank(rank, 0, message="Expected scalar."))
        return found

    def _summed(self, value, determinant, least, event_ndims):
        """The sum over the dimensions that an event has besides the `least`, over which it is broadcast first."""
        value_rank = ops.rank(value)
        sizes = ops.shape(value)[value_rank - event_ndims : value_rank - least]
        ones = ops.ones(sizes, determinant.dtype)
        rank = static_number(event_ndims)
        whole = ones * determinant
        if isinstance(rank, int):
            axes = [-index for index in range(1, rank - least + 1)]
        else:
            axes = ops.range(-(event_ndims - least), 0)
        found = ops.reduce_sum(whole, axis=axes)
        if isinstance(rank, int) and value.shape.ndims is not None and determinant.shape.ndims is not None:
            known = value.shape[value.shape.ndims - rank : value.shape.ndims - least]
            shape = ops.broadcast_static_shape(determinant.shape, known)
            found.set_shape(shape[: shape.ndims - (rank - least)])
        return found


class ElementwiseBijector(Bijector):
    """One that is a function of numbers."""

    def __init__(self, validate_args=False, name=None, **settings):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name, **settings)


@public("contrib.distributions.bijectors.ConditionalBijector")
class ConditionalBijector(Bijector):
    """One whose functions take more arguments by name, which the public methods pass on."""

    def forward(self, x, name="forward", **condition_kwargs):
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y, name="inverse", **condition_kwargs):
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **condition_kwargs):
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian", **condition_kwargs):
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)
