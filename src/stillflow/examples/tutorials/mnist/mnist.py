"""The network of the tutorial: two hidden layers, tensorflow.examples.tutorials.mnist.mnist."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.composites import summaries
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.losses.classification import sparse_softmax_cross_entropy
from stillflow.names import public_module
from stillflow.random.sampling import truncated_normal
from stillflow.training.gradient_descent import GradientDescentOptimizer
from stillflow.variables.variable import Variable

public_module("examples.tutorials.mnist.mnist")

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _linear(inputs, size, units):
    weights = truncated_normal([size, units], stddev=1.0 / math.sqrt(float(size)))
    weights = Variable(weights, name="weights")
    biases = Variable(ops.zeros([units]), name="biases")
    return ops.matmul(inputs, weights) + biases


def inference(images, hidden1_units, hidden2_units):
    """Logits, [batch, 10], of images, [batch, 784], by two hidden layers of so many units."""
    with name_scope("hidden1"):
        hidden = ops.relu(_linear(images, IMAGE_PIXELS, hidden1_units))
    with name_scope("hidden2"):
        hidden = ops.relu(_linear(hidden, hidden1_units, hidden2_units))
    with name_scope("softmax_linear"):
        return _linear(hidden, hidden2_units, NUM_CLASSES)


def loss(logits, labels):
    """The mean cross entropy of logits and labels, integers, [batch]."""
    return sparse_softmax_cross_entropy(labels=ops.cast(labels, dtypes.int64), logits=logits)


def training(loss, learning_rate):
    """The operation of a step of gradient descent, which counts steps; the loss gets a summary."""
    summaries.scalar("loss", loss)
    optimizer = GradientDescentOptimizer(learning_rate)
    global_step = Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits, labels):
    """How many labels, integers, [batch], have the largest logit, an int32 scalar."""
    correct = ops.in_top_k(predictions=logits, targets=labels, k=1)
    return ops.reduce_sum(ops.cast(correct, dtypes.int32))
