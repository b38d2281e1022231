"""AudioSpectrogram and Mfcc: what frequencies a sound consists of, and how they sound."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

audio_spectrogram = define_op(
    "AudioSpectrogram(input: float32) -> (spectrogram: float32)",
    "window_size: int; stride: int; magnitude_squared: bool = false",
    kernel="audio_spectrogram(input | window_size, stride, magnitude_squared)",
    differentiable=None,
)
mfcc = define_op(
    "Mfcc(spectrogram: float32, sample_rate: int32) -> (output: float32)",
    "upper_frequency_limit: float = 4000.0; lower_frequency_limit: float = 20.0; "
    "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
    kernel="mfcc(spectrogram, sample_rate | upper_frequency_limit, lower_frequency_limit, filterbank_channel_count, "
    "dct_coefficient_count)",
    differentiable=None,
)


@audio_spectrogram.shape_rule
def _(context):
    samples, channels = plain.with_rank(context.shapes[0], 2) or (None, None)
    size, stride = context.attrs["window_size"], context.attrs["stride"]
    windows = None if samples is None else 0 if samples < size else 1 + (samples - size) // max(stride, 1)
    return channels, windows, 1 + (1 << max(size - 1, 1).bit_length()) // 2


@mfcc.shape_rule
def _(context):
    dims = plain.with_rank(context.shapes[0], 3) or (None, None, None)
    plain.with_rank(context.shapes[1], 0)
    return (*dims[:2], context.attrs["dct_coefficient_count"])
