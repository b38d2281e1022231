"""scipy.misc for old programs: what scipy 1.1 and Pillow 9.5 made of the same arrays."""

import numpy as np
import pytest

from stillflow.runner.libraries import scipy_misc as misc

CHANCE = np.random.RandomState(0)
COLORS = CHANCE.rand(5, 7, 3) * 9 - 3
GREY = CHANCE.rand(6, 4)
BYTES = (CHANCE.rand(4, 6, 3) * 255).astype(np.uint8)


def told(image):
    """The shape, the type, the sum of what is cut to integers, and the first elements."""
    image = np.asarray(image)
    return image.shape, image.dtype.name, int(image.astype(np.int64).sum()), image.ravel()[:5].tolist()


def test_bytescale():
    assert told(misc.bytescale(COLORS)) == ((5, 7, 3), "uint8", 12877, [141, 184, 155, 140, 109])
    assert told(misc.bytescale(GREY, 0.0, 2.0, 200, 10)) == ((6, 4), "uint8", 1598, [65, 66, 64, 31, 101])


@pytest.mark.parametrize(
    ("image", "size", "interp", "told_by_scipy"),
    [
        (COLORS, 50, "bilinear", ((2, 3, 3), "uint8", 2157, [140, 124, 133, 115, 158])),
        (GREY, 2.0, "nearest", ((12, 8), "uint8", 15056, [152, 152, 156, 156, 151])),
        (BYTES, (8, 3), "nearest", ((8, 3, 3), "uint8", 9554, [34, 76, 145, 166, 110])),
        (BYTES, (8, 12), "bilinear", ((8, 12, 3), "uint8", 36548, [73, 157, 109, 63, 137])),
        (BYTES, (8, 12), "bicubic", ((8, 12, 3), "uint8", 36466, [61, 163, 93, 51, 135])),
        (BYTES, (8, 12), "lanczos", ((8, 12, 3), "uint8", 36349, [59, 164, 79, 43, 121])),
    ],
)
def test_imresize(image, size, interp, told_by_scipy):
    assert told(misc.imresize(image, size, interp)) == told_by_scipy


def test_files(tmp_path):
    misc.imsave(tmp_path / "colors.png", COLORS)
    misc.imsave(tmp_path / "grey.png", GREY)
    misc.imsave(str(tmp_path / "bytes"), BYTES, "bmp")
    assert np.array_equal(misc.imread(tmp_path / "bytes"), BYTES)
    assert told(misc.imread(tmp_path / "grey.png")) == ((6, 4), "uint8", 3764, [152, 156, 151, 55, 254])
    assert told(misc.imread(tmp_path / "colors.png", mode="RGB"))[2] == 12877
    shape, dtype, total, first = told(misc.imread(tmp_path / "bytes", flatten=True))
    assert (shape, dtype, total) == ((4, 6), "float32", 3051)
    np.testing.assert_allclose(first, [126.412, 71.308, 149.476, 140.196, 118.842], rtol=1e-5)


def test_images():
    assert told(misc.toimage(COLORS).convert("L")) == ((5, 7), "uint8", 4190, [168, 125, 197, 165, 186])
    assert told(misc.toimage(GREY, mode="I")) == ((6, 4), "int32", 3753, [151, 155, 150, 55, 254])
    assert np.array_equal(misc.toimage(BYTES.transpose(2, 0, 1)), BYTES)
    assert not np.asarray(misc.toimage(GREY, mode="1")).any()
    assert told(misc.fromimage(misc.toimage(GREY, mode="P"))) == (
        (6, 4, 3),
        "uint8",
        11292,
        [152, 152, 152, 156, 156],
    )
    assert told(misc.imrotate(BYTES, 90)) == ((4, 6, 3), "uint8", 5741, [0, 0, 0, 93, 111])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: misc.toimage(np.zeros((2, 5, 5))), ValueError, "does not have a suitable array shape"),
        (lambda: misc.toimage(COLORS, mode="RGBA"), ValueError, "Invalid array shape for mode"),
        (lambda: misc.bytescale(GREY, high=300), ValueError, "`high` should be less than or equal to 255"),
        (lambda: misc.fromimage(3), TypeError, "not a PIL image"),
        (lambda: misc.nothing, AttributeError, "nothing"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
