"""A character model: two layers of LSTMs with dropout, in a loop over time that goes on where the last one ended."""

import numpy as np

TEXT = "she sells sea shells by the sea shore, the shells she sells are sea shells for sure. "
STEPS, BATCH, UNITS = 6, 3, 8


def build(tf):
    tf.set_random_seed(31)
    letters = sorted(set(TEXT))
    codes = np.array([letters.index(letter) for letter in TEXT * 4], np.int32)
    inputs = tf.placeholder(tf.int32, [BATCH, None], name="inputs")
    targets = tf.placeholder(tf.int32, [BATCH, None], name="targets")
    cells = [
        tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.LSTMCell(UNITS, use_peepholes=True), output_keep_prob=0.8, seed=i
        )
        for i in range(2)
    ]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    table = tf.get_variable("table", [len(letters), UNITS])
    kept = [
        [tf.get_variable("{}{}".format(part, i), [BATCH, UNITS], trainable=False) for part in "ch"] for i in range(2)
    ]
    state = tuple(tf.nn.rnn_cell.LSTMStateTuple(*pair) for pair in kept)
    letters_in = tf.nn.embedding_lookup(table, inputs)
    lengths = [STEPS, STEPS - 1, STEPS]
    # TensorFlow draws masks in one order only where rounds of the loop do not overlap.
    outputs, last = tf.nn.dynamic_rnn(cell, letters_in, lengths, initial_state=state, parallel_iterations=1)
    logits = tf.contrib.layers.fully_connected(outputs, len(letters), activation_fn=None)
    loss = tf.contrib.seq2seq.sequence_loss(logits, targets, tf.ones_like(targets, tf.float32))
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    rate = tf.train.exponential_decay(0.05, tf.train.get_or_create_global_step(), 5, 0.9)
    train = tf.train.AdamOptimizer(rate).apply_gradients(zip(gradients, variables), tf.train.get_global_step())
    with tf.control_dependencies([train]):
        kept_on = [
            tf.assign(variable, value) for pair, new in zip(kept, last) for variable, value in zip(pair, new)
        ]  # fmt: skip
    train = tf.group(*kept_on)

    def feed(step):
        starts = [(step * STEPS + row * 29) % len(TEXT) for row in range(BATCH)]
        return {
            inputs: np.stack([codes[start : start + STEPS] for start in starts]),
            targets: np.stack([codes[start + 1 : start + STEPS + 1] for start in starts]),
        }

    return {"train": train, "fetches": {"loss": loss, "norm": norm}, "feed": feed, "steps": 15}
