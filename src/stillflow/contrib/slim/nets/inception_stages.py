"""What Inception networks are built of: stages, written as text, and what classifies their output.

A stage is a layer, or a block of branches that are concatenated. The text of a layer is

    [max_|avg_|sep_]POSITION:[DEPTH@]HxW[/STRIDE][v|s][~STDDEV]

as "0b:128@3x3" for a convolution in the scope Conv2d_0b_3x3, and "max_1a:3x3/2v" for a pool with stride 2; v and s
are padding that is not the stage's own, and ~ is the deviation of the initial weights. Convolutions joined by "+" are
made of the same tensor and concatenated. NAME= before it names a scope that does not follow from the rest.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.batch_norms import batch_norm
from stillflow.contrib.layers.convolving import convolution2d, separable_convolution2d
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.plain import dropout
from stillflow.contrib.layers.pooling import avg_pool2d, max_pool2d
from stillflow.contrib.layers.regularizers import l2_regularizer
from stillflow.graph.collections import GraphKeys
from stillflow.variables.initializers import TruncatedNormal
from stillflow.variables.layer_initializers import variance_scaling_initializer
from stillflow.variables.scope import variable_scope

_LAYER = re.compile(
    r"(?:(?P<scope>\w+)=)?(?P<kind>max_|avg_|sep_)?(?P<position>\w+):(?:(?P<depth>\d+)@)?(?P<h>\d)x(?P<w>\d)"
    r"(?:/(?P<stride>\d))?(?P<padding>[vs])?(?:~(?P<stddev>[\d.]+))?"
)
_PREFIXES = {"max_": "MaxPool", "avg_": "AvgPool", "sep_": "Conv2d", None: "Conv2d"}
_PADDINGS = {"v": "VALID", "s": "SAME"}


class Stages(NamedTuple):
    """The stages of a network, with the padding and initializer of their layers.

    `text` has a stage on each line that does not begin with a blank: a layer, or the name of a block whose branches
    are the lines after it.
    """

    text: str
    padding: str = "SAME"


def _stages(text):
    """(name, the text of a layer or the list of a block's branches) of each stage."""
    found: list = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            found[-1][1].append(line.strip())
        elif ":" in line:
            found.append((_scope_of(_parsed(line)), line))
        else:
            found.append((line, []))
    return found


def _parsed(text):
    """The match of a layer's text. Raises ValueError for what is none."""
    match = _LAYER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no layer")
    return match


def _scope_of(match):
    return match["scope"] or f"{_PREFIXES[match['kind']]}_{match['position']}_{match['h']}x{match['w']}"


def _layer(net, text, depth):
    """A layer, or the concatenation of several."""
    if "+" in text:
        return ops.concat([_layer(net, part, depth) for part in text.split("+")], 3)
    match = _parsed(text)
    given = {"scope": _scope_of(match)}
    if match["stride"]:
        given["stride"] = int(match["stride"])
    if match["padding"]:
        given["padding"] = _PADDINGS[match["padding"]]
    if match["stddev"]:
        given["weights_initializer"] = TruncatedNormal(0.0, float(match["stddev"]))
    kernel = [int(match["h"]), int(match["w"])]
    if match["kind"] in ("max_", "avg_"):
        return {"max_": max_pool2d, "avg_": avg_pool2d}[match["kind"]](net, kernel, **given)
    channels = depth(int(match["depth"]))
    if match["kind"] == "sep_":
        given["depth_multiplier"] = min(int(channels / 3), 8)
        return separable_convolution2d(net, channels, kernel, **given)
    return convolution2d(net, channels, kernel, **given)


def _block(net, name, branches, depth):
    with variable_scope(name):
        outputs = []
        for number, branch in enumerate(branches):
            with variable_scope(f"Branch_{number}"):
                output = net
                for layer in branch.split():
                    output = _layer(output, layer, depth)
                outputs.append(output)
        return ops.concat(outputs, 3)


def build(net, stages, final_endpoint, depth):
    """(the output of the stage `final_endpoint`, {stage: its output}). Raises ValueError if there is no such stage.

    Args:
      net: the images.
      stages: a list of Stages.
      final_endpoint: the name of the last stage to make.
      depth: makes a layer's number of channels of that in the text.
    """
    end_points = {}
    layers = [convolution2d, max_pool2d, avg_pool2d, separable_convolution2d]
    for part in stages:
        with arg_scope(layers, stride=1, padding=part.padding):
            for name, made in _stages(part.text):
                net = _layer(net, made, depth) if isinstance(made, str) else _block(net, name, made, depth)
                end_points[name] = net
                if name == final_endpoint:
                    return net, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def depths(depth_multiplier, min_depth):
    """The function that scales numbers of channels. Raises ValueError unless the factor is more than 0."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def fitting_kernel(tensor, kernel_size):
    """A kernel that is no larger than the image, where its size is known."""
    height, width = tensor.get_shape().as_list()[1:3]
    if height is None or width is None:
        return kernel_size
    return [min(height, kernel_size[0]), min(width, kernel_size[1])]


def logits_of(net, num_classes, scope, spatial_squeeze):
    """Logits by a convolution of 1 x 1, without the image's dimensions if that is asked for."""
    logits = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope)
    return ops.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def pooled(net, kernel, dropout_keep_prob):
    """The mean over the image, with dropout."""
    kernel = fitting_kernel(net, kernel)
    net = avg_pool2d(net, kernel, padding="VALID", scope=f"AvgPool_1a_{kernel[0]}x{kernel[1]}")
    return dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")


def inception_arg_scope(weight_decay, variables_collection, normalizer_fn=batch_norm, **batch_norm_params):
    """The arg_scope of the networks: ReLU after batch normalization, and an L2 loss of the weights."""
    batch_norm_params["variables_collections"] = {
        "beta": None,
        "gamma": None,
        "moving_mean": [variables_collection],
        "moving_variance": [variables_collection],
    }
    with (
        arg_scope([convolution2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [convolution2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=ops.relu,
            normalizer_fn=normalizer_fn,
            normalizer_params=batch_norm_params if normalizer_fn else {},
        ) as scope,
    ):
        return scope


def normalization(**given):
    """The arguments of batch normalization that the networks share."""
    return {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS, **given}
