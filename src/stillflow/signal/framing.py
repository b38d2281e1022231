"""frame and overlap_and_add: signals cut into frames that overlap, and put together again."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor


def _frame_dims(signal, frame_length, frame_step, pad_end, axis):
    """The plain shape of the frames, as far as it is known."""
    length, step, axis = (constant_value(tensor) for tensor in (frame_length, frame_step, axis))
    dims = signal._dims
    if dims is None:
        return None
    if axis is None:
        return [None] * (len(dims) + 1)
    axis = int(axis)
    size, frames = dims[axis], None
    if size is not None and step is not None:
        if pad_end:
            frames = max(0, -(-size // int(step)))
        elif length is not None:
            frames = max(0, (size - int(length) + int(step)) // int(step))
    return [*dims[:axis], frames, None if length is None else int(length), *dims[axis:][1:]]


@public("contrib.signal.frame")
@public("signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """A dimension of a signal as frames of `frame_length`, which begin `frame_step` apart.

    Args:
      signal: a tensor [..., samples, ...].
      frame_length: how many samples a frame has.
      frame_step: how many samples lie between the beginnings of two frames.
      pad_end: whether frames that begin within the signal but end behind it are filled with `pad_value`; else they
        are left out.
      pad_value: a scalar.
      axis: the dimension of the samples.
      name: of the nodes' scope.

    Returns:
      A tensor [..., frames, frame_length, ...].
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        frame_length = convert_to_tensor(frame_length, name="frame_length")
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        axis = convert_to_tensor(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for scalar in (frame_length, frame_step, axis):
            scalar.shape.assert_has_rank(0)
        dims = _frame_dims(signal, frame_length, frame_step, pad_end, axis)
        rank = ops.rank(signal)
        axis = ops.range(rank)[axis]
        shape = ops.shape(signal)
        outer, samples, inner = ops.split(shape, [axis, 1, rank - 1 - axis])
        samples = ops.reshape(samples, [])
        outer_count, inner_count = ops.size(outer), ops.size(inner)
        if pad_end:
            pad_value = convert_to_tensor(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            frames = -(-samples // frame_step)
            missing = ops.maximum(0, frame_length + frame_step * (frames - 1) - samples)
            paddings = ops.concat(
                [
                    ops.zeros([outer_count, 2], dtype=missing.dtype),
                    [[0, missing]],
                    ops.zeros([inner_count, 2], dtype=missing.dtype),
                ],
                0,
            )
            signal = ops.pad(signal, paddings, constant_values=pad_value)
            shape = ops.shape(signal)
            samples = shape[axis]
        else:
            frames = ops.maximum(0, 1 + (samples - frame_length) // frame_step)
        result = _gathered(signal, shape, axis, (outer, samples, inner), frames, frame_length, frame_step)
        if dims:
            result.set_shape(dims)
        return result


def _gathered(signal, shape, axis, parts, frames, frame_length, frame_step):
    """The frames, put together from pieces as long as all of them consist of."""
    outer, samples, inner = parts
    piece_length = greatest_common_divisor(frame_length, frame_step)
    pieces_per_frame = frame_length // piece_length
    pieces_per_step = frame_step // piece_length
    pieces = samples // piece_length
    used_shape = ops.concat([outer, [pieces * piece_length], inner], 0)
    pieces_shape = ops.concat([outer, [pieces, piece_length], inner], 0)
    cut = ops.reshape(ops.strided_slice(signal, ops.zeros_like(shape), used_shape), pieces_shape)
    of_frame = ops.reshape(ops.range(frames) * pieces_per_step, [frames, 1])
    in_frame = ops.reshape(ops.range(pieces_per_frame), [1, pieces_per_frame])
    indices = of_frame + in_frame
    gathered = ops.gather(cut, indices, axis=axis)
    return ops.reshape(gathered, ops.concat([outer, [frames, frame_length], inner], 0))


def greatest_common_divisor(a, b):
    """That of two integer scalars, by Euclid's algorithm."""
    with name_scope(None, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        for name, value in (("a", a), ("b", b)):
            value.shape.assert_has_rank(0)
            if not value.dtype.is_integer:
                raise ValueError(f"{name} must be an integer type. Got: {value.dtype}")
        known_a, known_b = constant_value(a), constant_value(b)
        if known_a is not None and known_b is not None:
            return convert_to_tensor(math.gcd(int(known_a), int(known_b)))

        def is_left(_, rest):
            return ops.greater(rest, ops.zeros_like(rest))

        def step(larger, rest):
            return [rest, ops.floor_mod(larger, rest)]

        return while_loop(is_left, step, [a, b], back_prop=False)[0]


@public("contrib.signal.overlap_and_add")
@public("signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None):
    """The sum of frames that begin `frame_step` apart.

    Args:
      signal: [..., frames, frame_length].
      frame_step: an integer scalar that is not above the length of a frame.
      name: of the nodes' scope.

    Returns:
      [..., (frames - 1) * frame_step + frame_length]. Raises ValueError for a step that is no integer.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        frame_step.shape.assert_has_rank(0)
        if not frame_step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {frame_step.dtype}")
        shape = ops.shape(signal)
        outer = shape[:-2]
        outer_rank = ops.size(outer)
        frame_length, frames = shape[-1], shape[-2]
        length = frame_length + frame_step * (frames - 1)
        known_step = constant_value(frame_step)
        if known_step is not None and signal._dims is not None and known_step == signal._dims[-1]:
            return ops.reshape(signal, _below(outer, [length]), name="fast_path")
        return _sum_of_segments(signal, outer, outer_rank, frames, frame_length, frame_step, length)


def _below(outer, inner):
    return ops.concat([outer, inner], 0)


def _sum_of_segments(signal, outer, outer_rank, frames, frame_length, frame_step, length):
    """Frames are cut into segments of a step; segment i of frame j adds to step i + j. Rows of segments are shifted
    by one step each by reading them as rows that are one segment shorter."""
    segments = -(-frame_length // frame_step)
    paddings = [[0, segments], [0, segments * frame_step - frame_length]]
    paddings = ops.concat([ops.zeros([outer_rank, 2], dtypes.int32), paddings], 0)
    signal = ops.pad(signal, paddings)
    signal = ops.reshape(signal, _below(outer, [frames + segments, segments, frame_step]))
    order = ops.concat([ops.range(outer_rank), outer_rank + [1, 0, 2]], 0)
    signal = ops.transpose(signal, order)
    signal = ops.reshape(signal, _below(outer, [(frames + segments) * segments, frame_step]))
    signal = signal[..., : (frames + segments - 1) * segments, :]
    signal = ops.reshape(signal, _below(outer, [segments, (frames + segments - 1), frame_step]))
    signal = ops.reduce_sum(signal, -3)
    signal = ops.reshape(signal, _below(outer, [(frames + segments - 1) * frame_step]))
    return signal[..., :length]
