"""Grids and weights that integrals over a normal number, or a function of one, are replaced by sums with."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.contrib.distributions.bijectors.combined import SoftmaxCentered
from stillflow.contrib.distributions.bijectors.elementwise import Exp
from stillflow.contrib.distributions.transformed import TransformedDistribution
from stillflow.distributions.normal import Normal
from stillflow.distributions.static_values import pad
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _hermite(size, dtype):
    """Gauss and Hermite's grid, and its weights as a tensor; they sum up to 1."""
    grid, probs = np.polynomial.hermite.hermgauss(deg=size)
    grid, probs = grid.astype(dtype.as_numpy_dtype), probs.astype(dtype.as_numpy_dtype)
    probs /= np.abs(probs).sum()
    return grid, convert_to_tensor(probs, name="probs", dtype=dtype)


def _quantiles(distribution, size, transformed=lambda quantiles: quantiles):
    """size + 1 quantiles of each distribution of a batch, in a last dimension."""
    rank = distribution.batch_shape.ndims
    if rank is None:
        rank = ops.shape(distribution.batch_shape_tensor())[0]
    edges = ops.lin_space(ops.zeros([], dtype=distribution.dtype), 1.0, size + 3)[1:-1]
    edges = ops.reshape(edges, ops.concat([[-1], ops.ones([rank], dtype=dtypes.int32)], axis=0))
    quantiles = transformed(distribution.quantile(edges))
    return ops.transpose(quantiles, ops.concat([ops.range(1, 1 + rank), [0]], axis=0))


def _middles(quantiles):
    return (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0


def _equal_weights(size, dtype):
    return ops.fill(dims=[size], value=1.0 / ops.cast(size, dtype))


@public("contrib.distributions.quadrature_scheme_lognormal_gauss_hermite")
def quadrature_scheme_lognormal_gauss_hermite(loc, scale, quadrature_size, validate_args=False, name=None):
    """Gauss and Hermite's quadrature over the logarithm of a log-normal number.

    Args:
      loc, scale: mean and deviation of the logarithm, tensors of floats of one shape.
      quadrature_size: the number of points, an int.
      validate_args: not used.
      name: the scope of the new nodes.

    Returns (grid [..., size] of logarithms, weights [size]).
    """
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        grid, probs = _hermite(quadrature_size, loc.dtype)
        return loc[..., None] + np.sqrt(2.0) * scale[..., None] * grid, probs


@public("contrib.distributions.quadrature_scheme_lognormal_quantiles")
def quadrature_scheme_lognormal_quantiles(loc, scale, quadrature_size, validate_args=False, name=None):
    """Points halfway between quantiles of a log-normal number.

    Args and value: see quadrature_scheme_lognormal_gauss_hermite; the grid is that of the number itself.
    """
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        distribution = TransformedDistribution(Normal(loc=loc, scale=scale), Exp(), validate_args=validate_args)
        grid = _middles(_quantiles(distribution, quadrature_size))
        grid.set_shape(distribution.batch_shape.concatenate([quadrature_size]))
        return grid, _equal_weights(quadrature_size, distribution.dtype)


@public("contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite")
def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc, normal_scale, quadrature_size, validate_args=False, name=None
):
    """Gauss and Hermite's quadrature over a normal number that SoftmaxCentered makes weights of.

    Args:
      normal_loc, normal_scale: mean and deviation of the number, floats [..., 1].
      quadrature_size: the number of points, an int.
      validate_args: whether what is not known when the graph is built is checked when it runs.
      name: the scope of the new nodes.

    Returns (grid [..., 2, size], weights [size]).

    Raises:
      ValueError: for scalars.
      NotImplementedError: for vectors that are not known to be of one number.
    """
    with name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        loc, scale = _parameters(normal_loc, normal_scale, validate_args)
        grid, probs = _hermite(quadrature_size, loc.dtype.base_dtype)
        points = loc[..., None] + np.sqrt(2.0) * scale[..., None] * grid
        return ops.softmax(-pad(points, axis=-2, front=True), axis=-2), probs


@public("contrib.distributions.quadrature_scheme_softmaxnormal_quantiles")
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc, normal_scale, quadrature_size, validate_args=False, name=None
):
    """Points halfway between what SoftmaxCentered makes of quantiles of a normal number.

    Args, value and errors: see quadrature_scheme_softmaxnormal_gauss_hermite.
    """
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        distribution = Normal(*_parameters(normal_loc, normal_scale, validate_args))
        batch = distribution.batch_shape.with_rank_at_least(1)
        count = dimension_value(batch[-1])
        quantiles = _quantiles(distribution, quadrature_size, SoftmaxCentered().forward)
        grid = _middles(quantiles)
        grid.set_shape(batch[:-1].concatenate(TensorShape([None if count is None else count + 1, quadrature_size])))
        return grid, _equal_weights(quadrature_size, distribution.dtype)


def _parameters(loc, scale, validate_args):
    loc = convert_to_tensor(loc, name="normal_loc")
    scale = convert_to_tensor(scale, dtype=loc.dtype.base_dtype, name="normal_scale")
    return loc, _checked_parameter(scale, "normal_scale", validate_args)


@public("contrib.distributions.python.ops.vector_diffeomixture.maybe_check_quadrature_param")
def _checked_parameter(param, name, validate_args):
    """A parameter, after checking that it is [..., 1]: when the graph runs, if that is not known before."""
    with name_scope(f"check_{name}", values=[param]):
        needed = []
        if param.shape.ndims == 0:
            raise ValueError(f"Mixing params must be a (batch of) vector; {name}.rank=0 is not at least one.")
        if param.shape.ndims is None and validate_args:
            message = f"Mixing params must be a (batch of) vector; {name}.rank is not at least one."
            needed.append(assert_rank_at_least(param, 1, message=message))
        size = dimension_value(param.shape.with_rank_at_least(1)[-1])
        if size != 1:
            raise NotImplementedError(f"Currently only bimixtures are supported; {name}.shape[-1]={size} is not 1.")
        return with_dependencies(needed, param) if needed else param
