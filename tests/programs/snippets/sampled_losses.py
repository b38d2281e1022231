"""nce_loss, sampled_softmax_loss and the candidate samplers, seeded."""


def _arguments(tf, num_true=1, dtype="float32"):
    tf.set_random_seed(11)
    weights = tf.constant([[0.1 * i - 1.0, 0.05 * i * i - 1.5, 0.3] for i in range(20)], dtype, name="weights")
    biases = tf.constant([0.1 * i for i in range(20)], dtype, name="biases")
    inputs = tf.constant(
        [[0.5, -0.25, 1.0], [1.5, 0.5, -1.0], [0.1, 0.2, 0.3], [0.0, 2.0, 1.0]], dtype, name="inputs"
    )
    labels = tf.constant([[i * num_true + j for j in range(num_true)] for i in range(4)], tf.int64, name="labels")
    return weights, biases, labels, inputs


def nce(tf):
    weights, biases, labels, inputs = _arguments(tf)
    loss = tf.nn.nce_loss(weights, biases, labels, inputs, 5, 20)
    return [loss] + [
        tf.convert_to_tensor(getattr(g, "values", g)) for g in tf.gradients(loss, [weights, biases, inputs])
    ]


def nce_of_variables(tf):
    weights, biases, labels, inputs = _arguments(tf)
    weights, biases = tf.Variable(weights, name="w"), tf.Variable(biases, name="b")
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=weights,
            biases=biases,
            labels=tf.cast(labels, tf.int32),
            inputs=inputs,
            num_sampled=4,
            num_classes=20,
        )
    )
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.control_dependencies([step]):
        return [tf.identity(weights.read_value()), tf.identity(biases.read_value())]


def nce_without_hits(tf):
    weights, biases, labels, inputs = _arguments(tf, num_true=2)
    loss = tf.nn.nce_loss(
        weights, biases, labels, inputs, 6, 20, num_true=2, remove_accidental_hits=True, name="named"
    )
    return [loss] + tf.gradients(loss, inputs)


def nce_with_given_samples(tf):
    weights, biases, labels, inputs = _arguments(tf)
    samples = tf.nn.fixed_unigram_candidate_sampler(
        labels, 1, 5, True, 20, unigrams=[float(i + 1) for i in range(20)], distortion=0.75, name="sampler"
    )
    return [tf.nn.nce_loss(weights, biases, labels, inputs, 5, 20, sampled_values=samples)]


def sampled_softmax(tf):
    weights, biases, labels, inputs = _arguments(tf)
    loss = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 8, 20)
    return [loss] + [
        tf.convert_to_tensor(getattr(g, "values", g)) for g in tf.gradients(loss, [weights, biases, inputs])
    ]


def sampled_softmax_with_hits(tf):
    weights, biases, labels, inputs = _arguments(tf, num_true=2)
    return [
        tf.nn.sampled_softmax_loss(
            weights, biases, labels, inputs, 8, 20, 2, remove_accidental_hits=False, name="a", seed=5
        ),
        tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 8, 20, 2, name="b", seed=6),
    ]


def of_parts(tf):
    weights, biases, labels, inputs = _arguments(tf)
    parts = tf.split(weights, 2)
    return [tf.nn.nce_loss(parts, biases, labels, inputs, 5, 20, partition_strategy="div")]


def samplers(tf):
    _, _, labels, _ = _arguments(tf)
    results = []
    results += tf.nn.uniform_candidate_sampler(labels, 1, 5, True, 20)
    results += tf.nn.log_uniform_candidate_sampler(labels, 1, 5, False, 20, seed=3, name="named")
    results += tf.random.learned_unigram_candidate_sampler(labels, 1, 5, True, 20)
    results += tf.nn.all_candidate_sampler(labels, 1, 20, True)
    return results


def accidental_hits(tf):
    _, _, labels, _ = _arguments(tf)
    return list(tf.nn.compute_accidental_hits(labels, tf.constant([3, 7, 0, 3], tf.int64), 1, name="named"))
