"""Which dimensions of a tensor are those of samples, of the batch of distributions, and of events."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank
from stillflow.distributions.sample_shapes import pick_vector
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.linear_operators.matrices import rotate_transpose
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _are_known(*values):
    return all(constant_value(value) is not None for value in values)


@public("contrib.distributions.python.ops.shape._DistributionShape")
class DistributionShape:
    """Cuts the shapes of samples into those of samples S, of the batch B and of events E, by the ranks of the latter.

    Args:
      batch_ndims, event_ndims: the ranks of the batch and of events, int32 scalars.
      validate_args: whether what is not known when the graph is built is checked when it runs.
      name: the name scope.

    Raises:
      TypeError: for ranks that are not int32.
      ValueError: for ranks that are missing, negative or no scalars; in methods, for tensors of a lower rank.
    """

    def __init__(self, batch_ndims=None, event_ndims=None, validate_args=False, name="DistributionShape"):
        if batch_ndims is None:
            raise ValueError("batch_ndims cannot be None")
        if event_ndims is None:
            raise ValueError("event_ndims cannot be None")
        self._validate_args = validate_args
        with name_scope(name):
            self._name = name
            with name_scope("init"):
                self._batch_ndims = self._checked_rank(batch_ndims, "batch_ndims")
                self._batch_is_scalar = _is_zero(self._batch_ndims)
                self._event_ndims = self._checked_rank(event_ndims, "event_ndims")
                self._event_is_scalar = _is_zero(self._event_ndims)

    def _checked_rank(self, rank, name):
        rank = convert_to_tensor(rank, name=name)
        if rank.dtype.base_dtype != dtypes.int32:
            raise TypeError(f"{rank.name}.dtype={rank.dtype} is not {dtypes.int32}")
        known = constant_value(rank)
        if known is not None and rank.shape.ndims is not None:
            if rank.shape.ndims != 0:
                raise ValueError(f"{rank.name}.ndims={rank.shape.ndims} is not 0 (scalar)")
            if known < 0:
                raise ValueError(f"{rank.name}.value={known} cannot be negative")
        elif self._validate_args:
            rank = with_dependencies([assert_rank(rank, 0), checks.assert_non_negative(rank)], rank)
        return rank

    @property
    def name(self):
        return self._name

    @property
    def batch_ndims(self):
        """The rank of the batch."""
        return self._batch_ndims

    @property
    def event_ndims(self):
        """The rank of events."""
        return self._event_ndims

    @property
    def validate_args(self):
        return self._validate_args

    @contextlib.contextmanager
    def _scope(self, name, values):
        with name_scope(self.name), name_scope(name, values=[*values, self.batch_ndims, self.event_ndims]) as scope:
            yield scope

    def get_ndims(self, x, name="get_ndims"):
        """The rank of a tensor, an int32 scalar."""
        with self._scope(name, [x]):
            x = convert_to_tensor(x, name="x")
            if x.shape.ndims is None:
                return ops.rank(x, name="ndims")
            return convert_to_tensor(x.shape.ndims, dtype=dtypes.int32, name="ndims")

    def get_sample_ndims(self, x, name="get_sample_ndims"):
        """The number of dimensions of samples, an int32 scalar."""
        with self._scope(name, [x]):
            rank = self.get_ndims(x, name=name)
            if _are_known(rank, self.batch_ndims, self.event_ndims):
                rank, batch, event = (constant_value(each) for each in (rank, self.batch_ndims, self.event_ndims))
                if rank < batch + event:
                    raise ValueError(f"expected batch_ndims({batch}) + event_ndims({event}) <= ndims({rank})")
                return convert_to_tensor(rank - batch - event, name="sample_ndims")
            with name_scope("sample_ndims"):
                found = rank - self.batch_ndims - self.event_ndims
                if self.validate_args:
                    found = with_dependencies([checks.assert_non_negative(found)], found)
            return found

    def _parts(self, x, name, cut):
        """cut(ranks of the parts before, rank of the part, name) for the parts S, B and E."""
        samples, batch, event = self.get_sample_ndims(x, name=name), self.batch_ndims, self.event_ndims
        return (
            cut([ops.zeros([], dtype=dtypes.int32, name="zero")], samples, "sample"),
            cut([samples], batch, "batch"),
            cut([samples, batch], event, "event"),
        )

    def get_dims(self, x, name="get_dims"):
        """The numbers of the dimensions of S, B and E, int32 vectors."""

        def cut(before, size, what):
            if _are_known(size, *before):
                start = sum(int(constant_value(each)) for each in before)
                numbers = list(range(start, start + int(constant_value(size))))
                return convert_to_tensor(numbers, dtype=dtypes.int32, name=f"{what}_dims")
            start = sum(before)
            return ops.range(start, start + size)

        with self._scope(name, [x]):
            return self._parts(x, name, cut)

    def get_shape(self, x, name="get_shape"):
        """S, B and E, int32 vectors."""

        def cut(before, size, what):
            if x.shape.ndims is not None and _are_known(size, *before):
                start = sum(int(constant_value(each)) for each in before)
                sizes = x.shape[start : start + int(constant_value(size))].as_list()
                if None not in sizes:
                    return convert_to_tensor(sizes, dtype=dtypes.int32, name=f"{what}_shape")
            return ops.slice(ops.shape(x), [sum(before)], [size])

        with self._scope(name, [x]):
            x = convert_to_tensor(x, name="x")
            return self._parts(x, name, cut)

    def make_batch_of_event_sample_matrices(
        self, x, expand_batch_dim=True, name="make_batch_of_event_sample_matrices"
    ):
        """(a tensor S + B + E as B + E + [number of samples], S).

        Instead of E it is [1] for scalars, and instead of B for a single distribution, if `expand_batch_dim`.
        """
        with self._scope(name, [x]):
            x = convert_to_tensor(x, name="x")
            sample_shape, batch_shape, event_shape = self.get_shape(x)
            event_shape = pick_vector(self._event_is_scalar, [1], event_shape)
            if expand_batch_dim:
                batch_shape = pick_vector(self._batch_is_scalar, [1], batch_shape)
            x = ops.reshape(x, ops.concat([[-1], batch_shape, event_shape], 0))
            return rotate_transpose(x, shift=-1), sample_shape

    def undo_make_batch_of_event_sample_matrices(
        self, x, sample_shape, expand_batch_dim=True, name="undo_make_batch_of_event_sample_matrices"
    ):
        """The tensor S + B + E that `make_batch_of_event_sample_matrices` has returned another form of, with S."""
        with self._scope(name, [x, sample_shape]):
            x = convert_to_tensor(x, name="x")
            sample_shape = convert_to_tensor(sample_shape, name="sample_shape")
            x = rotate_transpose(x, shift=1)
            if _are_known(self.batch_ndims, self.event_ndims):
                axes = [-1] if self._event_is_scalar else []
                if self._batch_is_scalar and expand_batch_dim:
                    axes.append(1)
                if axes:
                    x = ops.squeeze(x, axis=axes)
                _, batch_shape, event_shape = self.get_shape(x)
            else:
                shape = x.shape.as_list() if x.shape.is_fully_defined() else ops.shape(x)
                batch_shape = shape[1 : 1 + self.batch_ndims]
                is_expanded = ops.logical_and(expand_batch_dim, self._batch_is_scalar)
                start = ops.where_v2(is_expanded, 2, 1 + self.batch_ndims)
                event_shape = shape[start : start + self.event_ndims]
            return ops.reshape(x, ops.concat([sample_shape, batch_shape, event_shape], 0))


def _is_zero(rank):
    """Whether a rank is 0: a bool if it is known, else a tensor."""
    known = constant_value(rank)
    return ops.equal(rank, 0) if known is None else bool(known == 0)
