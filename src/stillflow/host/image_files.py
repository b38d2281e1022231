"""Images of other formats than PNG: JPEG through simplejpeg, GIF and encoding through Pillow (the extra `images`)."""

from __future__ import annotations

import io

import numpy as np

from stillflow import errors

# Images of more pixels are refused before anything is allocated for them.
_MOST_PIXELS = 1 << 29


def _invalid(message):
    return errors.make(errors.INVALID_ARGUMENT, message)


def _library(name, what):
    """The module, or an error that says how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        library = "pillow" if package == "PIL" else package
        raise errors.make(
            errors.UNIMPLEMENTED,
            f"{what} needs {library}, which the extra 'images' installs: pip install stillflow[images]",
        ) from None


def _check_contents(contents):
    if not isinstance(contents, bytes):
        raise _invalid(f"contents must be scalar, got shape {list(np.shape(contents))}")
    if not contents:
        raise _invalid("Expected image (JPEG, PNG, or GIF), got empty file")


def _unknown(contents):
    start = contents[:4].decode("utf-8", "backslashreplace")
    return _invalid(f"Expected image (JPEG, PNG, or GIF), got unknown format starting with '{start}'")


def _with_channels(image, channels):
    """RGB pixels with the number of channels asked for."""
    if channels == 1:
        weights = np.array([9797, 19234, 3737], np.int64)
        return ((image.astype(np.int64) @ weights) >> 15).astype(np.uint8)[..., None]
    if channels == 4:
        return np.concatenate([image, np.full((*image.shape[:-1], 1), 255, np.uint8)], -1)
    return image


# ---- JPEG ---------------------------------------------------------------------------------------------------------


def decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method):
    _check_contents(contents)
    if channels not in (0, 1, 3):
        raise _invalid(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    if ratio not in (1, 2, 4, 8):
        raise _invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE"):
        raise _invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    if contents.startswith(b"GIF8"):
        return _with_channels(_only_frame(decode_gif(contents)), channels)
    if not contents.startswith(b"\xff\xd8\xff"):
        raise _unknown(contents)
    simplejpeg = _library("simplejpeg", "decode_jpeg")
    try:
        height, width, space, _ = simplejpeg.decode_jpeg_header(contents, strict=False)
        if height * width > _MOST_PIXELS:
            raise ValueError("too large")
        is_gray = space.lower() == "gray" if channels == 0 else channels == 1
        return np.ascontiguousarray(
            simplejpeg.decode_jpeg(
                contents, "GRAY" if is_gray else "RGB", fastdct=dct_method != b"INTEGER_ACCURATE",
                fastupsample=not fancy_upscaling, min_height=-(-height // int(ratio)),
                min_width=-(-width // int(ratio)), min_factor=1, strict=not try_recover_truncated,
            )
        )  # fmt: skip
    except (ValueError, KeyError):  # simplejpeg does not know what a header that is cut off says
        raise _invalid(f"Invalid JPEG data or crop window, data size {len(contents)}") from None


def decode_and_crop_jpeg(contents, crop_window, *attrs):
    if np.shape(crop_window) != (4,):
        raise _invalid(f"crop_window must have four elements {list(np.shape(crop_window))}")
    image = decode_jpeg(contents, *attrs)
    top, left, height, width = (int(value) for value in crop_window)
    is_inside = min(top, left) >= 0 and min(height, width) > 0
    if not (is_inside and top + height <= image.shape[0] and left + width <= image.shape[1]):
        raise _invalid(f"Invalid JPEG data or crop window, data size {len(contents)}")
    return np.ascontiguousarray(image[top : top + height, left : left + width])


def extract_jpeg_shape(contents, dtype):
    from stillflow.graph import dtypes

    found = _jpeg_shape(contents) if isinstance(contents, bytes) else None
    if found is None:
        raise _invalid(f"Invalid JPEG data, size {len(contents)}")
    return np.array(found, dtypes.as_dtype(int(dtype)).as_numpy_dtype)


def _jpeg_shape(data):
    """[height, width, channels] from a JPEG's frame header, or None."""
    if not data.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in (0x01, *range(0xD0, 0xD8)):
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return [int.from_bytes(data[at + 5 : at + 7], "big"), int.from_bytes(data[at + 7 : at + 9], "big"),
                    data[at + 9]]  # fmt: skip
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def encode_jpeg(
    image, format, quality, progressive, optimize_size, chroma_downsampling, density_unit, x_density, y_density,
    xmp_metadata,
):  # fmt: skip
    shape = list(np.shape(image))
    text = str(shape).replace(" ", "")
    if len(shape) != 3:
        raise _invalid(f"image must be 3-dimensional {text}")
    if not 0 <= quality <= 100:
        raise _invalid(f"quality must be in [0,100], got {quality}")
    if shape[2] not in (1, 3):
        raise _invalid(f"image must have 1 or 3 channels, got {text}")
    wanted = {b"grayscale": 1, b"rgb": 3}.get(format, shape[2])
    if wanted != shape[2]:
        raise _invalid(f"format {format.decode()} expects {wanted} channels, got {text}")
    if 0 in shape or max(shape) > 65500:
        raise _invalid(f"image of shape {text} cannot be a JPEG")
    pillow = _library("PIL.Image", "encode_jpeg")
    buffer = io.BytesIO()
    picture = pillow.fromarray(image[..., 0] if shape[2] == 1 else image)
    picture.save(
        buffer, "JPEG", quality=max(int(quality), 1), subsampling=2 if chroma_downsampling and shape[2] == 3 else 0,
        progressive=bool(progressive), optimize=bool(optimize_size), dpi=(300, 300),
    )  # fmt: skip
    return _with_density(buffer.getvalue(), density_unit, int(x_density), int(y_density), xmp_metadata)


