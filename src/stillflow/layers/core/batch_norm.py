"""BatchNormalization: inputs shifted and scaled to mean 0 and variance 1, over a batch or over all that have been."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with
from stillflow.graph.shape import TensorShape
from stillflow.layers.core import constraints, initializers, regularizers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.normalized_batch import normalized
from stillflow.layers.core.serialization import serialize
from stillflow.variables.copies import VariableAggregation, VariableSynchronization

_CLIPPING_KEYS = ["rmax", "rmin", "dmax"]
_DOES_NOT_TAKE_FUSED = (
    "Passing both fused=True and renorm=True is unsupported",
    "Passing fused=True is only supported when axis is 1 or 3",
    "Passing fused=True is unsupported when virtual_batch_size is specified.",
    "Passing fused=True is unsupported when adjustment is specified.",
)


class BatchNormalization(Layer):
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by `gamma` and shifted by `beta`.

    In training mean and variance are those of the batch, and moving averages of them are kept; otherwise they are the
    averages. Ioffe and Szegedy, "Batch Normalization", 2015; renorm: Ioffe, "Batch Renormalization", 2017.

    Args:
      axis: an axis, or a list of axes, that keep their own statistics.
      momentum: of the moving averages.
      epsilon: added to variances.
      center, scale: whether there are beta and gamma.
      beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: callables or names.
      beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint: as of other variables.
      renorm: whether training corrects for the difference between a batch and the averages.
      renorm_clipping: bounds of the correction, {"rmax": , "rmin": , "dmax": }.
      renorm_momentum: of the averages for that.
      fused: whether one operation does it all; None where that can be done.
      trainable: whether its variables are to be trained, and its updates to be run.
      virtual_batch_size: the size of parts of the batch that are normalized on their own.
      adjustment: a function from the shape of the inputs to a scale and a shift, which are applied in training.

    Raises:
      TypeError: for an axis that is neither an integer nor a list.
      ValueError: for unknown keys of `renorm_clipping`.
    """

    _decides_fused_by_rank = False  # of TensorFlow 2 it is

    def __init__(
        self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
        gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones",
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, renorm=False,
        renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
        adjustment=None, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(name=name, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = axis[:] if isinstance(axis, list) else axis
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        if self._decides_fused_by_rank:
            reason = self._reason_against_fused()
            if fused and reason:
                raise ValueError(reason)
            fused = False if fused is None and reason else fused
        elif fused is None:
            fused = True
        self.supports_masking = True
        self.fused = fused
        self._bessels_correction_test_only = True
        self.trainable = trainable
        if renorm:
            renorm_clipping = renorm_clipping or {}
            if set(renorm_clipping) - set(_CLIPPING_KEYS):
                raise ValueError(f"renorm_clipping {renorm_clipping} contains keys not in {_CLIPPING_KEYS}")
            self.renorm_clipping = renorm_clipping
            self.renorm_momentum = renorm_momentum

    def _reason_against_fused(self):
        """Why one operation cannot do it all, or None."""
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        reasons = (
            self.renorm, len(axes) > 1 or axes[0] not in (-3, -1, 1, 3), self.virtual_batch_size is not None,
            self.adjustment is not None,
        )  # fmt: skip
        return next((text for text, holds in zip(_DOES_NOT_TAKE_FUSED, reasons, strict=True) if holds), None)

    @property
    def _param_dtype(self):
        if self.dtype in ("float16", "bfloat16"):
            return dtypes.float32
        return self.dtype or dtypes.float32

    # ---- Variables ------------------------------------------------------------------------------------------

    def build(self, input_shape):
        input_shape = TensorShape(input_shape)
        if not input_shape.rank:
            raise ValueError("Input has undefined rank:", input_shape)
        rank = input_shape.rank
        self._settle_axes(rank)
        self._check_virtual_batches()
        self._settle_fused(rank)
        sizes = {axis: input_shape.as_list()[axis] for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", input_shape)
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        shape = list(sizes.values())
        if len(sizes) > 1 or self.virtual_batch_size is not None:
            shape = [sizes.get(axis, 1) for axis in range(rank)]
            if self.virtual_batch_size is not None:
                shape.insert(1, 1)
                self.axis = [axis + 1 for axis in self.axis]  # after that of the parts of the batch
        self._add_parameters(shape)
        self._add_averages(shape)
        self.built = True

    def _settle_axes(self, rank):
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [rank + axis if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if axis < 0 or axis >= rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {self.axis}")

    def _check_virtual_batches(self):
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size of the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _settle_fused(self, rank):
        if self.fused is not False:
            if not self._decides_fused_by_rank:
                self.fused = rank == 4 and self._reason_against_fused() is None
            elif self.fused is None:
                self.fused = rank == 4
            elif rank != 4:
                raise ValueError("Batch normalization layers with fused=True only support 4D input tensors.")
        if self.fused:
            if self.axis not in ([1], [3]):
                raise ValueError("Unsupported axis, fused batch norm only supports axis == [1] or axis == [3]")
            self._data_format = "NCHW" if self.axis == [1] else "NHWC"

    def _add_parameters(self, shape):
        self.gamma = self.beta = None
        for name, is_there, value in (("gamma", self.scale, 1.0), ("beta", self.center, 0.0)):
            if is_there:
                variable = self.add_weight(
                    name=name, shape=shape, dtype=self._param_dtype, trainable=True, experimental_autocast=False,
                    **{key: getattr(self, f"{name}_{key}") for key in ("initializer", "regularizer", "constraint")},
                )  # fmt: skip
                setattr(self, name, variable)
            elif self.fused:
                setattr(self, f"_{name}_const", ops.constant(value, dtype=self._param_dtype, shape=shape))

    def _add_averages(self, shape):
        scope = getattr(self, "_scope", None)
        partitioner = scope.partitioner if scope else None
        if scope:
            scope.set_partitioner(None)
        try:
            self.moving_mean = self._add_average("moving_mean", shape, self.moving_mean_initializer)
            self.moving_variance = self._add_average("moving_variance", shape, self.moving_variance_initializer)
            if self.renorm:

                def deviation_initializer(*args, **kwargs):
                    return ops.sqrt(self.moving_variance_initializer(*args, **kwargs))

                with colocate_with(self.moving_variance):
                    self.moving_stddev = self._add_average("moving_stddev", shape, deviation_initializer)
                with colocate_with(self.moving_mean):
                    self.renorm_mean = self._add_average("renorm_mean", shape, self.moving_mean_initializer)
                with colocate_with(self.moving_stddev):
                    self.renorm_stddev = self._add_average("renorm_stddev", shape, deviation_initializer)
        finally:
            if scope and partitioner:
                scope.set_partitioner(partitioner)

    def _add_average(self, name, shape, initializer):
        return self.add_weight(
            name=name, shape=shape, dtype=self._param_dtype, initializer=initializer,
            synchronization=VariableSynchronization.ON_READ, trainable=False,
            aggregation=VariableAggregation.MEAN, experimental_autocast=False,
        )  # fmt: skip

    # ---- Calls ----------------------------------------------------------------------------------------------

    def call(self, inputs, training=None):
        if self.virtual_batch_size is None:
            return normalized(self, inputs, training)
        shape = [-1, *inputs.shape.as_list()[1:]]
        parts = ops.reshape(inputs, [self.virtual_batch_size, -1, *shape[1:]])
        return ops.reshape(normalized(self, parts, training), shape)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        plain = ("axis", "momentum", "epsilon", "center", "scale")
        made = (
            "beta_initializer", "gamma_initializer", "moving_mean_initializer", "moving_variance_initializer",
            "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint",
        )  # fmt: skip
        config = {
            **super().get_config(),
            **{key: getattr(self, key) for key in plain},
            **{key: serialize(getattr(self, key)) for key in made},
        }
        if self.renorm:
            config.update(renorm=True, renorm_clipping=self.renorm_clipping, renorm_momentum=self.renorm_momentum)
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config
