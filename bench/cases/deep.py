"""Deep nets: a step of training, or a forward pass, of whole nets, each as a graph and as a PyTorch module."""

import numpy as np

from bench.cases.registry import TENSORFLOWS, case, open_session

ENGINES = (*TENSORFLOWS, "torch")


def net(name, bar, build, torch):
    """build(tf, random) gives (fetches, feed); torch(torch, random) a function to time."""

    @case(name, ENGINES, bar=bar)
    def make(engine, threads):
        random = np.random.RandomState(0)
        if engine.__name__ == "torch":
            return torch(engine, random)
        fetches, feed = build(engine, random)
        session = open_session(engine, threads)
        session.run(engine.global_variables_initializer())
        return lambda: session.run(fetches, feed)


def weights(tf, *shape):
    return tf.Variable(tf.random_normal(shape, stddev=float(np.sqrt(2.0 / np.prod(shape[:-1])))))


def images(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


def labels(random, batch, classes):
    return random.randint(0, classes, batch).astype(np.int64)


def cross_entropy(tf, logits, targets):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits))


def torch_step(torch, module, make_optimizer, inputs, targets, loss=None):
    """A step of training a module, channels last, as fast as PyTorch has it on processors."""
    module = module.to(memory_format=torch.channels_last)
    optimizer = make_optimizer(module.parameters())
    loss = loss or torch.nn.functional.cross_entropy

    def run():
        optimizer.zero_grad(set_to_none=True)
        loss(module(inputs), targets).backward()
        optimizer.step()

    return run


def torch_images(torch, array):
    """An array [batch, rows, columns, channels] as PyTorch has images, in the same order in memory."""
    return torch.from_numpy(array).permute(0, 3, 1, 2)


# ---- The convnet of the course -------------------------------------------------------------------------------


def _course_convnet(tf, random):
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    y = tf.placeholder(tf.int64, [None])
    layer = x
    for depth, channels in ((1, 32), (32, 64)):
        layer = tf.nn.conv2d(layer, weights(tf, 5, 5, depth, channels), strides=[1, 1, 1, 1], padding="SAME")
        layer = tf.nn.relu(layer + tf.Variable(tf.zeros([channels])))
        layer = tf.nn.max_pool(layer, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    layer = tf.reshape(layer, [-1, 7 * 7 * 64])
    layer = tf.nn.relu(tf.matmul(layer, weights(tf, 7 * 7 * 64, 1024)) + tf.Variable(tf.zeros([1024])))
    logits = tf.matmul(layer, weights(tf, 1024, 10)) + tf.Variable(tf.zeros([10]))
    loss = cross_entropy(tf, logits, y)
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    return [train, loss], {x: images(random, 64, 28, 28, 1), y: labels(random, 64, 10)}


def _course_convnet_of_torch(torch, random):
    nn = torch.nn
    module = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Linear(1024, 10),
    )  # fmt: skip
    inputs = torch_images(torch, images(random, 64, 28, 28, 1))
    targets = torch.from_numpy(labels(random, 64, 10))
    return torch_step(torch, module, lambda each: torch.optim.Adam(each, 1e-4), inputs, targets)


net(
    "convnet 5x5x32, 5x5x64, dense 1024: training step, batch 64, Adam",
    1.0,
    _course_convnet,
    _course_convnet_of_torch,
)


# ---- VGG-16 --------------------------------------------------------------------------------------------------

_VGG = (64, 64, None, 128, 128, None, 256, 256, 256, None, 512, 512, 512, None, 512, 512, 512, None)


