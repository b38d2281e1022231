"""SingleImageRandomDotStereograms of tf.contrib.image: depths for two eyes."""

from __future__ import annotations

from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_NAMES = (
    "hidden_surface_removal, convergence_dots_size, dots_per_inch, eye_separation, mu, normalize, normalize_max, "
    "normalize_min, border_level, number_colors, output_image_shape, output_data_window"
)
_stereogram = define_op(
    "SingleImageRandomDotStereograms(depth_values: T) -> (image: uint8)",
    "T: {float64, float32, int64, int32}; hidden_surface_removal: bool = true; convergence_dots_size: int = 8; "
    "dots_per_inch: int = 72; eye_separation: float = 2.5; mu: float = 0.33329999446868896; normalize: bool = true; "
    "normalize_max: float = -100.0; normalize_min: float = 100.0; border_level: float = 0.0; "
    "number_colors: int = 256; output_image_shape: shape = [1024,768,1]; output_data_window: shape = [1022,757]",
    kernel=f"random_dot_stereogram(depth_values | {_NAMES})",
    differentiable=False,
)
_GRAYS = 256


@_stereogram.shape_rule
def _(context):
    width, height, _channels = plain.with_rank(context.attrs["output_image_shape"]._dims, 3)
    return height, width, 3 if context.attrs["number_colors"] > _GRAYS else 1


@public("contrib.image.single_image_random_dot_stereograms")
def single_image_random_dot_stereograms(
    depth_values,
    hidden_surface_removal=None,
    convergence_dots_size=None,
    dots_per_inch=None,
    eye_separation=None,
    mu=None,
    normalize=None,
    normalize_max=None,
    normalize_min=None,
    border_level=None,
    number_colors=None,
    output_image_shape=None,
    output_data_window=None,
):
    """An image of random dots in which two eyes that look through it see depths.

    "Displaying 3D images: algorithms for single-image random-dot stereograms", Thimbleby et al. 1994. The dots are
    the same in each run.

    Args:
      depth_values: float64, float32, int64 or int32 [rows, columns]; what is greater is nearer.
      hidden_surface_removal: whether points that one eye cannot see are left out, by default True.
      convergence_dots_size: pixels of the two dots at the bottom, 8; 0 for none.
      dots_per_inch: of where it is shown, 72.
      eye_separation: in inches, 2.5.
      mu: the depth of the field as a part of the distance from the eyes, 0.3333.
      normalize: whether depths are brought to [0, 1], by default True.
      normalize_max, normalize_min: which depths become 1 and 0; by default (-100 and 100) those that there are.
      border_level: the depth around the window, 0 (far).
      number_colors: 2 (black and white), 256 (gray), or more (color), by default 256.
      output_image_shape: [width, height, channels], by default [1024, 768, 1]; there are 3 channels in color.
      output_data_window: [width, height] of what shows the depths, by default [1022, 757].

    Returns:
      A uint8 tensor [height, width, 1 or 3].
    """
    return _stereogram(
        depth_values,
        hidden_surface_removal=hidden_surface_removal,
        convergence_dots_size=convergence_dots_size,
        dots_per_inch=dots_per_inch,
        eye_separation=eye_separation,
        mu=mu,
        normalize=normalize,
        normalize_max=normalize_max,
        normalize_min=normalize_min,
        border_level=border_level,
        number_colors=number_colors,
        output_image_shape=output_image_shape,
        output_data_window=output_data_window,
    )
