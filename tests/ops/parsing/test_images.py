"""Images: what is refused, and files of Pillow. PNG files to the byte: programs/snippets/texts.py."""

import contextlib
import io
import struct
import zlib

import numpy as np
import pytest

import stillflow as tf


def run(tensors, feeds=None):
    with tf.Session() as session:
        return session.run(tensors, feeds)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, color, data, *more):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    chunks = [chunk(b"IHDR", header), *more, chunk(b"IDAT", data), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


GOOD = png(2, 1, 8, 2, zlib.compress(b"\0" + bytes(range(6))))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "got empty file"),
        (b"junk", "got unknown format starting with 'junk'"),
        (GOOD[:50], "Invalid PNG data, size 50"),
        (GOOD[:20] + b"x" + GOOD[21:], "Invalid PNG data"),
        (GOOD.replace(b"IDAT", b"IDAX"), "Invalid PNG data"),
        (png(0, 1, 8, 2, zlib.compress(b"")), "Invalid PNG data"),
        (png(2, 1, 8, 7, zlib.compress(b"\0" * 9)), "Invalid PNG data"),
        (png(2, 1, 3, 0, zlib.compress(b"\0" * 9)), "Invalid PNG data"),
        (png(2, 1, 8, 2, zlib.compress(b"\5" + bytes(6))), "Invalid PNG data"),
        (png(2, 1, 8, 2, zlib.compress(b"\0" * 5)), "Invalid PNG data"),
        (png(2, 1, 8, 2, b"junk"), "Invalid PNG data"),
        (png(2, 1, 8, 3, zlib.compress(b"\0" * 3)), "Invalid PNG data"),  # no palette
        (png(2, 1, 8, 3, zlib.compress(b"\0\0\1"), chunk(b"PLTE", b"abc")), "Invalid PNG data"),  # beyond its end
        (png(2**31 - 1, 2**31 - 1, 8, 2, b"junk"), "PNG size too large for int: 2147483647 by 2147483647"),
        (png(50000, 50000, 8, 2, bytes(100)), "PNG size too large for int: 50000 by 50000"),
        (png(20000, 20000, 8, 2, bytes(100)), "Invalid PNG data"),
    ],
)
def test_files_that_are_no_png(contents, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.image.decode_png(contents))


def test_every_damaged_byte_of_a_png_is_survived():
    contents = tf.placeholder(tf.string, [])
    image = tf.image.decode_png(contents)
    with tf.Session() as session:
        for i in range(len(GOOD)):
            for damaged in (GOOD[:i], GOOD[:i] + bytes([GOOD[i] ^ 0x11]) + GOOD[i + 1 :]):
                with contextlib.suppress(tf.errors.InvalidArgumentError):
                    assert session.run(image, {contents: damaged}).shape == (1, 2, 3)
        assert session.run(image, {contents: GOOD}).tolist() == [[[0, 1, 2], [3, 4, 5]]]


@pytest.mark.parametrize("contents", [b"", b"no image", GOOD[:40], b"GIF89a", b"BM", b"\xff\xd8\xff", b"\x89PN"])
@pytest.mark.parametrize("is_constant", [True, False])
def test_decode_image_refuses_what_is_no_image(contents, is_constant):
    source = tf.constant(contents) if is_constant else tf.placeholder(tf.string, [])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.image.decode_image(source), None if is_constant else {source: contents})


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
@pytest.mark.parametrize("options", [{}, {"optimize": True}, {"bits": 4}], ids=str)
def test_files_of_pillow(mode, options, rng):
    pillow = pytest.importorskip("PIL.Image")
    if "bits" in options and mode != "P":
        return
    pixels = rng.integers(0, 256, (37, 23, 4), dtype=np.uint8)
    image = pillow.fromarray(pixels)
    image = pillow.fromarray(pixels[..., 0].astype(np.uint16) * 257) if mode == "I;16" else image
    image = image.convert("RGB").convert("P") if mode == "P" else image if mode == "I;16" else image.convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **options)
    expected = pillow.open(io.BytesIO(buffer.getvalue()))
    wanted = {"1": "L", "P": "RGB", "I;16": "I;16"}.get(mode, mode)
    expected = np.asarray(expected if mode == "I;16" else expected.convert(wanted))
    expected = expected.reshape(37, 23, -1)
    dtype = tf.uint16 if mode == "I;16" else tf.uint8
    np.testing.assert_array_equal(run(tf.image.decode_png(buffer.getvalue(), dtype=dtype)), expected)


