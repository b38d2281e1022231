"""VectorDiffeomixture: vectors loc + scale x, of a loc and a scale that are drawn between two of each."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.affine import AffineLinearOperator
from stillflow.contrib.distributions.quadratures import quadrature_scheme_softmaxnormal_quantiles
from stillflow.contrib.distributions.scales import interpolate_scale
from stillflow.distributions.categorical import Categorical
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from stillflow.distributions.sample_shapes import pick_vector
from stillflow.distributions.seeds import derived_seed
from stillflow.distributions.static_values import concat_vectors, dimension_size, static_value
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.linear_operators.addition import add_operators
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.diag import LinearOperatorDiag
from stillflow.linear_operators.full_matrix import LinearOperatorFullMatrix
from stillflow.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.VectorDiffeomixture")
class VectorDiffeomixture(Distribution):
    """Vectors loc + scale x, of a loc and a scale between two of each, Dillon and Langmore, arXiv 1801.03080.

    Where between is said by two weights, drawn from the points of a quadrature of what SoftmaxCentered makes of a
    normal number.

    Args:
      mix_loc: [..., 1]; the normal number's mean is mix_loc / temperature.
      temperature: [..., 1]; the normal number's deviation is 1 / temperature.
      distribution: the distribution of the coordinates of x: a single one, of scalars.
      loc: two vectors [..., k], of which each may be None for 0; or None.
      scale: two LinearOperators [..., k, k]: multiples of the identity, diagonal or lower triangular ones.
      quadrature_size: the number of points, an int.
      quadrature_fn: a function of the normal number's mean and deviation, quadrature_size and validate_args that
        returns (grid [..., 2, size], weights [size]).
      validate_args, allow_nan_stats, name: see Distribution.

    Raises:
      ValueError: for a distribution that is not single and of scalars; for less than two scales, another number of
        locs; for a scale that is not known to be positive definite, if arguments are validated.
      TypeError: for different types.
      NotImplementedError: for more than two scales.
    """

    def __init__(
        self, mix_loc, temperature, distribution, loc=None, scale=None, quadrature_size=8,
        quadrature_fn=quadrature_scheme_softmaxnormal_quantiles, validate_args=False, allow_nan_stats=True,
        name="VectorDiffeomixture",
    ):  # fmt: skip
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            dtype, loc = _checked(loc, scale, validate_args)
            self._endpoint_affine = _affine("endpoint_affine", loc, scale, validate_args)
            _check_two(scale)
            mix_loc = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = convert_to_tensor(temperature, dtype=dtype, name="temperature")
            grid, probs = quadrature_fn(mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args)
            self._mixture_distribution = Categorical(
                logits=ops.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
            needed = maybe_check_scalar_distribution(distribution, dtype, validate_args)
            self._grid = with_dependencies(needed, grid) if needed else grid
            self._distribution = distribution
            self._interpolated_affine = _affine(
                "interpolated_affine", interpolate_loc(self._grid, loc), interpolate_scale(self._grid, scale),
                validate_args,
            )  # fmt: skip
            self._known_shapes, self._shape_tensors = _shapes(self._grid, self._endpoint_affine)
        parents = [*distribution._graph_parents, *(each for each in loc if each is not None)]
        parents += [parent for each in scale for parent in each.graph_parents]
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def mixture_distribution(self):
        """The distribution of the number of the point."""
        return self._mixture_distribution

    @property
    def distribution(self):
        """The distribution of the coordinates of x."""
        return self._distribution

    @property
    def grid(self):
        """The weights of both locs and scales at all points, [..., 2, size]."""
        return self._grid

    @property
    def endpoint_affine(self):
        """The two bijectors x -> loc + scale x."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self):
        """The bijectors x -> loc + scale x of all points."""
        return self._interpolated_affine

    def _batch_shape_tensor(self):
        return self._shape_tensors[0]

    def _batch_shape(self):
        return self._known_shapes[0]

    def _event_shape_tensor(self):
        return self._shape_tensors[1]

    def _event_shape(self):
        return self._known_shapes[1]

    def _sample_n(self, n, seed=None):
        shape = concat_vectors([n], self.batch_shape_tensor(), self.event_shape_tensor())
        x = self.distribution.sample(shape, seed=seed)
        first, second = (affine.forward(x) for affine in self.endpoint_affine)
        weight = self._sampled_weights(n, seed)
        return weight * (first - second) + second

    def _sampled_weights(self, n, seed):
        """Weights [n, ..., 1] of the first loc and scale."""
        size = _size(self.batch_shape, self.batch_shape_tensor)
        own_size = _size(self.mixture_distribution.batch_shape, self.mixture_distribution.batch_shape_tensor)
        nothing = np.array([], np.int32)
        repeats = pick_vector(self.is_scalar_batch(), nothing, [size // own_size])
        numbers = self.mixture_distribution.sample(
            concat_vectors([n], repeats), seed=derived_seed(seed, "vector_diffeomixture")
        )
        rows = pick_vector(self.is_scalar_batch(), nothing, np.array([-1], np.int32))
        numbers = ops.reshape(numbers, concat_vectors([n], rows))
        stride = self.grid.shape.with_rank_at_least(2)[-2:].num_elements()
        if stride is None:
            stride = ops.reduce_prod(ops.shape(self.grid)[-2:])
        places = ops.range(start=0, limit=size * stride, delta=stride, dtype=numbers.dtype)
        weight = ops.gather(ops.reshape(self.grid, shape=[-1]), numbers + places)
        if self.batch_shape.is_fully_defined():
            return ops.reshape(weight, [-1, *self.batch_shape.as_list(), 1])
        return ops.reshape(weight, ops.concat(([-1], self.batch_shape_tensor(), [1]), axis=0))

    def _log_prob(self, x):
        y = ops.stack([affine.inverse(x) for affine in self.interpolated_affine], axis=-1)
        log_prob = ops.reduce_sum(self.distribution.log_prob(y), axis=-2)
        determinants = [
            affine.forward_log_det_jacobian(x, event_ndims=ops.rank(self.event_shape_tensor()))
            for affine in self.interpolated_affine
        ]
        determinants = ops.stack(determinants, axis=-1)
        return reduce_logsumexp(self.mixture_distribution.logits - determinants + log_prob, axis=-1)

    def _mean_of_coordinates(self):
        """The mean of x, for all of the batch."""
        shape = concat_vectors(self.batch_shape_tensor(), self.event_shape_tensor())
        mean = ops.reshape(self.distribution.mean(), ops.ones_like(shape, dtype=dtypes.int32))
        mean = ops.tile(mean, multiples=shape)
        mean.set_shape(self.batch_shape.concatenate(self.event_shape))
        return mean

    def _probs_for_events(self):
        """The weights of points, [..., 1, size]."""
        probs = self.mixture_distribution.probs
        size = dimension_size(probs, -1)
        rank = self.event_shape.ndims
        if rank is None:
            rank = ops.shape(self.event_shape_tensor())[0]
        batch = self.mixture_distribution.batch_shape_tensor()
        shape = ops.concat([batch, ops.ones([rank], dtype=dtypes.int32), [size]], axis=0)
        return ops.reshape(probs, shape)

    def _mean(self):
        probs, mean = self._probs_for_events(), self._mean_of_coordinates()
        total = None
        for k, affine in enumerate(self.interpolated_affine):
            total = _added([total, probs[..., k] * affine.forward(mean)])
        return total

    def _covariance(self):
        return _added([self._mean_of_covariances(), self._covariance_of_means(_outer, 2)])

    def _variance(self):
        return _added([self._mean_of_variances(), self._covariance_of_means(ops.square, 1)])

    def _covariance_of_means(self, square, rank):
        probs = self._probs_for_events()
        if rank == 2:
            probs = probs[..., None, :]
        mean, whole, total = self._mean_of_coordinates(), self._mean(), None
        for k, affine in enumerate(self.interpolated_affine):
            moved = affine.forward(mean)
            total = _added([total, probs[..., k] * square(moved - whole)])
        return total

    def _squared_scales(self, diagonals_only):
        """(multiples of I, diagonals, matrices): sums of squared scales of points, with weights; None for none."""
        probs = self.mixture_distribution.probs
        multiple = diagonal = matrix = None
        for k, affine in enumerate(self.interpolated_affine):
            scale = affine.scale
            if isinstance(scale, LinearOperatorIdentity):
                multiple = _added([multiple, probs[..., k, None]])
            elif isinstance(scale, LinearOperatorScaledIdentity):
                multiple = _added([multiple, probs[..., k, None] * ops.square(scale.multiplier)])
            elif isinstance(scale, LinearOperatorDiag):
                diagonal = _added([diagonal, probs[..., k, None] * ops.square(scale.diag_part())])
            else:
                product = probs[..., k, None, None] * scale.matmul(scale.to_dense(), adjoint_arg=True)
                matrix = _added([matrix, ops.matrix_diag_part(product) if diagonals_only else product])
        variance = self.distribution.variance()
        return (
            None if multiple is None else multiple * variance,
            None if diagonal is None else diagonal * variance[..., None],
            None if matrix is None else matrix * variance[..., None],
        )

    def _mean_of_variances(self):
        multiple, diagonal, other = self._squared_scales(diagonals_only=True)
        found = _added([diagonal, other])
        if found is None and multiple is not None:
            return multiple[..., None] * ops.ones(self.event_shape_tensor(), dtype=self.dtype)
        return _added([found, multiple])

    def _mean_of_covariances(self):
        multiple, diagonal, matrix = self._squared_scales(diagonals_only=False)
        is_positive = all(affine.scale.is_positive_definite for affine in self.endpoint_affine) or None
        parts: list[LinearOperator] = []
        if diagonal is not None:
            parts.append(LinearOperatorDiag(diag=diagonal, is_positive_definite=is_positive))
        if matrix is not None:
            parts.append(LinearOperatorFullMatrix(matrix=matrix, is_positive_definite=is_positive))
        if multiple is not None:
            rows = self.event_shape_tensor()[0]
            parts.append(LinearOperatorScaledIdentity(rows, multiplier=multiple, is_positive_definite=is_positive))
        return add_operators(parts)[0].to_dense()


def _affine(name, locs, scales, validate_args):
    return [
        AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args, name=f"{name}_{k}")
        for k, (loc, scale) in enumerate(zip(locs, scales, strict=True))
    ]


def _checked(loc, scale, validate_args):
    """(the type of scales, locs as tensors, or None for 0)."""
    if not scale or len(scale) < 2:
        raise ValueError(
            "Must specify list (or list-like object) of scale LinearOperators, one for each component with "
            "num_component >= 2."
        )
    loc = [None] * len(scale) if loc is None else loc
    if len(loc) != len(scale):
        raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
    dtype = scale[0].dtype.base_dtype
    loc = [
        None if each is None else convert_to_tensor(each, dtype=dtype, name=f"loc{k}") for k, each in enumerate(loc)
    ]
    for k, each in enumerate(scale):
        if validate_args and not each.is_positive_definite:
            raise ValueError(f"scale[{k}].is_positive_definite = {each.is_positive_definite} != True")
        if each.dtype.base_dtype != dtype:
            raise TypeError(f'dtype mismatch; scale[{k}].base_dtype="{each.dtype.base_dtype.name}" != "{dtype.name}"')
    return dtype, loc


def _check_two(parts):
    if len(parts) != 2:
        raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)={len(parts)} is not 2.")


