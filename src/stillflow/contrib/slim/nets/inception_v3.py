"""Inception v3, "Rethinking the Inception architecture for computer vision" (Szegedy et al. 2015)."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.batch_norms import batch_norm
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.plain import dropout, softmax
from stillflow.contrib.layers.pooling import avg_pool2d, max_pool2d
from stillflow.contrib.slim.nets import inception_stages as _stages
from stillflow.contrib.slim.nets.image_sizes import for_images_of
from stillflow.graph.collections import GraphKeys
from stillflow.names import public_module
from stillflow.variables.initializers import TruncatedNormal
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.inception_v3", "contrib.slim.python.slim.nets.inception_v3")

_STAGES = [
    _stages.Stages(
        """
1a:32@3x3/2
2a:32@3x3
2b:64@3x3s
max_3a:3x3/2
3b:80@1x1
4a:192@3x3
max_5a:3x3/2
""",
        padding="VALID",
    ),
    _stages.Stages("""
Mixed_5b
  0a:64@1x1
  0a:48@1x1 0b:64@5x5
  0a:64@1x1 0b:96@3x3 0c:96@3x3
  avg_0a:3x3 0b:32@1x1
Mixed_5c
  0a:64@1x1
  0b:48@1x1 Conv_1_0c_5x5=0:64@5x5
  0a:64@1x1 0b:96@3x3 0c:96@3x3
  avg_0a:3x3 0b:64@1x1
Mixed_5d
  0a:64@1x1
  0a:48@1x1 0b:64@5x5
  0a:64@1x1 0b:96@3x3 0c:96@3x3
  avg_0a:3x3 0b:64@1x1
Mixed_6a
  Conv2d_1a_1x1=0:384@3x3/2v
  0a:64@1x1 0b:96@3x3 Conv2d_1a_1x1=0:96@3x3/2v
  max_1a:3x3/2v
Mixed_6b
  0a:192@1x1
  0a:128@1x1 0b:128@1x7 0c:192@7x1
  0a:128@1x1 0b:128@7x1 0c:128@1x7 0d:128@7x1 0e:192@1x7
  avg_0a:3x3 0b:192@1x1
Mixed_6c
  0a:192@1x1
  0a:160@1x1 0b:160@1x7 0c:192@7x1
  0a:160@1x1 0b:160@7x1 0c:160@1x7 0d:160@7x1 0e:192@1x7
  avg_0a:3x3 0b:192@1x1
Mixed_6d
  0a:192@1x1
  0a:160@1x1 0b:160@1x7 0c:192@7x1
  0a:160@1x1 0b:160@7x1 0c:160@1x7 0d:160@7x1 0e:192@1x7
  avg_0a:3x3 0b:192@1x1
Mixed_6e
  0a:192@1x1
  0a:192@1x1 0b:192@1x7 0c:192@7x1
  0a:192@1x1 0b:192@7x1 0c:192@1x7 0d:192@7x1 0e:192@1x7
  avg_0a:3x3 0b:192@1x1
Mixed_7a
  0a:192@1x1 1a:320@3x3/2v
  0a:192@1x1 0b:192@1x7 0c:192@7x1 1a:192@3x3/2v
  max_1a:3x3/2v
Mixed_7b
  0a:320@1x1
  0a:384@1x1 0b:384@1x3+0b:384@3x1
  0a:448@1x1 0b:384@3x3 0c:384@1x3+0d:384@3x1
  avg_0a:3x3 0b:192@1x1
Mixed_7c
  0a:320@1x1
  0a:384@1x1 0b:384@1x3+0c:384@3x1
  0a:448@1x1 0b:384@3x3 0c:384@1x3+0d:384@3x1
  avg_0a:3x3 0b:192@1x1
"""),
]


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16, depth_multiplier=1.0, scope=None):
    """(the output of the stage `final_endpoint`, {stage: its output}).

    Args:
      inputs: images, [batch, height, width, channels].
      final_endpoint: the name of the last stage.
      min_depth, depth_multiplier: the factor of all numbers of channels, and the least that comes of it.
      scope: the variable scope.

    Raises:
      ValueError: for no such stage, or a factor that is not more than 0.
    """
    depth = _stages.depths(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV3", [inputs]):
        return _stages.build(inputs, _STAGES, final_endpoint, depth)


@for_images_of(299)
def inception_v3(
    inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
    prediction_fn=softmax, spatial_squeeze=True, reuse=None, scope="InceptionV3",
):  # fmt: skip
    """Inception v3, for images of 299 x 299. Its end points have logits of a second classifier, "AuxLogits".

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: how many classes there are.
      is_training, dropout_keep_prob: whether to drop out and to normalize by the batch, and what share to keep.
      min_depth, depth_multiplier: the factor of all numbers of channels, and the least that comes of it.
      prediction_fn: makes predictions of logits.
      spatial_squeeze: whether logits lose the image's dimensions.
      reuse: whether variables are there already.
      scope: the variable scope.

    Returns:
      (logits, {stage: its output}).

    Raises:
      ValueError: for a factor that is not more than 0.
    """
    depth = _stages.depths(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as scope,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(
            inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with (
            arg_scope([convolution2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"),
            variable_scope("AuxLogits"),
        ):
            second = _second_logits(end_points["Mixed_6e"], num_classes, depth, spatial_squeeze)
            end_points["AuxLogits"] = second
        with variable_scope("Logits"):
            net = _stages.pooled(net, [8, 8], dropout_keep_prob)
            end_points["PreLogits"] = net
            logits = _stages.logits_of(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _second_logits(net, num_classes, depth, spatial_squeeze):
    net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
    net = convolution2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
    kernel = _stages.fitting_kernel(net, [5, 5])
    net = convolution2d(
        net,
        depth(768),
        kernel,
        weights_initializer=TruncatedNormal(0.0, 0.01),
        padding="VALID",
        scope=f"Conv2d_2a_{kernel[0]}x{kernel[1]}",
    )
    net = convolution2d(
        net,
        num_classes,
        [1, 1],
        activation_fn=None,
        normalizer_fn=None,
        weights_initializer=TruncatedNormal(0.0, 0.001),
        scope="Conv2d_2b_1x1",
    )
    return ops.squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


def inception_v3_arg_scope(
    weight_decay=0.00004, batch_norm_var_collection="moving_vars", batch_norm_decay=0.9997, batch_norm_epsilon=0.001,
    updates_collections=GraphKeys.UPDATE_OPS, use_fused_batchnorm=True,
):  # fmt: skip
    """The arg_scope of the network: ReLU, batch normalization, and an L2 loss of the weights.

    Args:
      weight_decay: the factor of that loss.
      batch_norm_var_collection: the collection of moving averages.
      batch_norm_decay, batch_norm_epsilon, updates_collections, use_fused_batchnorm: of batch normalization.
    """
    given = _stages.normalization(
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
    return _stages.inception_arg_scope(weight_decay, batch_norm_var_collection, **given)