def interlaced(pixels):
    """A PNG file of gray pixels in the seven passes of Adam7."""
    data = b""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    for x, y, step_x, step_y in passes:
        part = pixels[y::step_y, x::step_x]
        data += b"".join(b"\0" + row.tobytes() for row in part) if part.size else b""
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 1)
    chunks = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (8, 8), (13, 21)])
def test_interlaced_files(shape, rng):
    pixels = rng.integers(0, 256, shape, dtype=np.uint8)
    np.testing.assert_array_equal(run(tf.image.decode_png(interlaced(pixels)))[..., 0], pixels)


def test_transparent_colors_become_alpha():
    gray = png(2, 1, 8, 0, zlib.compress(b"\0\x05\x06"), chunk(b"tRNS", b"\0\5"))
    assert run(tf.image.decode_png(gray, channels=4)).tolist() == [[[5, 5, 5, 0], [6, 6, 6, 255]]]
    assert run(tf.image.decode_png(gray)).tolist() == [[[5], [6]]]
    palette = [chunk(b"PLTE", b"abcdef"), chunk(b"tRNS", b"\x07")]
    colors = png(2, 1, 8, 3, zlib.compress(b"\0\0\1"), *palette)
    assert run(tf.image.decode_png(colors)).tolist() == [[[97, 98, 99, 7], [100, 101, 102, 255]]]
    assert run(tf.image.decode_png(colors, channels=3)).tolist() == [[[97, 98, 99], [100, 101, 102]]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.image.decode_png(GOOD, channels=2), "channels must be 0, 1, 3, or 4, got 2"),
        (lambda: tf.image.decode_jpeg(b"junk"), "got unknown format starting with 'junk'"),
        (lambda: tf.image.decode_jpeg(b"\xff\xd8\xffx", ratio=3), "ratio must be 1, 2, 4, or 8, got 3"),
        (lambda: tf.image.decode_jpeg(b"\xff\xd8\xffx", channels=4), "channels must be 0, 1, or 3 for JPEG, got 4"),
        (lambda: tf.image.decode_jpeg(b"\xff\xd8\xffx", dct_method="X"), "dct_method must be one of"),
        (lambda: tf.image.extract_jpeg_shape(b"junk"), "Invalid JPEG data, size 4"),
        (lambda: tf.image.decode_bmp(b"junk"), "Incomplete bmp content, requires at least 32 bytes"),
        (lambda: tf.image.decode_bmp(b"BM" + bytes(60)), "Number of channels must be 1, 3 or 4, was 0"),
        (lambda: tf.image.encode_png(np.zeros([2, 2, 5], np.uint8)), "must have 1, 2, 3, or 4 channels, got 5"),
        (
            lambda: tf.image.encode_png(np.zeros([2, 2, 3], np.uint8), compression=11),
            r"be in \[-1,9\], got 11",
        ),
        (lambda: tf.image.encode_jpeg(np.zeros([2, 2, 3], np.uint8), quality=101), r"quality must be in \[0,100\]"),
        (lambda: tf.image.encode_jpeg(np.zeros([2, 2, 2], np.uint8)), r"must have 1 or 3 channels, got \[2,2,2\]"),
        (lambda: tf.image.encode_jpeg(np.zeros([2, 2, 1], np.uint8), format="rgb"), "format rgb expects 3 channels"),
        (lambda: tf.image.encode_jpeg(np.zeros([0, 2, 1], np.uint8)), "cannot be a JPEG"),
    ],
)
def test_what_is_refused(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())


