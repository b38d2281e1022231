"""tf.contrib.crf: scores, likelihoods, their gradients, and decoding."""


def _given(tf, steps=3, known=True):
    scores = [[[0.1 * (i - t) * (j + 1) for j in range(3)] for t in range(steps)] for i in range(2)]
    inputs = tf.constant(scores, tf.float32)
    transitions = tf.constant([[0.5, -0.3, 0.2], [0.1, 0.4, -0.6], [-0.2, 0.3, 0.7]])
    tags = tf.constant([[0, 1, 2][:steps], [2, 1, 0][:steps]])
    if not known:
        inputs = tf.placeholder_with_default(inputs, [None, None, 3])
        tags = tf.placeholder_with_default(tags, [None, None])
    return inputs, tags, tf.constant([steps, steps - 1]), transitions


def _gradients(tf, losses, inputs):
    return [losses, *tf.gradients(losses, inputs)]


def log_likelihood(tf):
    inputs, tags, lengths, transitions = _given(tf)
    return _gradients(
        tf, tf.contrib.crf.crf_log_likelihood(inputs, tags, lengths, transitions)[0], [inputs, transitions]
    )


def log_likelihood_of_a_variable(tf):
    tf.set_random_seed(4)
    inputs, tags, lengths, _ = _given(tf, known=False)
    losses, transitions = tf.contrib.crf.crf_log_likelihood(inputs, tf.cast(tags, tf.int64), lengths)
    return _gradients(tf, losses, [inputs, transitions])


def of_one_step(tf):
    inputs, tags, lengths, transitions = _given(tf, steps=1)
    crf = tf.contrib.crf
    return [
        crf.crf_log_likelihood(inputs, tags, lengths, transitions)[0],
        *crf.crf_decode(inputs, transitions, lengths),
        crf.crf_multitag_sequence_score(inputs, tf.one_hot(tags, 3, True, False), lengths, transitions),
    ]


def scores(tf):
    inputs, tags, lengths, transitions = _given(tf)
    crf = tf.contrib.crf
    bitmap = tf.logical_or(tf.one_hot(tags, 3, True, False), tf.one_hot(tags * 0, 3, True, False))
    return [
        crf.crf_sequence_score(inputs, tags, lengths, transitions),
        crf.crf_multitag_sequence_score(inputs, bitmap, lengths, transitions),
        crf.crf_unary_score(tags, lengths, inputs),
        crf.crf_binary_score(tags, lengths, transitions),
    ]


def decoded(tf):
    inputs, _, lengths, transitions = _given(tf)
    unknown = _given(tf, known=False)[0]
    return [
        *tf.contrib.crf.crf_decode(inputs, transitions, lengths),
        *tf.contrib.crf.crf_decode(unknown, transitions, lengths),
    ]
