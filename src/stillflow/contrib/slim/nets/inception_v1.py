"""Inception v1, "Going deeper with convolutions" (Szegedy et al. 2014)."""

from __future__ import annotations

from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.batch_norms import batch_norm
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.plain import dropout, softmax
from stillflow.contrib.layers.pooling import avg_pool2d
from stillflow.contrib.slim.nets import inception_stages as _stages
from stillflow.contrib.slim.nets.image_sizes import for_images_of
from stillflow.names import public_module
from stillflow.variables.initializers import TruncatedNormal
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.inception_v1", "contrib.slim.python.slim.nets.inception_v1")

_STAGES = [
    _stages.Stages("""
1a:64@7x7/2
max_2a:3x3/2
2b:64@1x1
2c:192@3x3
max_3a:3x3/2
Mixed_3b
  0a:64@1x1
  0a:96@1x1 0b:128@3x3
  0a:16@1x1 0b:32@3x3
  max_0a:3x3 0b:32@1x1
Mixed_3c
  0a:128@1x1
  0a:128@1x1 0b:192@3x3
  0a:32@1x1 0b:96@3x3
  max_0a:3x3 0b:64@1x1
max_4a:3x3/2
Mixed_4b
  0a:192@1x1
  0a:96@1x1 0b:208@3x3
  0a:16@1x1 0b:48@3x3
  max_0a:3x3 0b:64@1x1
Mixed_4c
  0a:160@1x1
  0a:112@1x1 0b:224@3x3
  0a:24@1x1 0b:64@3x3
  max_0a:3x3 0b:64@1x1
Mixed_4d
  0a:128@1x1
  0a:128@1x1 0b:256@3x3
  0a:24@1x1 0b:64@3x3
  max_0a:3x3 0b:64@1x1
Mixed_4e
  0a:112@1x1
  0a:144@1x1 0b:288@3x3
  0a:32@1x1 0b:64@3x3
  max_0a:3x3 0b:64@1x1
Mixed_4f
  0a:256@1x1
  0a:160@1x1 0b:320@3x3
  0a:32@1x1 0b:128@3x3
  max_0a:3x3 0b:128@1x1
max_5a:2x2/2
Mixed_5b
  0a:256@1x1
  0a:160@1x1 0b:320@3x3
  0a:32@1x1 0a:128@3x3
  max_0a:3x3 0b:128@1x1
Mixed_5c
  0a:384@1x1
  0a:192@1x1 0b:384@3x3
  0a:48@1x1 0b:128@3x3
  max_0a:3x3 0b:128@1x1
""")
]


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    """(the output of the stage `final_endpoint`, {stage: its output}). Raises ValueError for no such stage."""
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([convolution2d, fully_connected], weights_initializer=TruncatedNormal(0.0, 0.01)),
    ):
        return _stages.build(inputs, _STAGES, final_endpoint, int)


@for_images_of(224)
def inception_v1(
    inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, prediction_fn=softmax, spatial_squeeze=True,
    reuse=None, scope="InceptionV1",
):  # fmt: skip
    """Inception v1, for images of 224 x 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: how many classes there are.
      is_training, dropout_keep_prob: whether to drop out and to normalize by the batch, and what share to keep.
      prediction_fn: makes predictions of logits.
      spatial_squeeze: whether logits lose the image's dimensions.
      reuse: whether variables are there already.
      scope: the variable scope.

    Returns:
      (logits, {stage: its output}).
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as scope,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=scope)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = _stages.logits_of(net, num_classes, "Conv2d_0c_1x1", spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True, batch_norm_var_collection="moving_vars"):
    """The arg_scope of the network: ReLU, batch normalization, and an L2 loss of the weights.

    Args:
      weight_decay: the factor of that loss.
      use_batch_norm: whether to normalize.
      batch_norm_var_collection: the collection of moving averages.
    """
    normalizer_fn = batch_norm if use_batch_norm else None
    return _stages.inception_arg_scope(
        weight_decay, batch_norm_var_collection, normalizer_fn, **_stages.normalization()
    )
