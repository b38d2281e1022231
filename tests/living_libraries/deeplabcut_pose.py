"""DeepLabCut's TensorFlow engine: a net for points of a body, trained on generated images, finds them in others.

The packages around the engine load PyTorch and what reads videos, so that its modules are taken alone.
"""

import importlib
import importlib.util
import sys
import types

import numpy as np
import tensorflow as tf
import tf_slim as slim

_ENGINE = "deeplabcut.pose_estimation_tensorflow"


def take_alone(name):
    """Makes a package without what its __init__ loads."""
    spec = importlib.util.find_spec(name)
    package = sys.modules[name] = types.ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    return package


for name in ("deeplabcut", "deeplabcut.utils", _ENGINE, _ENGINE + ".core", _ENGINE + ".datasets"):
    take_alone(name)
Batch = importlib.import_module(_ENGINE + ".datasets.utils").Batch
sys.modules[_ENGINE + ".datasets"].Batch = Batch
from deeplabcut.pose_estimation_tensorflow.default_config import cfg
from deeplabcut.pose_estimation_tensorflow.nnets import PoseNetFactory

SIZE, STRIDE = 64, 8


def pictures(count, seed):
    """Dark noisy images with one bright spot of a colour for each of two points; where the points are."""
    random = np.random.RandomState(seed)
    images = random.uniform(0, 40, [count, SIZE, SIZE, 3]).astype(np.float32)
    places = random.randint(1, SIZE // STRIDE - 1, [count, 2, 2])
    scores = np.zeros([count, SIZE // STRIDE, SIZE // STRIDE, 2], np.float32)
    for image, score, points in zip(images, scores, places, strict=True):
        for point, (y, x) in enumerate(points):
            image[y * STRIDE : (y + 1) * STRIDE, x * STRIDE : (x + 1) * STRIDE, point] += 200
            score[y, x, point] = 1
    return images, scores, places


cfg.update(net_type="mobilenet_v2_0.35", num_joints=2, all_joints=[[0], [1]], weigh_part_predictions=False)
cfg.update(batch_size=4, stride=8.0, is_training=True)
tf.compat.v1.set_random_seed(1)
images, scores, _ = pictures(16, 0)
inputs = tf.compat.v1.placeholder(tf.float32, [4, SIZE, SIZE, 3])
targets = tf.compat.v1.placeholder(tf.float32, [4, SIZE // STRIDE, SIZE // STRIDE, 2])
losses = PoseNetFactory.create(cfg).train({Batch.inputs: inputs, Batch.part_score_targets: targets})
train_op = slim.learning.create_train_op(losses["total_loss"], tf.compat.v1.train.AdamOptimizer(2e-3))
with tf.compat.v1.Session() as session:
    session.run(tf.compat.v1.global_variables_initializer())
    seen = []
    for step in range(60):
        batch = np.arange(4) + step * 4 % 16
        seen.append(session.run(train_op, {inputs: images[batch], targets: scores[batch]}))
        if step % 10 == 0:
            print("step", step, "loss", seen[-1], flush=True)
assert seen[-1] < 0.2 * seen[0], seen
print("the loss fell from", seen[0], "to", seen[-1])