def _size(shape, shape_tensor):
    known = shape.num_elements()
    return ops.reduce_prod(shape_tensor()) if known is None else known


def _added(parts):
    """The sum of what is not None; None if all are."""
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def _outer(x):
    return x[..., :, None] * x[..., None, :]


@public("contrib.distributions.python.ops.distribution_util.maybe_check_scalar_distribution")
def maybe_check_scalar_distribution(distribution, expected_base_dtype, validate_args):
    """Checks that are to run of whether a distribution is a single one of scalars, if arguments are validated.

    Raises:
      TypeError: for another type.
      ValueError: if it is known not to be one; or not to be reparameterized, if arguments are validated.
    """
    if distribution.dtype != expected_base_dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not "{expected_base_dtype.name}"'
        )
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable variables; "
            f'distribution.reparameterization_type = "{kind}" != "FULLY_REPARAMETERIZED".'
        )
    with name_scope("check_distribution"):
        needed = []
        for name in ("is_scalar_event", "is_scalar_batch"):
            is_scalar = getattr(distribution, name)()
            known = static_value(is_scalar)
            message = f"distribution must be scalar; distribution.{name}=False is not True"
            if known is not None:
                if not known:
                    raise ValueError(message)
            elif validate_args:
                needed.append(checks.assert_equal(is_scalar, True, message=message))
        return needed


