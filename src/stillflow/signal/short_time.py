"""stft and inverse_stft: spectra of frames of a signal, and the signal that they make."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.signal.framing import frame, overlap_and_add
from stillflow.signal.windows import hann_window


def _scalar(value, name):
    value = convert_to_tensor(value, name=name)
    value.shape.assert_has_rank(0)
    return value


@public("contrib.signal.stft")
@public("signal.stft")
def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """The transforms of frames of a signal (short-time Fourier transform).

    Args:
      signals: [..., samples] of float32.
      frame_length: how many samples a frame has.
      frame_step: how many samples lie between the beginnings of two frames.
      fft_length: the length of the transforms; by default the next power of two of the frame's.
      window_fn: a function of a length and a `dtype` whose result frames are multiplied by, or None.
      pad_end: whether frames that end behind the signal are filled with zeros rather than left out.
      name: of the nodes' scope.

    Returns:
      [..., frames, fft_length / 2 + 1] of complex64.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        else:
            fft_length = convert_to_tensor(fft_length, name="fft_length")
        frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            window = window_fn(frame_length, dtype=frames.dtype)
            frames *= window
        return ops.rfft(frames, [fft_length])


@public("contrib.signal.inverse_stft_window_fn")
@public("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window function for `inverse_stft` that makes it the inverse of `stft` with `forward_window_fn`.

    That window divided by the sum of the squares of all windows that overlap (Griffin and Lim, "Signal estimation
    from modified short-time Fourier transform", IEEE Trans. ASSP 32, 1984).
    """
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        frame_step = _scalar(frame_step, "frame_step")

    def inverse_window(frame_length, dtype):
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            frame_length = _scalar(frame_length, "frame_length")
            window = forward_window_fn(frame_length, dtype=dtype)
            sums = ops.square(window)
            overlaps = -(-frame_length // frame_step)
            sums = ops.pad(sums, [(0, overlaps * frame_step - frame_length)])
            sums = ops.reshape(sums, [overlaps, frame_step])
            sums = ops.reduce_sum(sums, 0, keepdims=True)
            sums = ops.tile(sums, [overlaps, 1])
            sums = ops.reshape(sums, [overlaps * frame_step])
            return window / sums[:frame_length]

    return inverse_window


@public("contrib.signal.inverse_stft")
@public("signal.inverse_stft")
def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """The signal whose frames have given transforms.

    Args:
      stfts: [..., frames, fft_length / 2 + 1] of complex64.
      frame_length, frame_step, fft_length: as for `stft`.
      window_fn: what frames are multiplied by before they are added; `inverse_stft_window_fn` makes the one that
        inverts `stft`.
      name: of the nodes' scope.

    Returns:
      [..., samples] of float32.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        else:
            fft_length = _scalar(fft_length, "fft_length")
        frames = _of_length(ops.irfft(stfts, [fft_length]), frame_length)
        if window_fn is not None:
            window = window_fn(frame_length, dtype=stfts.dtype.real_dtype)
            frames *= window
        return overlap_and_add(frames, frame_step)


def _of_length(frames, frame_length):
    """Frames cut off or followed by zeros."""
    length, dims = constant_value(frame_length), frames._dims
    if length is None or dims is None or dims[-1] is None:
        frames = frames[..., :frame_length]
        rank, shape = ops.rank(frames), ops.shape(frames)
        outer = ops.zeros([rank - 1, 2], dtype=frame_length.dtype)
        paddings = ops.concat([outer, [[0, ops.maximum(0, frame_length - shape[-1])]]], 0)
        frames = ops.pad(frames, paddings)
    elif dims[-1] > length:
        frames = frames[..., : int(length)]
    elif dims[-1] < length:
        frames = ops.pad(frames, [[0, 0]] * (len(dims) - 1) + [[0, int(length) - dims[-1]]])
    if length is not None and frames._dims is not None:
        frames.set_shape([None] * (len(frames._dims) - 1) + [int(length)])
    return frames


def _enclosing_power_of_two(value):
    known = constant_value(value)
    if known is not None:
        return ops.constant(int(2 ** np.ceil(np.log(known) / np.log(2.0))), value.dtype)
    exponent = ops.ceil(ops.log(ops.cast(value, dtypes.float32)) / ops.log(2.0))
    return ops.cast(ops.pow(2.0, exponent), value.dtype)
