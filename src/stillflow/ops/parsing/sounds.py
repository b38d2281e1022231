"""DecodeWav, EncodeWav: sounds decoded from and encoded as the bytes of WAV files."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

decode_wav = define_op(
    "DecodeWav(contents: string) -> (audio: float32, sample_rate: int32)",
    "desired_channels: int = -1; desired_samples: int = -1",
    kernel="decode_wav(contents | desired_channels, desired_samples)",
    differentiable=None,
    public="audio.decode_wav",
    doc="""The samples of a WAV file of 16-bit PCM, and their rate.

    Args:
      contents: a string scalar: what the file holds.
      desired_channels: how many channels to return, the last of the file repeated; -1 for what the file has.
      desired_samples: how many samples to return, followed by zeros; -1 for what the file has.

    Returns (audio, float32 [samples, channels] from -1 to 1; sample_rate, an int32 scalar).

    Raises:
      At run time tf.errors.InvalidArgumentError for a file that is damaged, none, or of another kind of samples.
    """,
)
encode_wav = define_op(
    "EncodeWav(audio: float32, sample_rate: int32) -> (contents: string)",
    kernel="encode_wav(audio, sample_rate)",
    differentiable=None,
    public="audio.encode_wav",
    doc="""Samples, float32 [samples, channels] from -1 to 1, as a WAV file of 16-bit PCM.

    Raises:
      At run time tf.errors.InvalidArgumentError for no samples, more than 65535 channels or a rate below 1.
    """,
)


def _wanted(context, attr, word):
    wanted = context.attrs[attr]
    if wanted == -1:
        return None
    if wanted < 0:
        raise ShapeError(f"{word} must be non-negative, got {wanted}")
    return wanted


@decode_wav.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    channels = _wanted(context, "desired_channels", "channels")
    return [(_wanted(context, "desired_samples", "samples"), channels), ()]


@encode_wav.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 2)
    plain.with_rank(context.shapes[1], 0)
    return ()
