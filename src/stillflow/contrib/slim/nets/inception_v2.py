"""Inception v2, "Batch normalization" (Ioffe and Szegedy 2015)."""

from __future__ import annotations

from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.batch_norms import batch_norm
from stillflow.contrib.layers.plain import dropout, softmax
from stillflow.contrib.slim.nets import inception_stages as _stages
from stillflow.contrib.slim.nets.image_sizes import for_images_of
from stillflow.names import public_module
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.inception_v2", "contrib.slim.python.slim.nets.inception_v2")

_STAGES = [
    _stages.Stages("""
sep_1a:64@7x7/2~1.0
max_2a:3x3/2
2b:64@1x1~0.1
2c:192@3x3
max_3a:3x3/2
Mixed_3b
  0a:64@1x1
  0a:64@1x1~0.09 0b:64@3x3
  0a:64@1x1~0.09 0b:96@3x3 0c:96@3x3
  avg_0a:3x3 0b:32@1x1~0.1
Mixed_3c
  0a:64@1x1
  0a:64@1x1~0.09 0b:96@3x3
  0a:64@1x1~0.09 0b:96@3x3 0c:96@3x3
  avg_0a:3x3 0b:64@1x1~0.1
Mixed_4a
  0a:128@1x1~0.09 1a:160@3x3/2
  0a:64@1x1~0.09 0b:96@3x3 1a:96@3x3/2
  max_1a:3x3/2
Mixed_4b
  0a:224@1x1
  0a:64@1x1~0.09 0b:96@3x3
  0a:96@1x1~0.09 0b:128@3x3 0c:128@3x3
  avg_0a:3x3 0b:128@1x1~0.1
Mixed_4c
  0a:192@1x1
  0a:96@1x1~0.09 0b:128@3x3
  0a:96@1x1~0.09 0b:128@3x3 0c:128@3x3
  avg_0a:3x3 0b:128@1x1~0.1
Mixed_4d
  0a:160@1x1
  0a:128@1x1~0.09 0b:160@3x3
  0a:128@1x1~0.09 0b:160@3x3 0c:160@3x3
  avg_0a:3x3 0b:96@1x1~0.1
Mixed_4e
  0a:96@1x1
  0a:128@1x1~0.09 0b:192@3x3
  0a:160@1x1~0.09 0b:192@3x3 0c:192@3x3
  avg_0a:3x3 0b:96@1x1~0.1
Mixed_5a
  0a:128@1x1~0.09 1a:192@3x3/2
  0a:192@1x1~0.09 0b:256@3x3 1a:256@3x3/2
  max_1a:3x3/2
Mixed_5b
  0a:352@1x1
  0a:192@1x1~0.09 0b:320@3x3
  0a:160@1x1~0.09 0b:224@3x3 0c:224@3x3
  avg_0a:3x3 0b:128@1x1~0.1
Mixed_5c
  0a:352@1x1
  0a:192@1x1~0.09 0b:320@3x3
  0a:192@1x1~0.09 0b:224@3x3 0c:224@3x3
  max_0a:3x3 0b:128@1x1~0.1
""")
]


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16, depth_multiplier=1.0, scope=None):
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
    with variable_scope(scope, "InceptionV2", [inputs]):
        return _stages.build(inputs, _STAGES, final_endpoint, depth)


@for_images_of(224)
def inception_v2(
    inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
    prediction_fn=softmax, spatial_squeeze=True, reuse=None, scope="InceptionV2",
):  # fmt: skip
    """Inception v2, for images of 224 x 224.

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
    _stages.depths(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as scope,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(
            inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with variable_scope("Logits"):
            net = _stages.pooled(net, [7, 7], dropout_keep_prob)
            logits = _stages.logits_of(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def inception_v2_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars"):
    """The arg_scope of the network: ReLU, batch normalization, and an L2 loss of the weights.

    Args:
      weight_decay: the factor of that loss.
      batch_norm_var_collection: the collection of moving averages.
    """
    return _stages.inception_arg_scope(weight_decay, batch_norm_var_collection, **_stages.normalization())