def _vgg16(batch):
    def build(tf, random):
        x = tf.placeholder(tf.float32, [None, 224, 224, 3])
        layer, depth = x, 3
        for channels in _VGG:
            if channels is None:
                layer = tf.nn.max_pool(layer, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
                continue
            layer = tf.nn.conv2d(layer, weights(tf, 3, 3, depth, channels), strides=[1, 1, 1, 1], padding="SAME")
            layer, depth = tf.nn.relu(tf.nn.bias_add(layer, tf.Variable(tf.zeros([channels])))), channels
        layer = tf.reshape(layer, [-1, 7 * 7 * 512])
        for inputs, outputs in ((7 * 7 * 512, 4096), (4096, 4096), (4096, 1000)):
            layer = tf.matmul(layer, weights(tf, inputs, outputs)) + tf.Variable(tf.zeros([outputs]))
            layer = tf.nn.relu(layer) if outputs == 4096 else layer
        return [tf.nn.softmax(layer)], {x: images(random, batch, 224, 224, 3)}

    def torch_module(torch, random):
        nn = torch.nn
        layers, depth = [], 3
        for channels in _VGG:
            layers += [nn.MaxPool2d(2)] if channels is None else [nn.Conv2d(depth, channels, 3, padding=1), nn.ReLU()]
            depth = channels or depth
        layers += [nn.Flatten(), nn.Linear(7 * 7 * 512, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU()]
        module = nn.Sequential(*layers, nn.Linear(4096, 1000), nn.Softmax(-1)).to(memory_format=torch.channels_last)
        inputs = torch_images(torch, images(random, batch, 224, 224, 3))

        def run():
            with torch.inference_mode():
                return module(inputs)

        return run

    net(f"VGG-16 at 224x224: forward, batch {batch}", 0.9, build, torch_module)


_vgg16(1)
_vgg16(8)


# ---- ResNet-20 -----------------------------------------------------------------------------------------------

_BLOCKS = [(16, 1)] * 3 + [(32, 2)] + [(32, 1)] * 2 + [(64, 2)] + [(64, 1)] * 2


def _normalized(tf, layer):
    channels = layer.shape[-1].value
    scale, offset = tf.Variable(tf.ones([channels])), tf.Variable(tf.zeros([channels]))
    return tf.nn.fused_batch_norm(layer, scale, offset)[0]


def _resnet20(tf, random):
    def convolved(layer, size, channels, stride):
        kernel = weights(tf, size, size, layer.shape[-1].value, channels)
        return tf.nn.conv2d(layer, kernel, strides=[1, stride, stride, 1], padding="SAME")

    x = tf.placeholder(tf.float32, [64, 32, 32, 3])
    y = tf.placeholder(tf.int64, [64])
    layer = tf.nn.relu(_normalized(tf, convolved(x, 3, 16, 1)))
    for channels, stride in _BLOCKS:
        inner = tf.nn.relu(_normalized(tf, convolved(layer, 3, channels, stride)))
        inner = _normalized(tf, convolved(inner, 3, channels, 1))
        layer = layer if stride == 1 else convolved(layer, 1, channels, stride)
        layer = tf.nn.relu(inner + layer)
    logits = tf.matmul(tf.reduce_mean(layer, [1, 2]), weights(tf, 64, 10)) + tf.Variable(tf.zeros([10]))
    loss = cross_entropy(tf, logits, y)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return [train, loss], {x: images(random, 64, 32, 32, 3), y: labels(random, 64, 10)}


def _resnet20_of_torch(torch, random):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, depth, channels, stride):
            super().__init__()
            self.inner = nn.Sequential(
                nn.Conv2d(depth, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
                nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels),
            )  # fmt: skip
            self.short = nn.Conv2d(depth, channels, 1, stride, bias=False) if stride > 1 else nn.Identity()

        def forward(self, x):
            return torch.relu(self.inner(x) + self.short(x))

    layers, depth = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
    for channels, stride in _BLOCKS:
        layers.append(Block(depth, channels, stride))
        depth = channels
    module = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    inputs = torch_images(torch, images(random, 64, 32, 32, 3))
    targets = torch.from_numpy(labels(random, 64, 10))
    return torch_step(torch, module, lambda each: torch.optim.SGD(each, 0.1, 0.9), inputs, targets)


net("ResNet-20 on 32x32: training step, batch 64, momentum", 0.9, _resnet20, _resnet20_of_torch)


# ---- Small dense nets, of reinforcement learning ---------------------------------------------------------------


def _dense(tf, layer, sizes):
    for i, size in enumerate(sizes):
        layer = tf.matmul(layer, weights(tf, layer.shape[1].value, size)) + tf.Variable(tf.zeros([size]))
        layer = layer if i == len(sizes) - 1 else tf.nn.relu(layer)
    return layer


def _torch_dense(torch, *sizes):
    layers = []
    for inputs, outputs in zip(sizes[:-1], sizes[1:]):  # noqa: B905, RUF007  (Python 3.7)
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def _deep_q(batch, width):
    """What a step costs: the greatest value of the next state, and training by the difference."""

    def build(tf, random):
        state, following = (tf.placeholder(tf.float32, [None, 4]) for _ in range(2))
        action, reward = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
        values = _dense(tf, state, (width, width, 2))
        target = reward + 0.9 * tf.reduce_max(tf.stop_gradient(_dense(tf, following, (width, width, 2))), axis=1)
        chosen = tf.reduce_sum(values * tf.one_hot(action, 2), axis=1)
        loss = tf.reduce_mean(tf.squared_difference(target, chosen))
        train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
        feed = {
            state: images(random, batch, 4), following: images(random, batch, 4), reward: images(random, batch),
            action: labels(random, batch, 2).astype(np.int32),
        }  # fmt: skip
        return [train, loss], feed

    def torch_run(torch, random):
        net, target_net = (_torch_dense(torch, 4, width, width, 2) for _ in range(2))
        optimizer = torch.optim.RMSprop(net.parameters(), 0.01)
        state, following = (torch.from_numpy(images(random, batch, 4)) for _ in range(2))
        reward = torch.from_numpy(images(random, batch))
        action = torch.from_numpy(labels(random, batch, 2))[:, None]

        def run():
            with torch.no_grad():
                target = reward + 0.9 * target_net(following).max(1).values
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.mse_loss(net(state).gather(1, action)[:, 0], target).backward()
            optimizer.step()

        return run

    net(f"DQN step, dense {width}, batch {batch}", 10, build, torch_run)


_deep_q(32, 20)
_deep_q(32, 200)


def _actor_critic(batch, width):
    """Local gradients of actor and critic, which update the global net, as A3C does."""

    def build(tf, random):
        state = tf.placeholder(tf.float32, [None, 4])
        action, value = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
        hidden = tf.nn.relu6(_dense(tf, state, (width,)))
        logits, critic = _dense(tf, hidden, (2,)), _dense(tf, hidden, (1,))[:, 0]
        advantage = value - critic
        likely = tf.nn.softmax(logits)
        log = tf.reduce_sum(tf.log(likely + 1e-5) * tf.one_hot(action, 2), axis=1)
        entropy = -tf.reduce_sum(likely * tf.log(likely + 1e-5), axis=1)
        loss = tf.reduce_mean(-log * tf.stop_gradient(advantage) - 0.001 * entropy + tf.square(advantage))
        parameters = tf.trainable_variables()
        shared = [tf.Variable(each.initial_value) for each in parameters]
        pairs = zip(tf.gradients(loss, parameters), shared)  # noqa: B905
        train = tf.train.RMSPropOptimizer(0.001).apply_gradients(list(pairs))
        feed = {
            state: images(random, batch, 4), value: images(random, batch),
            action: labels(random, batch, 2).astype(np.int32),
        }  # fmt: skip
        return [train, loss], feed

    def torch_run(torch, random):
        hidden, actor, critic = (torch.nn.Linear(*sizes) for sizes in ((4, width), (width, 2), (width, 1)))
        parameters = [each for layer in (hidden, actor, critic) for each in layer.parameters()]
        shared = [each.detach().clone().requires_grad_() for each in parameters]
        optimizer = torch.optim.RMSprop(shared, 0.001)
        state, value = torch.from_numpy(images(random, batch, 4)), torch.from_numpy(images(random, batch))
        action = torch.from_numpy(labels(random, batch, 2))[:, None]

        def run():
            features = torch.nn.functional.relu6(hidden(state))
            logs = torch.log_softmax(actor(features), -1)
            advantage = value - critic(features)[:, 0]
            entropy = -(logs.exp() * logs).sum(-1)
            chosen = logs.gather(1, action)[:, 0]
            loss = (-chosen * advantage.detach() - 0.001 * entropy + advantage.square()).mean()
            for each, gradient in zip(shared, torch.autograd.grad(loss, parameters)):  # noqa: B905
                each.grad = gradient
            optimizer.step()

        return run

    net(f"A3C step, dense {width}, batch {batch}", 10, build, torch_run)


_actor_critic(1, 200)
_actor_critic(10, 200)
