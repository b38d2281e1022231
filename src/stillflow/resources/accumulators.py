"""tf.ConditionalAccumulator and its kin: means or sums of gradients, taken when there are enough of them."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _as_step(step):
    return ops.cast(convert_to_tensor(step), dtypes.int64)


@public("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """What accumulators have in common.

    Args:
      dtype: the type of the gradients.
      shape: their shape, as far as it is known, or None.
      accumulator_ref: the handle, as an op makes it.
    """

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = dtypes.as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref._op._name.split("/")[-1]

    @property
    def accumulator_ref(self):
        return self._accumulator_ref

    @property
    def name(self):
        return self._name

    @property
    def dtype(self):
        return self._dtype

    def num_accumulated(self, name=None):
        """How many gradients there are, int32."""
        name = f"{self._name}_NumAccumulated" if name is None else name
        return ops.resource_accumulator_num_accumulated(self._accumulator_ref, name=name)

    def set_global_step(self, new_global_step, name=None):
        """An operation that sets the accumulator's step: gradients of earlier ones do not count."""
        return ops.resource_accumulator_set_global_step(self._accumulator_ref, _as_step(new_global_step), name=name)


@public("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums dense gradients, from any threads and sessions' runs, until enough have come.

    Args:
      dtype: float16, float32 or float64.
      shape: the gradients' shape, or what is known of it.
      shared_name: the name under which a session's graphs share the accumulator.
      name: the node's name.
      reduction_type: "MEAN" or "SUM": what is taken.
    """

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        handle = ops.resource_conditional_accumulator(
            dtype=dtype, shape=TensorShape(shape), shared_name=shared_name, name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad, local_step=0, name=None):
        """An operation that adds a gradient, unless its step is below the accumulator's.

        Raises ValueError for a shape that does not fit.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return ops.resource_accumulator_apply_gradient(
            self._accumulator_ref, local_step=_as_step(local_step), gradient=grad, name=name
        )

    def take_grad(self, num_required, name=None):
        """The mean or sum when at least `num_required` gradients have come, for which the run waits.

        The accumulator is empty then, and its step one higher.
        """
        result = ops.resource_accumulator_take_gradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        result.set_shape(self._shape)
        return result


@public("SparseConditionalAccumulator", "sparse.SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums sparse gradients, IndexedSlices, until enough have come; see ConditionalAccumulator.

    The mean of a row is over those gradients that have it. Rows' numbers should rise; they are merged as if they did.
    """

    def __init__(
        self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator", reduction_type="MEAN"
    ):
        handle = ops.sparse_conditional_accumulator(
            dtype=dtype, shape=TensorShape(shape), shared_name=shared_name, name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """apply_grad for IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """An operation that adds a gradient, unless its step is below the accumulator's.

        Args:
          grad_indices: the rows' numbers, a vector.
          grad_values: the rows.
          grad_shape: the shape of the whole, or None.
          local_step: the gradient's step.
        """
        local_step = _as_step(local_step)
        return ops.sparse_accumulator_apply_gradient(
            self._accumulator_ref,
            local_step=local_step,
            gradient_indices=ops.cast(grad_indices, dtypes.int64),
            gradient_values=grad_values,
            gradient_shape=ops.cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required, name=None):
        """(indices, values, shape) when at least `num_required` gradients have come, for which the run waits."""
        return ops.sparse_accumulator_take_gradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required, name=None):
        """take_grad as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)

    def num_accumulated(self, name=None):
        """How many gradients there are, int32."""
        name = f"{self._name}_NumAccumulated" if name is None else name
        return ops.accumulator_num_accumulated(self._accumulator_ref, name=name)

    def set_global_step(self, new_global_step, name=None):
        """An operation that sets the accumulator's step: gradients of earlier ones do not count."""
        return ops.accumulator_set_global_step(self._accumulator_ref, _as_step(new_global_step), name=name)
