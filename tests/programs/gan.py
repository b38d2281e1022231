"""A generative adversarial net: transposed convolutions, batch normalization, leaky activations, two optimizers."""

import numpy as np

BATCH, NOISE = 6, 5


def _generator(tf, noise):
    with tf.variable_scope("generator"):
        layer = tf.layers.dense(noise, 3 * 3 * 6, use_bias=False)
        layer = tf.reshape(layer, [-1, 3, 3, 6])
        layer = tf.nn.relu(tf.layers.batch_normalization(layer, training=True))
        layer = tf.layers.conv2d_transpose(layer, 4, 3, strides=2, padding="same", use_bias=False)
        layer = tf.nn.relu(tf.layers.batch_normalization(layer, training=True))
        return tf.nn.tanh(tf.layers.conv2d_transpose(layer, 1, 3, strides=2, padding="same"))


def _discriminator(tf, images, reuse):
    with tf.variable_scope("discriminator", reuse=reuse):
        layer = tf.nn.leaky_relu(tf.layers.conv2d(images, 4, 3, strides=2, padding="same"))
        layer = tf.layers.dropout(layer, 0.3, training=True, seed=3)
        layer = tf.nn.leaky_relu(tf.layers.conv2d(layer, 6, 3, strides=2, padding="same"))
        return tf.layers.dense(tf.layers.flatten(layer), 1)


def build(tf):
    tf.set_random_seed(11)
    images = tf.placeholder(tf.float32, [BATCH, 12, 12, 1], name="images")
    noise = tf.placeholder(tf.float32, [BATCH, NOISE], name="noise")
    made = _generator(tf, noise)
    real, fake = _discriminator(tf, images, False), _discriminator(tf, made, True)

    def loss_of(logits, label):
        labels = tf.fill(tf.shape(logits), label)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))

    losses = {"discriminator": loss_of(real, 0.9) + loss_of(fake, 0.0), "generator": loss_of(fake, 1.0)}
    optimizers = {part: tf.train.AdamOptimizer(1e-3, beta1=0.5, name=part) for part in losses}
    pairs = {
        part: optimizers[part].compute_gradients(losses[part], tf.trainable_variables(part))
        for part in sorted(losses)
    }
    # Neither net changes before both gradients are there.
    gradients = [gradient for part in sorted(pairs) for gradient, _ in pairs[part]]
    with tf.control_dependencies(gradients + tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        steps = [optimizers[part].apply_gradients(pairs[part]) for part in sorted(pairs)]

    def feed(step):
        pixels = np.arange(BATCH * 144).reshape(BATCH, 12, 12, 1) * (step + 5) % 23 / 11.5 - 1
        drawn = np.arange(BATCH * NOISE).reshape(BATCH, NOISE) * 7 % 11 / 5.5 - 1 + 0.01 * step
        return {images: pixels.astype(np.float32), noise: drawn.astype(np.float32)}

    return {"train": tf.group(*steps), "fetches": losses, "feed": feed, "steps": 10}