def encode_jpeg_variable_quality(images, quality):
    if np.ndim(quality) != 0:
        raise _invalid(f"quality must be scalar, got shape {list(np.shape(quality))}")
    return encode_jpeg(images, b"", int(quality), 0, 0, 1, b"in", 300, 300, b"")


def _with_density(data, unit, x_density, y_density, xmp):
    """The header of a JPEG with this density, followed by what is said about the image."""
    numbers = bytes([1 if unit == b"in" else 2]) + x_density.to_bytes(2, "big") + y_density.to_bytes(2, "big")
    about = b""
    if xmp:
        content = b"http://ns.adobe.com/xap/1.0/\0" + xmp
        if len(content) > 65533:
            raise _invalid("xmp_metadata is too long for a JPEG")
        about = b"\xff\xe1" + (len(content) + 2).to_bytes(2, "big") + content
    return data[:13] + numbers + data[18:20] + about + data[20:]


# ---- GIF and BMP --------------------------------------------------------------------------------------------------


def decode_gif(contents):
    _check_contents(contents)
    pillow = _library("PIL.Image", "decode_gif")
    if not contents.startswith(b"GIF8"):
        if contents.startswith(b"\xff\xd8\xff"):
            return decode_jpeg(contents, 3, 1, True, False, 1.0, b"")[None]
        if contents.startswith(b"\x89PNG"):
            return np.asarray(pillow.open(io.BytesIO(contents)).convert("RGB"))[None]
        raise _unknown(contents)
    try:
        image = pillow.open(io.BytesIO(contents))
        count = getattr(image, "n_frames", 1)
        if image.width * image.height * count > _MOST_PIXELS:
            raise ValueError("too large")
        frames = np.empty((count, image.height, image.width, 3), np.uint8)
        for i in range(count):
            image.seek(i)
            frames[i] = np.asarray(image.convert("RGB"))
        return frames
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise _invalid(f"Invalid GIF data (size {len(contents)}), {error}") from None


def _only_frame(frames):
    if len(frames) != 1:
        raise _invalid(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.image.decode_gif or "
            "tf.image.decode_image"
        )
    return frames[0]


def decode_bmp(contents, channels):
    if not isinstance(contents, bytes):
        raise _invalid(f"contents must be scalar, got shape {list(np.shape(contents))}")
    if channels not in (0, 1, 3, 4):
        raise _invalid(f"channels must be 0, 1, 3 or 4, got {channels}")
    if len(contents) < 32:
        raise _invalid(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, "
            f"got {len(contents)} bytes"
        )
    begin = int.from_bytes(contents[10:14], "little", signed=True)
    width = int.from_bytes(contents[18:22], "little", signed=True)
    height = int.from_bytes(contents[22:26], "little", signed=True)
    found = int.from_bytes(contents[28:30], "little") // 8
    if channels and found != channels:
        raise _invalid(f"channels attribute {channels} does not match bits per pixel from file {found}")
    if found not in (1, 3, 4):
        raise _invalid(f"Number of channels must be 1, 3 or 4, was {found}")
    if width <= 0 or height == 0 or begin < 0:
        raise _invalid(f"Invalid bmp: width {width}, height {height}, pixels at {begin}")
    row_bytes = (width * found + 3) // 4 * 4
    if begin + row_bytes * abs(height) > len(contents):
        raise _invalid(
            f"Incomplete bmp content, requires at least {begin + row_bytes * abs(height)} bytes, got "
            f"{len(contents)} bytes"
        )
    rows = np.frombuffer(contents, np.uint8, row_bytes * abs(height), begin).reshape(abs(height), row_bytes)
    image = rows[:, : width * found].reshape(abs(height), width, found)
    image = image if height < 0 else image[::-1]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[found]
    return np.ascontiguousarray(image[..., order])


# ---- Any of them --------------------------------------------------------------------------------------------------


def decode_image(contents, channels, dtype):
    """What DecodePng makes of other files than PNG."""
    from stillflow.graph import dtypes

    _check_contents(contents)
    if contents.startswith(b"\xff\xd8\xff"):
        image = decode_jpeg(contents, channels if channels in (0, 1, 3) else 3, 1, True, False, 1.0, b"")
        image = _with_channels(image, 4) if channels == 4 else image
    elif contents.startswith(b"GIF8"):
        image = _with_channels(_only_frame(decode_gif(contents)), channels)
    else:
        raise _unknown(contents)
    wanted = dtypes.as_dtype(int(dtype)).as_numpy_dtype
    return image if wanted == np.uint8 else image.astype(np.uint16) * 257


FUNCTIONS = {
    function.__name__: function
    for function in (
        decode_jpeg,
        decode_and_crop_jpeg,
        extract_jpeg_shape,
        encode_jpeg,
        encode_jpeg_variable_quality,
        decode_gif,
        decode_bmp,
        decode_image,
    )
}
