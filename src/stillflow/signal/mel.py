"""linear_to_mel_weight_matrix and mfccs_from_log_mel_spectrograms: mel spectra and cepstral coefficients."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.signal.cosine_transform import dct
from stillflow.signal.framing import frame

# The mel scale of the HTK toolkit: 1127 log(1 + f / 700).
_BREAK_FREQUENCY = 700.0
_SCALE = 1127.0


def _hertz_to_mel(frequencies):
    with name_scope(None, "hertz_to_mel", [frequencies]):
        frequencies = convert_to_tensor(frequencies)
        return _SCALE * ops.log(1.0 + (frequencies / _BREAK_FREQUENCY))


def _check(bins, sample_rate, lower, upper, dtype):
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if upper > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got: {upper} for sample_rate: {sample_rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@public("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
):
    """A matrix that spectra are multiplied by to have them over the mel scale.

    Args:
      num_mel_bins: how many bands there are, triangles that are half covered by the next one.
      num_spectrogram_bins: how many elements spectra have, fft_length / 2 + 1.
      sample_rate: how many samples there are in a second.
      lower_edge_hertz, upper_edge_hertz: where the first band begins and the last one ends.
      dtype: of the matrix.
      name: of the nodes' scope.

    Returns:
      [num_spectrogram_bins, num_mel_bins]. Raises ValueError for numbers that make no bands.
    """
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            known = constant_value(sample_rate)
            if known is None:
                raise ValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor."
                )
            sample_rate = known
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        sample_rate = convert_to_tensor(sample_rate, dtype, name="sample_rate")
        lower_edge_hertz = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper_edge_hertz = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        nyquist = sample_rate / 2.0
        frequencies = ops.lin_space(zero, nyquist, num_spectrogram_bins)[1:]  # frequency 0 is in no band
        bins = ops.expand_dims(_hertz_to_mel(frequencies), 1)
        edges = ops.lin_space(_hertz_to_mel(lower_edge_hertz), _hertz_to_mel(upper_edge_hertz), num_mel_bins + 2)
        edges = frame(edges, frame_length=3, frame_step=1)
        lower, center, upper = (ops.reshape(part, [1, num_mel_bins]) for part in ops.split(edges, 3, axis=1))
        rising = (bins - lower) / (center - lower)
        falling = (upper - bins) / (upper - center)
        weights = ops.maximum(zero, ops.minimum(rising, falling))
        return ops.pad(weights, [[1, 0], [0, 0]], name=scope)


@public("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Cepstral coefficients: the cosine transform of the logarithms of mel spectra.

    Args:
      log_mel_spectrograms: [..., num_mel_bins] of float32.
      name: of the nodes' scope.

    Returns:
      Of the same shape, scaled as the HTK toolkit does. Raises ValueError if there are no bins.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert_to_tensor(log_mel_spectrograms, dtype=dtypes.float32)
        bins = spectra._dims[-1] if spectra._dims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectra}")
        if bins is None:
            bins = ops.shape(spectra)[-1]
        transformed = dct(spectra, type=2)
        return transformed * ops.rsqrt(ops.cast(bins, dtypes.float32) * 2.0)
