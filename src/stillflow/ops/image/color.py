"""RGBToHSV, HSVToRGB, AdjustContrastv2, AdjustHue, AdjustSaturation: colors of pixels."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_TYPES = "T: {float16, bfloat16, float32, float64} = float32"

rgb_to_hsv = define_op(
    "RGBToHSV(images: T) -> (output: T)",
    _TYPES,
    kernel="rgb_to_hsv(images)",
    public="image.rgb_to_hsv",
    doc="Hue, saturation and value, from 0 to 1, for red, green and blue, from 0 to 1.",
)
hsv_to_rgb = define_op(
    "HSVToRGB(images: T) -> (output: T)",
    _TYPES,
    kernel="hsv_to_rgb(images)",
    differentiable=False,
    public="image.hsv_to_rgb",
    doc="Red, green and blue for hue, saturation and value; all from 0 to 1.",
)
adjust_contrast_v2 = define_op(
    "AdjustContrastv2(images: T, contrast_factor: float32) -> (output: T)",
    "T: {float16, float32} = float32",
    kernel="adjust_contrast(images, contrast_factor)",
    differentiable=None,
)
adjust_hue_op = define_op(
    "AdjustHue(images: T, delta: float32) -> (output: T)",
    "T: {float16, float32} = float32",
    kernel="adjust_hue(images, delta)",
    differentiable=None,
)
adjust_saturation_op = define_op(
    "AdjustSaturation(images: T, scale: float32) -> (output: T)",
    "T: {float16, float32} = float32",
    kernel="adjust_saturation(images, scale)",
    differentiable=None,
)


@rgb_to_hsv.shape_rule
@hsv_to_rgb.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 1)
    if dims is None:
        return None
    if dims[-1] not in (3, None):
        raise ShapeError(f"Dimension must be 3 but is {dims[-1]}")
    return (*dims[:-1], 3)


@adjust_contrast_v2.shape_rule
@adjust_hue_op.shape_rule
@adjust_saturation_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    return plain.with_rank_at_least(context.shapes[0], 3)


# ---- The gradient of RGBToHSV -----------------------------------------------------------------------------------

_RED, _GREEN, _BLUE = range(3)

# The derivative of the hue by a color: the two others whose difference counts where it is the largest itself, and
# where another one is: (the largest, the smallest, difference in the numerator, sign, difference below).
_HUE_CASES = (
    (
        (_GREEN, _BLUE),
        (
            (_GREEN, _RED, (_BLUE, _GREEN), 1, (_RED, _GREEN)),
            (_GREEN, _BLUE, None, -1, (_GREEN, _BLUE)),
            (_BLUE, _RED, (_BLUE, _GREEN), 1, (_BLUE, _RED)),
            (_BLUE, _GREEN, None, 1, (_BLUE, _GREEN)),
        ),
    ),
    (
        (_BLUE, _RED),
        (
            (_RED, _GREEN, (_RED, _BLUE), 1, (_RED, _GREEN)),
            (_RED, _BLUE, None, 1, (_RED, _BLUE)),
            (_BLUE, _GREEN, (_RED, _BLUE), 1, (_BLUE, _GREEN)),
            (_BLUE, _RED, None, -1, (_BLUE, _RED)),
        ),
    ),
    (
        (_RED, _GREEN),
        (
            (_RED, _BLUE, (_GREEN, _RED), 1, (_RED, _BLUE)),
            (_RED, _GREEN, None, -1, (_RED, _GREEN)),
            (_GREEN, _BLUE, (_GREEN, _RED), 1, (_GREEN, _BLUE)),
            (_GREEN, _RED, None, 1, (_GREEN, _RED)),
        ),
    ),
)


def _inverse(x):
    """1 / x, and 0 for 0."""
    return ops.div_no_nan(x.dtype.as_numpy_dtype(1), x)


class _Cases:
    """The colors of an image, and where each is the largest or the smallest, as 0 and 1."""

    def __init__(self, image):
        self.dtype = image.dtype
        self.colors = [image[..., i] for i in range(3)]

    def find(self):
        red, green, blue = self.colors
        self.largest = [
            self.as_number((red >= blue) & (red >= green)),
            self.as_number((green > red) & (green >= blue)),
            self.as_number((blue > red) & (blue > green)),
        ]
        self.smallest = [
            self.as_number((red < blue) & (red < green)),
            self.as_number((green <= red) & (green < blue)),
            self.as_number((blue <= red) & (blue <= green)),
        ]

    def as_number(self, condition):
        return ops.cast(condition, self.dtype)

    def is_positive(self, color):
        return self.as_number(self.colors[color] > 0)

    def difference(self, pair):
        return self.colors[pair[0]] - self.colors[pair[1]]

    def by_saturation(self, own, first, second):
        """The derivative of the saturation by a color."""
        is_positive = self.is_positive(own)
        low = ops.add(self.smallest[first] * self.colors[first], self.smallest[second] * self.colors[second])
        if_largest = self.largest[own] * low * _inverse(ops.square(self.colors[own]))
        if_smallest = self.smallest[own] * -1
        high = self.largest[first] * self.colors[first] + self.largest[second] * self.colors[second]
        return is_positive * ops.add(if_largest, if_smallest * _inverse(high))

    def by_hue(self, own, saturation, value):
        """The derivative of the hue by a color."""
        pair, cases = _HUE_CASES[own]
        share = self.is_positive(own) * self.largest[own] * -1 * self.difference(pair)
        share = share * _inverse(ops.square(saturation)) * _inverse(ops.square(value))
        shares = [60 * share]
        for largest, smallest, above, sign, below in cases:
            share = self.is_positive(largest) * self.largest[largest] * self.smallest[smallest]
            if sign < 0:
                share = share * -1
            if above is None:
                share = share * _inverse(self.difference(below))
            else:
                share = share * self.difference(above) * _inverse(ops.square(self.difference(below)))
            shares.append(60 * share)
        total = shares[0]
        for share in shares[1:]:
            total = total + share
        return total / 360


@rgb_to_hsv.gradient
def _(op, grad):
    cases = _Cases(op._inputs[0])
    result = op._outputs[0]
    saturation, value = result[..., 1], result[..., 2]
    cases.find()
    by_saturation = [cases.by_saturation(*order) for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0))]
    by_hue = [cases.by_hue(own, saturation, value) for own in range(3)]
    parts = [
        ops.stack([grad[..., i] * part for part in derivatives], axis=-1)
        for i, derivatives in ((2, cases.largest), (1, by_saturation), (0, by_hue))
    ]
    return ops.add(ops.add(parts[0], parts[1]), parts[2])
