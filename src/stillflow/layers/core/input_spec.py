"""InputSpec: what a layer expects of an input, and the check that it is so."""

from __future__ import annotations

from stillflow.graph import dtypes, nest
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.layers.core.settings import floatx
from stillflow.names import public


@public("layers.InputSpec", "keras.layers.InputSpec")
class InputSpec:
    """What a layer expects of one input: rank, type, sizes. What is None is not checked.

    Args:
      dtype: the type.
      shape: the shape, None for sizes that may be any; gives the rank, too.
      ndim, max_ndim, min_ndim: the rank, or limits of it.
      axes: {axis: size}.

    Raises:
      TypeError: for an axis that is no integer.
      ValueError: for an axis beyond the rank.
    """

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): axes[axis] for axis in axes or ()}
        except (TypeError, ValueError):
            raise TypeError("The keys in axes must be integers.") from None
        if self.axes and (self.ndim is not None or max_ndim is not None):
            last = (self.ndim or max_ndim) - 1
            if max(self.axes) > last:
                raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {last}")

    def get_config(self):
        """The arguments, as a dictionary."""
        return {
            "dtype": self.dtype, "shape": self.shape, "ndim": self.ndim, "max_ndim": self.max_ndim,
            "min_ndim": self.min_ndim, "axes": self.axes,
        }  # fmt: skip

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def __repr__(self):
        given = [f"{key}={value}" for key, value in self._described().items() if value]
        return f"InputSpec({', '.join(given)})"

    def _described(self):
        keys = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {key: getattr(self, key) for key in keys}


@public("python.keras.engine.input_spec.to_tensor_shape")
def to_tensor_shape(spec):
    """The tf.TensorShape that an InputSpec allows; one of unknown rank where several ranks are allowed."""
    if spec.ndim is None:
        return TensorShape(None)
    sizes = [None] * spec.ndim if spec.shape is None else list(spec.shape)
    for axis, size in spec.axes.items():
        sizes[axis] = size
    return TensorShape(sizes)


@public("python.keras.engine.input_spec.to_tensor_spec")
def to_tensor_spec(input_spec, default_dtype=None):
    """The tf.TensorSpec of what an InputSpec allows; that of anything where there is none.

    Args:
      input_spec: the InputSpec, or None.
      default_dtype: the type, if the specification says nothing of it; `floatx` by default.
    """
    default_dtype = default_dtype or floatx()
    if input_spec is None:
        return TensorSpec(None, default_dtype)
    return TensorSpec(to_tensor_shape(input_spec), input_spec.dtype or default_dtype)


def assert_input_compatibility(input_spec, inputs, layer_name):
    """Raises ValueError unless the inputs of a layer are what its specs, if it has any, say."""
    if not input_spec:
        return
    inputs, specs = nest.flatten(inputs), nest.flatten(input_spec)
    if len(inputs) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(inputs)} input tensors. Inputs "
            f"received: {inputs}"
        )
    for index, (tensor, spec) in enumerate(zip(inputs, specs, strict=True)):
        if spec is not None:
            _check(spec, tensor, index, layer_name)


def _check(spec, tensor, index, layer_name):
    def error(expectation):
        return ValueError(f"Input {index} of layer {layer_name} is incompatible with the layer: {expectation}")

    _check_rank(spec, tensor.shape, error)
    if spec.dtype is not None and tensor.dtype != spec.dtype:
        raise error(f"expected dtype={spec.dtype}, found dtype={tensor.dtype}")
    if spec.axes:
        sizes = tensor.shape.as_list()
        for axis, size in spec.axes.items():
            size = getattr(size, "value", size)
            if size is not None and sizes[axis] not in (size, None):
                raise error(
                    f"expected axis {axis} of input shape to have value {size} but received input with shape {sizes}"
                )
    if spec.shape is not None:
        sizes = tensor.shape.as_list()
        if any(None not in pair and pair[0] != pair[1] for pair in zip(spec.shape, sizes, strict=False)):
            raise ValueError(
                f"Input {index} is incompatible with layer {layer_name}: expected shape={spec.shape}, found "
                f"shape={sizes}"
            )


def _check_rank(spec, shape, error):
    if spec.ndim is None and spec.min_ndim is None and spec.max_ndim is None:
        return
    rank = shape.ndims
    if rank is None:
        raise error("its rank is undefined, but the layer requires a defined rank.")
    if spec.ndim is not None and rank != spec.ndim:
        raise error(f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {shape.as_list()}")
    if spec.max_ndim is not None and rank > spec.max_ndim:
        raise error(f"expected max_ndim={spec.max_ndim}, found ndim={rank}")
    if spec.min_ndim is not None and rank < spec.min_ndim:
        raise error(f": expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {shape.as_list()}")
