"""Images decoded from and encoded as the bytes of files."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_JPEG_ATTRS = (
    "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; "
    "acceptable_fraction: float = 1.0; dct_method: string = ''"
)
_JPEG_NAMES = "channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method"

decode_png = define_op(
    "DecodePng(contents: string) -> (image: dtype)",
    "channels: int = 0; dtype: {uint8, uint16} = uint8",
    kernel="decode_png(contents | channels, dtype)",
    differentiable=None,
    public="image.decode_png io.decode_png",
    doc="""The pixels of a PNG file, [height, width, channels].

    Args:
      contents: a string scalar: what the file holds.
      channels: 1 for gray, 3 for RGB, 4 for RGBA, 0 for what the file has.
      dtype: uint8 or uint16.

    Raises:
      At run time tf.errors.InvalidArgumentError for a file that is damaged or none.
    """,
)
decode_jpeg = define_op(
    "DecodeJpeg(contents: string) -> (image: uint8)",
    _JPEG_ATTRS,
    kernel=f"decode_jpeg(contents | {_JPEG_NAMES})",
    differentiable=None,
    public="image.decode_jpeg io.decode_jpeg",
    doc="""The pixels of a JPEG file, uint8 [height, width, channels]; needs the extra `images`.

    Args:
      contents: a string scalar: what the file holds.
      channels: 1 for gray, 3 for RGB, 0 for what the file has.
      ratio: 1, 2, 4 or 8: how many times smaller the image is to be.
      fancy_upscaling: whether colors are made smooth, which is slower.
      try_recover_truncated: whether a file that is cut off gives as much as it has.
      acceptable_fraction: accepted.
      dct_method: "INTEGER_FAST", "INTEGER_ACCURATE", or "" for the first.

    Raises:
      At run time tf.errors.InvalidArgumentError for a file that is damaged or none, UnimplementedError
      without
      the extra.
    """,
)
decode_and_crop_jpeg = define_op(
    "DecodeAndCropJpeg(contents: string, crop_window: int32) -> (image: uint8)",
    _JPEG_ATTRS,
    kernel=f"decode_and_crop_jpeg(contents, crop_window | {_JPEG_NAMES})",
    differentiable=None,
    public="image.decode_and_crop_jpeg io.decode_and_crop_jpeg",
    doc="""The part of a JPEG file's pixels that `crop_window` names: [top, left, height, width]; see decode_jpeg.""",
)
decode_gif = define_op(
    "DecodeGif(contents: string) -> (image: uint8)",
    kernel="decode_gif(contents)",
    differentiable=None,
    public="image.decode_gif io.decode_gif",
    doc="The frames of a GIF file, uint8 [frames, height, width, 3]; needs the extra `images`.",
)
decode_bmp = define_op(
    "DecodeBmp(contents: string) -> (image: uint8)",
    "channels: int = 0",
    kernel="decode_bmp(contents | channels)",
    differentiable=None,
    public="image.decode_bmp io.decode_bmp",
    doc="""The pixels of a BMP file, uint8 [height, width, channels]; `channels` must be 0 or what the file has.""",
)
encode_png = define_op(
    "EncodePng(image: T) -> (contents: string)",
    "compression: int = -1; T: {uint8, uint16} = uint8",
    kernel="encode_png(image | compression)",
    differentiable=None,
    public="image.encode_png",
    doc="""An image, uint8 or uint16 [height, width, 1 to 4 channels], as a PNG file; zlib's level is
    `compression`.
    """,
)
encode_jpeg = define_op(
    "EncodeJpeg(image: uint8) -> (contents: string)",
    "format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; "
    "optimize_size: bool = false; chroma_downsampling: bool = true; density_unit: {'in', 'cm'} = 'in'; "
    "x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''",
    kernel="encode_jpeg(image | format, quality, progressive, optimize_size, chroma_downsampling, density_unit, "
    "x_density, y_density, xmp_metadata)",
    differentiable=None,
    public="image.encode_jpeg io.encode_jpeg",
    doc="""An image, uint8 [height, width, 1 or 3 channels], as a JPEG file; needs the extra `images`.

    Args:
      image: the pixels.
      format: "grayscale" or "rgb"; "" for what the channels say.
      quality: from 0 to 100.
      progressive, optimize_size: kinds of files that load step by step, and that are smaller.
      chroma_downsampling: whether colors have half the resolution.
      density_unit, x_density, y_density: how many pixels lie on an inch ("in") or centimeter ("cm").
      xmp_metadata: what the file says about the image.

    Raises:
      At run time tf.errors.InvalidArgumentError for other images, UnimplementedError without the extra.
    """,
)
encode_jpeg_variable_quality = define_op(
    "EncodeJpegVariableQuality(images: uint8, quality: int32) -> (contents: string)",
    kernel="encode_jpeg_variable_quality(images, quality)",
    differentiable=None,
)
extract_jpeg_shape = define_op(
    "ExtractJpegShape(contents: string) -> (image_shape: output_type)",
    "output_type: {int32, int64} = int32",
    kernel="extract_jpeg_shape(contents | output_type)",
    differentiable=None,
    public="image.extract_jpeg_shape io.extract_jpeg_shape",
    doc="[height, width, channels] of a JPEG file, without decoding it.",
)


def _channels(context):
    channels = context.attrs["channels"]
    if channels < 0:
        raise ShapeError(f"channels must be non-negative, got {channels}")
    return channels or None


@decode_png.shape_rule
@decode_jpeg.shape_rule
@decode_bmp.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return (None, None, _channels(context))


@decode_and_crop_jpeg.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    window = context.value(1)
    if window is None or window.shape != (4,):
        return (None, None, _channels(context))
    return (int(window[2]), int(window[3]), _channels(context))


@decode_gif.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return (None, None, None, 3)


@encode_png.shape_rule
@encode_jpeg.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 3)
    return ()


@encode_jpeg_variable_quality.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 3)
    plain.with_rank(context.shapes[1], 0)
    return ()


@extract_jpeg_shape.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return (3,)
