"""Recurrent nets: training steps of loops over time, of unrolled ones, and of a language model of characters."""

import numpy as np

from bench.cases.deep import cross_entropy, images, labels, net, weights

UNITS = 128


def _cell(tf, kind, units):
    cells = tf.nn.rnn_cell
    return cells.BasicLSTMCell(units) if kind == "LSTM" else cells.GRUCell(units)


def _rows(kind, is_unrolled):
    """Images of 28 rows, a row at a time, classified by the last output."""

    def build(tf, random):
        x = tf.placeholder(tf.float32, [128, 28, 28])
        y = tf.placeholder(tf.int64, [128])
        cell = _cell(tf, kind, UNITS)
        if is_unrolled:
            outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
            last = outputs[-1]
        else:
            last = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0][:, -1]
        loss = cross_entropy(tf, tf.matmul(last, weights(tf, UNITS, 10)), y)
        train = tf.train.AdamOptimizer(0.001).minimize(loss)
        return [train, loss], {x: images(random, 128, 28, 28), y: labels(random, 128, 10)}

    def torch_run(torch, random):
        rnn = getattr(torch.nn, kind)(28, UNITS, batch_first=True)
        last = torch.nn.Linear(UNITS, 10, bias=False)
        optimizer = torch.optim.Adam([*rnn.parameters(), *last.parameters()], 0.001)
        x, y = torch.from_numpy(images(random, 128, 28, 28)), torch.from_numpy(labels(random, 128, 10))

        def run():
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(last(rnn(x)[0][:, -1]), y).backward()
            optimizer.step()

        return run

    how = "unrolled" if is_unrolled else "dynamic_rnn"
    net(f"{how}, {kind} {UNITS}, 28 steps, batch 128: training step, Adam", 1.0, build, torch_run)


for _kind in ("LSTM", "GRU"):
    _rows(_kind, False)
    _rows(_kind, True)


# ---- char-rnn --------------------------------------------------------------------------------------------------

BATCH, STEPS, LETTERS = 50, 50, 65


def _char_rnn(tf, random):
    text, following = (tf.placeholder(tf.int32, [BATCH, STEPS]) for _ in range(2))
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(UNITS) for _ in range(2)])
    embedded = tf.nn.embedding_lookup(weights(tf, LETTERS, UNITS), text)
    outputs, _ = tf.nn.dynamic_rnn(cell, embedded, dtype=tf.float32)
    logits = tf.matmul(tf.reshape(outputs, [-1, UNITS]), weights(tf, UNITS, LETTERS))
    loss = cross_entropy(tf, logits + tf.Variable(tf.zeros([LETTERS])), tf.reshape(following, [-1]))
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    train = tf.train.AdamOptimizer(0.002).apply_gradients(list(zip(gradients, variables)))  # noqa: B905
    letters = random.randint(0, LETTERS, (2, BATCH, STEPS)).astype(np.int32)
    return [train, loss], {text: letters[0], following: letters[1]}


def _char_rnn_of_torch(torch, random):
    embedding = torch.nn.Embedding(LETTERS, UNITS)
    rnn = torch.nn.LSTM(UNITS, UNITS, num_layers=2, batch_first=True)
    last = torch.nn.Linear(UNITS, LETTERS)
    parameters = [each for module in (embedding, rnn, last) for each in module.parameters()]
    optimizer = torch.optim.Adam(parameters, 0.002)
    text, following = (torch.from_numpy(random.randint(0, LETTERS, (BATCH, STEPS))) for _ in range(2))

    def run():
        optimizer.zero_grad(set_to_none=True)
        logits = last(rnn(embedding(text))[0])
        torch.nn.functional.cross_entropy(logits.reshape(-1, LETTERS), following.reshape(-1)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()

    return run


net(
    f"char-rnn: 2 x LSTM {UNITS}, {STEPS} steps, batch {BATCH}: training step, Adam", 1.5, _char_rnn,
    _char_rnn_of_torch,
)  # fmt: skip
