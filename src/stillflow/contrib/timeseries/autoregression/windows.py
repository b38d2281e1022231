"""Predictions of an ARModel in a loop: what a window has predicted is what the next one is given."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop


class PredictedWindows:
    """The windows that times [batch, steps] are cut into, the last one filled up.

    Args:
      model: the ARModel.
      times: [batch, steps].
      regressors: other features, [batch, steps, size].
    """

    def __init__(self, model, times, regressors):
        self._model = model
        size = model.output_window_size
        self._batch = ops.shape(times)[0]
        self._steps = ops.shape(times)[1]
        self._count = (self._steps + size - 1) // size
        padding = self._count * size - self._steps
        self.times = ops.pad(times, [[0, 0], [0, padding]])
        self.regressors = ops.pad(regressors, [[0, 0], [0, padding], [0, 0]])

    def predict(self, times, values, regressors):
        """(means, variances), [batch, steps, features], of what the first window is given."""
        model = self._model
        has_covariance = model.loss != model.SQUARED_LOSS

        def window(number, times, values, regressors, means, covariances):
            predictions = model.prediction_ops(times, values, regressors)
            following = self._next(number, times, values, regressors, predictions["mean"])
            means = means.write(number, predictions["mean"])
            if has_covariance:
                covariances = covariances.write(number, predictions["covariance"])
            return (number + 1, *following, means, covariances)

        covariances = TensorArray(dtype=model.dtype, size=self._count) if has_covariance else 0.0
        means = TensorArray(dtype=model.dtype, size=self._count)
        _, _, _, _, means, covariances = while_loop(
            lambda number, *_: ops.less(number, self._count),
            window,
            [0, times, values, regressors, means, covariances],
        )
        mean = self._in_order(means)
        return mean, self._in_order(covariances) if has_covariance else ops.ones_like(mean)

    def _next(self, number, times, values, regressors, mean):
        """(times, values, other features) that the window behind `number` is predicted of."""
        size, output = self._model.input_window_size, self._model.output_window_size
        offset = output * ops.minimum(number + 1, self._count - 1)
        if size == 0:
            found = self.regressors[:, offset : offset + output, :]
            new_times = self.times[:, offset : offset + output]
        elif output < size:
            values = ops.concat([values[:, output:, :], mean], 1)
            later = [regressors[:, -size:, :], self.regressors[:, offset : offset + output, :]]
            found = ops.concat(later, axis=1)
            new_times = ops.concat([times[:, -size:], self.times[:, offset : offset + output]], 1)
        else:
            values = mean[:, -size:, :]
            found = self.regressors[:, offset - size : offset + output, :]
            new_times = self.times[:, offset - size : offset + output]
        new_times.set_shape(times.shape)
        found.set_shape(regressors.shape)
        return new_times, values, found

    def _in_order(self, windows):
        """[batch, steps, features] of what windows have written."""
        total = self._count * self._model.output_window_size
        packed = ops.transpose(windows.stack(), [1, 0, 2, 3])
        return ops.reshape(packed, ops.stack([self._batch, total, -1]))[:, : self._steps, :]
