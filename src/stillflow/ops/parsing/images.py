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
)
decode_jpeg = define_op(
    "DecodeJpeg(contents: string) -> (image: uint8)",
    _JPEG_ATTRS,
    kernel=f"decode_jpeg(contents | {_JPEG_NAMES})",
    differentiable=None,
)
decode_and_crop_jpeg = define_op(
    "DecodeAndCropJpeg(contents: string, crop_window: int32) -> (image: uint8)",
    _JPEG_ATTRS,
    kernel=f"decode_and_crop_jpeg(contents, crop_window | {_JPEG_NAMES})",
    differentiable=None,
)
decode_gif = define_op(
    "DecodeGif(contents: string) -> (image: uint8)",
    kernel="decode_gif(contents)",
    differentiable=None,
)
decode_bmp = define_op(
    "DecodeBmp(contents: string) -> (image: uint8)",
    "channels: int = 0",
    kernel="decode_bmp(contents | channels)",
    differentiable=None,
)
encode_png = define_op(
    "EncodePng(image: T) -> (contents: string)",
    "compression: int = -1; T: {uint8, uint16} = uint8",
    kernel="encode_png(image | compression)",
    differentiable=None,
)
encode_jpeg = define_op(
    "EncodeJpeg(image: uint8) -> (contents: string)",
    "format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; "
    "optimize_size: bool = false; chroma_downsampling: bool = true; density_unit: {'in', 'cm'} = 'in'; "
    "x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''",
    kernel="encode_jpeg(image | format, quality, progressive, optimize_size, chroma_downsampling, density_unit, "
    "x_density, y_density, xmp_metadata)",
    differentiable=None,
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
