"""Programs and training steps, and the products, random numbers and updates that the main job rests on."""

import numpy as np

from bench.cases.registry import TENSORFLOWS, case, open_session, threaded_copy


@case("session.run of a fed scalar expression", TENSORFLOWS, bar=10)
def scalar(tf, threads):
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0 + 1.0
    session = open_session(tf, threads)
    return lambda: session.run(y, {x: 3.0})


@case("200 chained elementwise ops on 8x8", TENSORFLOWS, bar=6)
def chain(tf, threads):
    x = y = tf.placeholder(tf.float32, [8, 8])
    for _ in range(100):
        y = y * 1.001 + 0.5
    session = open_session(tf, threads)
    value = np.ones((8, 8), np.float32)
    return lambda: session.run(y, {x: value})


@case("skip-gram NCE step (vocabulary 50,000, dim 128, batch 128, 64 negatives, SGD)", TENSORFLOWS, bar=5)
def nce_step(tf, threads):
    words, dim, batch, negatives = 50000, 128, 128, 64
    embeddings = tf.Variable(tf.random_uniform([words, dim], -1.0, 1.0))
    weights = tf.Variable(tf.truncated_normal([words, dim], stddev=0.1))
    biases = tf.Variable(tf.zeros([words]))
    inputs = tf.placeholder(tf.int32, [batch])
    labels = tf.placeholder(tf.int32, [batch, 1])
    embedded = tf.nn.embedding_lookup(embeddings, inputs)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, embedded, negatives, words))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    session = open_session(tf, threads)
    session.run(tf.global_variables_initializer())
    random = np.random.RandomState(0)
    # Words as frequent as in a text: the more frequent, the likelier already in cache.
    picks = np.minimum((words + 1) ** random.uniform(size=(64, 2, batch)), words).astype(np.int32) - 1
    feeds = [{inputs: a, labels: b[:, None]} for a, b in picks]
    step = [0]

    def run():
        step[0] += 1
        session.run([train, loss], feeds[step[0] % len(feeds)])

    return run


@case("perceptron 784-256-256-10 with Adam, batch 100", TENSORFLOWS, bar=1.3)
def perceptron(tf, threads):
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.float32, [None, 10])
    layer = x
    for width, activate in ((256, tf.nn.relu), (256, tf.nn.relu), (10, lambda logits: logits)):
        weights = tf.Variable(tf.random_normal([layer.shape[1].value, width], stddev=0.05))
        layer = activate(tf.matmul(layer, weights) + tf.Variable(tf.zeros([width])))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=layer))
    train = tf.train.AdamOptimizer(0.001).minimize(loss)
    session = open_session(tf, threads)
    session.run(tf.global_variables_initializer())
    random = np.random.RandomState(0)
    feed = {
        x: random.uniform(size=(100, 784)).astype(np.float32),
        y: np.eye(10, dtype=np.float32)[random.randint(0, 10, 100)],
    }
    return lambda: session.run([train, loss], feed)


def _random(name, build, draw):
    """`build` makes the tensor, `draw` the same with numpy's Philox; the operation alone is run."""

    @case(f"4 Mi float32 {name} random numbers", (*TENSORFLOWS, "numpy"), bar=1.5)
    def fill(engine, threads):
        count = 1 << 22
        if engine.__name__ == "numpy":
            out = np.empty(count, np.float32)
            generator = np.random.Generator(np.random.Philox(1))
            return lambda: draw(generator, out)
        tf = engine
        node = build(tf, count)
        session = open_session(tf, threads)
        return lambda: session.run(node.op)


_random(
    "uniform",
    lambda tf, count: tf.random_uniform([count], -1.0, 1.0, seed=1).op.inputs[0].op.inputs[0],
    lambda generator, out: generator.random(out=out, dtype=np.float32),
)
_random(
    "normal",
    lambda tf, count: tf.random_normal([count], seed=1).op.inputs[0].op.inputs[0],
    lambda generator, out: generator.standard_normal(out=out, dtype=np.float32),
)


def _matmul(size):
    @case(f"float32 matrix product {size}x{size}x{size}", ("stillflow", "numpy", "torch"), bar=0.95)
    def product(engine, threads):
        random = np.random.RandomState(0)
        a, b = (random.uniform(size=(size, size)).astype(np.float32) for _ in range(2))
        if engine.__name__ == "numpy":
            out = np.empty((size, size), np.float32)
            return lambda: np.matmul(a, b, out=out)
        if engine.__name__ == "torch":
            a, b, out = engine.tensor(a), engine.tensor(b), engine.empty(size, size)
            return lambda: engine.matmul(a, b, out=out)
        tf = engine
        left, right = tf.Variable(a), tf.Variable(b)
        target = tf.matmul(left, right)
        session = open_session(tf, threads)
        session.run(tf.global_variables_initializer())
        # The operation alone is run, so that its result stays in the engine.
        return lambda: session.run(target.op)


for _size in (256, 512, 1024, 2048):
    _matmul(_size)


def _optimizer(name, make, arrays):
    """`arrays` is how many arrays of the variable's size an update reads and writes."""

    @case(f"dense {name} update of 16 Mi floats", ("stillflow", "copy"), copy_bar=0.8)
    def update(engine, threads):
        count = 1 << 24
        if engine.__name__ == "copy":
            # A copy reads and writes: `arrays` transfers are half as many elements copied.
            source = np.ones(count * arrays // 2, np.float32)
            return threaded_copy(source, np.empty_like(source), threads)
        tf = engine
        weights = tf.Variable(tf.zeros([count]))
        gradient = tf.Variable(tf.fill([count], 0.001))
        train = make(tf).apply_gradients([(gradient.value(), weights)])
        session = open_session(tf, threads)
        session.run(tf.global_variables_initializer())
        return lambda: session.run(train)


_optimizer("gradient descent", lambda tf: tf.train.GradientDescentOptimizer(0.01), 3)
_optimizer("momentum", lambda tf: tf.train.MomentumOptimizer(0.01, 0.9), 5)
_optimizer("Adagrad", lambda tf: tf.train.AdagradOptimizer(0.01), 5)
_optimizer("Adam", lambda tf: tf.train.AdamOptimizer(0.01), 7)