@public("contrib.distributions.python.ops.vector_diffeomixture.interpolate_loc")
def interpolate_loc(grid, loc):
    """The locs of all points of a grid [..., 2, size], between two vectors, which may be None for 0.

    Raises:
      NotImplementedError: for more than two vectors.
      ValueError: if the number of points is not known.
    """
    _check_two(loc)
    size = dimension_value(grid.shape.with_rank_at_least(1)[-1])
    if size is None:
        raise ValueError("Num quadrature grid points must be known prior to graph execution.")
    with name_scope("interpolate_loc", values=[grid, loc]):
        if loc[0] is None and loc[1] is None:
            return [None] * size
        weights = grid[..., None, :, :]
        first, second = (None if each is None else each[..., None] for each in loc)
        if first is None:
            found = weights[..., 1, :] * second
        elif second is None:
            found = weights[..., 0, :] * first
        else:
            found = weights[..., 0, :] * (first - second) + second
        return [found[..., k] for k in range(size)]


def _shapes(grid, affines):
    """((batch shape, event shape) as far as they are known, the same as tensors)."""
    with name_scope("determine_batch_event_shapes"):
        batch, batch_tensor, event, event_tensor = grid.shape[:-2], ops.shape(grid)[:-2], None, None
        for affine in affines:
            shift, scale = affine.shift, affine.scale
            if shift is not None:
                batch = ops.broadcast_static_shape(batch, shift.shape[:-1])
                batch_tensor = ops.broadcast_dynamic_shape(batch_tensor, ops.shape(shift)[:-1])
                event, event_tensor = _broadcast_with(event, event_tensor, shift.shape[-1:], ops.shape(shift)[-1:])
            batch = ops.broadcast_static_shape(batch, scale.batch_shape)
            batch_tensor = ops.broadcast_dynamic_shape(batch_tensor, scale.batch_shape_tensor())
            size = TensorShape([scale.range_dimension])
            event, event_tensor = _broadcast_with(event, event_tensor, size, scale.range_dimension_tensor()[None])
        return (batch, event), (batch_tensor, event_tensor)


def _broadcast_with(shape, tensor, own, own_tensor):
    if shape is None:
        return own, own_tensor
    return ops.broadcast_static_shape(shape, own), ops.broadcast_dynamic_shape(tensor, own_tensor)
