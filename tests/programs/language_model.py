"""A transformer that samples text, in the manner of GPT-2: keys and values of the words before are carried through
tf.while_loop, shapes are made of tf.shape.

    python language_model.py DIR OUT.npz [SOURCES]

runs it under TensorFlow: writes a checkpoint of small weights to DIR, and the words that it samples to OUT.npz.
SOURCES is a folder with GPT-2's own model.py and sample.py, which then are the model.
"""

import os
import sys
import types

import numpy as np

LAYERS, HEADS, WIDTH, WORDS, CONTEXT = 12, 4, 32, 61, 24
LENGTH = 10
START = [[5, 17, 2, 40]]  # GPT-2's top_p_logits takes a batch of one


def settings(tf):
    """GPT-2's hyperparameters, and those of the small model."""
    return tf.contrib.training.HParams(n_vocab=WORDS, n_ctx=CONTEXT, n_embd=WIDTH, n_head=HEADS, n_layer=LAYERS)


class OwnModel(object):
    """model and sample of this file."""

    def __init__(self, tf):
        self._tf = tf

    def _sizes(self, x):
        dynamic = self._tf.shape(x)
        return [dynamic[i] if size is None else size for i, size in enumerate(x.shape.as_list())]

    def _normed(self, x, scope):
        tf = self._tf
        with tf.variable_scope(scope):
            scale = tf.get_variable("g", [x.shape[-1].value], initializer=tf.ones_initializer())
            offset = tf.get_variable("b", [x.shape[-1].value], initializer=tf.zeros_initializer())
            mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
            return (x - mean) * tf.rsqrt(variance + 1e-5) * scale + offset

    def _dense(self, x, scope, width):
        tf = self._tf
        with tf.variable_scope(scope):
            sizes = self._sizes(x)
            w = tf.get_variable("w", [sizes[-1], width])
            b = tf.get_variable("b", [width])
            return tf.reshape(tf.matmul(tf.reshape(x, [-1, sizes[-1]]), w) + b, sizes[:-1] + [width])

    def _heads(self, x, heads):
        tf = self._tf
        sizes = self._sizes(x)
        return tf.transpose(tf.reshape(x, sizes[:-1] + [heads, sizes[-1] // heads]), [0, 2, 1, 3])

    def _attention(self, x, heads, past):
        """The attention's output, and the keys and values: those of the past first."""
        tf = self._tf
        width = x.shape[-1].value
        query, key, value = (
            self._heads(part, heads) for part in tf.split(self._dense(x, "qkv", 3 * width), 3, axis=2)
        )
        present = tf.stack([key, value], axis=1)
        if past is not None:
            old_keys, old_values = tf.unstack(past, axis=1)
            key, value = tf.concat([old_keys, key], -2), tf.concat([old_values, value], -2)
        weights = tf.matmul(query, key, transpose_b=True) * (float(width // heads) ** -0.5)
        _, _, rows, columns = self._sizes(weights)
        seen = tf.range(rows)[:, None] >= tf.range(columns) - columns + rows
        seen = tf.cast(seen, weights.dtype)[None, None]
        weights = tf.nn.softmax(weights * seen - 1e10 * (1 - seen))
        mixed = tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3])
        sizes = self._sizes(mixed)
        return self._dense(tf.reshape(mixed, sizes[:-2] + [sizes[-2] * sizes[-1]]), "out", width), present

    def model(self, hparams, X, past=None, scope="model", reuse=False):  # noqa: N803
        tf = self._tf
        with tf.variable_scope(scope, reuse=reuse):
            table = tf.get_variable("wte", [hparams.n_vocab, hparams.n_embd])
            places = tf.get_variable("wpe", [hparams.n_ctx, hparams.n_embd])
            before = 0 if past is None else tf.shape(past)[-2]
            batch, time = self._sizes(X)
            positions = tf.tile((before + tf.range(time))[None], [batch, 1])
            x = tf.gather(table, X) + tf.gather(places, positions)
            pasts = [None] * hparams.n_layer if past is None else tf.unstack(past, axis=1)
            presents = []
            for i in range(hparams.n_layer):
                with tf.variable_scope("block%d" % i):
                    mixed, present = self._attention(self._normed(x, "before_attention"), hparams.n_head, pasts[i])
                    presents.append(present)
                    x = x + mixed
                    wide = self._dense(self._normed(x, "before_dense"), "wide", 4 * hparams.n_embd)
                    x = x + self._dense(0.5 * wide * (1 + tf.tanh(0.8 * (wide + 0.04 * tf.pow(wide, 3)))), "narrow",
                                        hparams.n_embd)  # fmt: skip
            rows = tf.reshape(self._normed(x, "last"), [batch * time, hparams.n_embd])
            logits = tf.reshape(tf.matmul(rows, table, transpose_b=True), [batch, time, hparams.n_vocab])
            return {"present": tf.stack(presents, axis=1), "logits": logits}

    def sample_sequence(self, hparams, length, batch_size, context, temperature, top_k):
        tf = self._tf
        size = hparams.n_embd // hparams.n_head

        def step(words, past=None):
            found = self.model(hparams, words, past=past, reuse=tf.AUTO_REUSE)
            found["present"].set_shape([batch_size, hparams.n_layer, 2, hparams.n_head, None, size])
            return found["logits"][:, :, : hparams.n_vocab], found["present"]

        def best(logits):
            least = tf.nn.top_k(logits, k=top_k)[0][:, -1, None]
            return tf.where(logits < least, tf.ones_like(logits) * -1e10, logits)

        def body(past, last, output):
            logits, present = step(last[:, None], past)
            drawn = tf.multinomial(best(logits[:, -1, :] / temperature), num_samples=1, output_dtype=tf.int32)
            grown = present if past is None else tf.concat([past, present], axis=-2)
            return [grown, tf.squeeze(drawn, axis=[1]), tf.concat([output, drawn], axis=1)]

        _, past = step(context[:, :-1])
        shapes = [
            tf.TensorShape([batch_size, hparams.n_layer, 2, hparams.n_head, None, size]),
            tf.TensorShape([batch_size]),
            tf.TensorShape([batch_size, None]),
        ]
        return tf.while_loop(
            lambda *_: True, body, [past, context[:, -1], context], shape_invariants=shapes,
            maximum_iterations=length, back_prop=False,
        )[2]  # fmt: skip


def _parts(tf, sources):
    """(module with `model`, module with `sample_sequence`, further arguments of the latter)."""
    if sources is None:
        own = OwnModel(tf)
        return own, own
    sys.modules["tensorflow"] = tf
    parts = {}
    for name in ("model", "sample"):
        parts[name] = types.ModuleType(name)
        sys.modules[name] = parts[name]
        with open(os.path.join(sources, name + ".py")) as file:
            exec(compile(file.read(), name + ".py", "exec"), parts[name].__dict__)
    return parts["model"], parts["sample"]


def _value(name, shape, is_gpt2):
    """A variable's. GPT-2's top_p_logits drops the least likely word or does not, as the sum of all probabilities is
    rounded: its words differ much in probability, so that this last bit does not decide what is drawn.
    """
    if name.endswith("/g"):
        return np.ones(shape, np.float32)
    return np.random.normal(scale=2.0 if is_gpt2 and name.endswith("/wte") else 0.3, size=shape).astype(np.float32)


def run(tf, folder, sources=None, write=False):
    """Writes a checkpoint of small weights to the folder, or reads it; {what: array} of what the model says."""
    model, sample = _parts(tf, sources)
    tf.set_random_seed(7)
    np.random.seed(7)
    hparams = settings(tf)
    context = tf.placeholder(tf.int32, [1, None])
    logits = model.model(hparams=hparams, X=context)["logits"]
    words = sample.sample_sequence(
        hparams=hparams, length=LENGTH, batch_size=1, context=context, temperature=0.9, top_k=8
    )
    saver = tf.train.Saver()
    path = os.path.join(folder, "model.ckpt")
    with tf.Session() as session:
        if write:
            for variable in tf.trainable_variables():
                variable.load(_value(variable.op.name, variable.shape.as_list(), sources is not None), session)
            saver.save(session, path)
        else:
            saver.restore(session, tf.train.latest_checkpoint(folder))
        feeds = {context: START}
        found = {"logits": session.run(logits, feeds)}
        found["words"] = np.stack([session.run(words, feeds) for _ in range(3)])
    return found


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    np.savez(sys.argv[2], **run(tensorflow, sys.argv[1], *sys.argv[3:], write=True))