def bmp(width, height, channels, pixels):
    header = b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54)
    return header + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8 * channels, 0, 0, 0, 0, 0, 0) + pixels


@pytest.mark.parametrize("channels", [3, 4])
def test_bmp_files(channels, rng):
    pillow = pytest.importorskip("PIL.Image")
    pixels = rng.integers(0, 256, (5, 7, channels), dtype=np.uint8)
    rows = pixels[::-1][..., [2, 1, 0, 3][:channels]].reshape(5, -1)
    rows = np.pad(rows, [(0, 0), (0, -rows.shape[1] % 4)])
    contents = bmp(7, 5, channels, rows.tobytes())
    np.testing.assert_array_equal(run(tf.image.decode_bmp(contents)), pixels)
    if channels == 3:
        np.testing.assert_array_equal(np.asarray(pillow.open(io.BytesIO(contents))), pixels)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incomplete bmp content"):
        run(tf.image.decode_bmp(contents[:-1]))
    for height in (-(2**31), 2**30):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.image.decode_bmp(bmp(2**30, height, 3, b"")))


def test_jpeg_files_are_encoded_as_pillow_does(rng):
    pillow = pytest.importorskip("PIL.Image")
    pixels = rng.integers(0, 256, (16, 24, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    pillow.fromarray(pixels).save(buffer, "JPEG", quality=95, subsampling=2, dpi=(300, 300))
    assert run(tf.image.encode_jpeg(pixels)) == buffer.getvalue()
    encoded = run(
        tf.image.encode_jpeg(pixels, quality=50, density_unit="cm", x_density=7, y_density=8, xmp_metadata="x")
    )
    image = pillow.open(io.BytesIO(encoded))
    assert image.size == (24, 16) and image.info["jfif_unit"] == 2 and image.info["jfif_density"] == (7, 8)
    assert run(tf.image.extract_jpeg_shape(encoded)).tolist() == [16, 24, 3]
    assert run(tf.image.is_jpeg(encoded)) and not run(tf.image.is_jpeg(GOOD))


def test_jpeg_files_are_decoded():
    pytest.importorskip("simplejpeg")
    pixels = np.add.outer(np.arange(32) * 3, np.arange(48) * 2)[..., None] + np.uint8([0, 20, 60])
    pixels = pixels.astype(np.uint8)
    encoded = run(tf.image.encode_jpeg(pixels))
    decoded = run(tf.image.decode_jpeg(encoded))
    assert decoded.shape == pixels.shape and np.abs(decoded.astype(int) - pixels).max() < 8
    assert run(tf.image.decode_jpeg(encoded, channels=1, ratio=2)).shape == (16, 24, 1)
    part = run(tf.image.decode_and_crop_jpeg(encoded, [2, 3, 5, 7]))
    np.testing.assert_array_equal(part, decoded[2:7, 3:10])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window"):
        run(tf.image.decode_jpeg(encoded[:60]))


def test_a_missing_library_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    for image, library in (
        (tf.image.decode_jpeg(b"\xff\xd8\xffx"), "simplejpeg"),
        (tf.image.encode_jpeg(np.zeros([1, 1, 1], np.uint8)), "pillow"),
        (tf.image.decode_gif(b"GIF89a"), "pillow"),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match=rf"needs {library}, .*install stillflow\[images\]"):
            run(image)


def test_gif_files(rng):
    pillow = pytest.importorskip("PIL.Image")
    frames = [pillow.fromarray(np.full((4, 5, 3), value, np.uint8)) for value in (0, 255)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    decoded = run(tf.image.decode_gif(buffer.getvalue()))
    assert decoded.shape == (2, 4, 5, 3) and decoded.reshape(2, -1).tolist() == [[0] * 60, [255] * 60]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Got 2 frames, but animated gifs can only"):
        run(tf.image.decode_png(buffer.getvalue()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid GIF data"):
        run(tf.image.decode_gif(buffer.getvalue()[:12]))
    assert run(tf.image.decode_gif(GOOD)).shape == (1, 1, 2, 3)
