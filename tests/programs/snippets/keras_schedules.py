"""Learning rates of tf.keras that depend on the number of steps."""


def cosines_that_begin_again(tf):
    step = tf.constant(17)
    kinds = tf.keras.experimental
    return [
        kinds.CosineDecayRestarts(0.5, 10)(step),
        kinds.CosineDecayRestarts(0.5, 3, t_mul=1.0, m_mul=0.5, alpha=0.1)(step),
        kinds.CosineDecayRestarts.from_config(kinds.CosineDecayRestarts(0.5, 4, 3.0, name="other").get_config())(
            step
        ),
    ]


def noisy_line(tf):
    tf.set_random_seed(3)
    decay = tf.keras.experimental.NoisyLinearCosineDecay(0.5, 20, initial_variance=0.01)
    return [decay(tf.constant(7)), decay(tf.constant(25))]
