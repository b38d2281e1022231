"""A character model: an LSTM written out over time, with dropout and clipped gradients."""

import numpy as np

TEXT = "how much wood would a woodchuck chuck if a woodchuck could chuck wood "
STEPS, BATCH, UNITS, CELLS = 8, 4, 12, 16


def _cell(tf, x, c, h, kernel, bias):
    """One step of time: gates from the input and the last output."""
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias)
    i, j, f, o = tf.split(gates, 4, axis=1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


def build(tf):
    tf.set_random_seed(99)
    letters = sorted(set(TEXT))
    codes = np.array([letters.index(letter) for letter in TEXT * 8], np.int32)

    inputs = tf.placeholder(tf.int32, [BATCH, STEPS], name="inputs")
    targets = tf.placeholder(tf.int32, [BATCH, STEPS], name="targets")
    with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.3, 0.3)):
        table = tf.get_variable("table", [len(letters), UNITS])
        kernel = tf.get_variable("kernel", [UNITS + CELLS, 4 * CELLS])
        bias = tf.get_variable("bias", [4 * CELLS], initializer=tf.zeros_initializer())
        out_w = tf.get_variable("out_w", [CELLS, len(letters)])
        out_b = tf.get_variable("out_b", [len(letters)])

        embedded = tf.nn.dropout(tf.nn.embedding_lookup(table, inputs), rate=0.1)
        c = h = tf.zeros([BATCH, CELLS])
        outputs = []
        for x in tf.unstack(embedded, STEPS, axis=1):
            c, h = _cell(tf, x, c, h, kernel, bias)
            outputs.append(h)
        output = tf.reshape(tf.stack(outputs, axis=1), [-1, CELLS])
        logits = tf.nn.xw_plus_b(output, out_w, out_b)

    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(targets, [-1]), logits=logits)
    cost = tf.reduce_sum(losses) / BATCH
    variables = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(cost, variables), 5.0)
    train = tf.train.AdamOptimizer(0.02).apply_gradients(zip(grads, variables))

    def feed(step):
        starts = [(step + row * 17) % len(TEXT) for row in range(BATCH)]
        return {
            inputs: np.stack([codes[start : start + STEPS] for start in starts]),
            targets: np.stack([codes[start + 1 : start + STEPS + 1] for start in starts]),
        }

    return {"train": train, "fetches": {"cost": cost, "norm": norm}, "feed": feed, "steps": 30}
