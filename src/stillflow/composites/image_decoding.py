"""decode_image (BMP, GIF, JPEG, PNG by content) and adjust_jpeg_quality."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.image_types import convert_image_dtype, is_tensor
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


@public("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents, name=None):
    """Whether a string begins as JPEG files do."""
    with name_scope(name, "is_jpeg"):
        return ops.equal(ops.substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def _is_png(contents):
    with name_scope(None, "is_png"):
        return ops.equal(ops.substr(contents, 0, 3), b"\x89PN")


@public("image.decode_image", "io.decode_image")
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The pixels of a JPEG, PNG, GIF or BMP file, [height, width, channels], or [frames, height, width, 3] of a GIF.

    Args:
      contents: a string scalar: what the file holds.
      channels: how many there are to be; None or 0 for what the file has.
      dtype: the type of the pixels; see `convert_image_dtype`.
      expand_animations: whether to return all frames of a GIF rather than the first.

    Raises:
      ValueError: for a number of channels other than 0, 1, 3 and 4.
      At run time tf.errors.InvalidArgumentError for other files, damaged ones, or channels that a format has not.
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        decoder = _Decoder(contents, channels, dtypes.as_dtype(dtype), expand_animations)
        return cond(is_jpeg(contents), decoder.jpeg, decoder.png_or_other, name="cond_jpeg")


@public("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image, jpeg_quality, name=None):
    """An image as it is after it was written as a JPEG file of that quality, from 0 to 100, and read again.

    Needs the extra `images`.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        pixels = convert_image_dtype(image, dtypes.uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        pixels = ops.decode_jpeg(ops.encode_jpeg_variable_quality(pixels, jpeg_quality))
        return convert_image_dtype(pixels, image.dtype)


@public("image.random_jpeg_quality")
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a random quality, at least the first and below the second.

    Raises ValueError for bounds in the wrong order or not from 0 to 100.
    """
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality, None)


class _Decoder:
    """What each format takes: nodes that are made inside of the branches of cond."""

    def __init__(self, contents, channels, dtype, expand_animations):
        self.contents = contents
        self.channels = channels
        self.dtype = dtype
        self.expand_animations = expand_animations
        self.begin = ops.substr(contents, 0, 3)

    def _checked_channels(self, wrong, names):
        """Whether the channels are none of `wrong`."""
        channels = 0 if self.channels is None else self.channels
        found = [ops.not_equal(channels, count, name=name) for count, name in zip(wrong, names, strict=True)]
        return found[0] if len(found) == 1 else ops.logical_and(*found)

    def _converted(self, is_right, message, decode, is_first_only=False):
        with get_default_graph().control_dependencies([checks.assert_that(is_right, [message])]):
            result = convert_image_dtype(decode(), self.dtype)
            return ops.gather(result, 0) if is_first_only else result

    def jpeg(self):
        return self._converted(
            self._checked_channels([4], ["check_jpeg_channels"]),
            "Channels must be in (None, 0, 1, 3) when decoding JPEG images",
            lambda: ops.decode_jpeg(self.contents, channels=self.channels or 0),
        )

    def png_or_other(self):
        return cond(_is_png(self.contents), self.png, self.gif_or_other, name="cond_png")

    def png(self):
        dtype = dtypes.uint8 if self.dtype == dtypes.uint8 else dtypes.uint16
        pixels = ops.decode_png(self.contents, channels=self.channels or 0, dtype=dtype)
        return convert_image_dtype(pixels, self.dtype)

    def gif_or_other(self):
        return cond(ops.equal(self.begin, b"GIF", name="is_gif"), self.gif, self.bmp, name="cond_gif")

    def gif(self):
        return self._converted(
            self._checked_channels([1, 4], ["check_gif_channels"] * 2),
            "Channels must be in (None, 0, 3) when decoding GIF images",
            lambda: ops.decode_gif(self.contents),
            is_first_only=not self.expand_animations,
        )

    def bmp(self):
        is_bmp = ops.equal(ops.substr(self.contents, 0, 2), "BM", name="is_bmp")
        message = "Unable to decode bytes as JPEG, PNG, GIF, or BMP"
        found = [checks.assert_that(is_bmp, [message])]
        has_channels = self._checked_channels([1], ["check_channels"])
        found.append(checks.assert_that(has_channels, ["Channels must be in (None, 0, 3) when decoding BMP images"]))
        with get_default_graph().control_dependencies(found):
            return convert_image_dtype(ops.decode_bmp(self.contents), self.dtype)
