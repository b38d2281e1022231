"""A training that is saved and goes on, eagerly; also run by TensorFlow 1.15.5. Writes FOLDER/results.json.

python peer_checkpoints.py start FOLDER     trains three steps, saves, trains two more
python peer_checkpoints.py go_on FOLDER     restores, trains two steps
python peer_checkpoints.py deferred FOLDER  restores before the variables are there, trains two steps
python peer_checkpoints.py by_name FOLDER   restores the weights with a Saver
"""

import json
import sys
from pathlib import Path


def main(tf, task, folder):
    class Net(tf.Module):
        def build(self):
            self.weights = tf.Variable([1.0, 2.0], name="weights")
            self.parts = [tf.Variable(1.0), tf.Variable(2.0)]
            self.named = {"a": tf.Variable(3.0)}

    net = Net()
    optimizer = tf.train.AdamOptimizer(0.1)
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(net=net, optimizer=optimizer, step=step)
    prefix = folder + "/objects"

    def train(steps):
        for _ in range(steps):
            optimizer.minimize(
                lambda: tf.reduce_sum(net.weights * net.weights) + net.parts[0] * net.parts[1] + net.named["a"],
                global_step=step,
            )

    if task == "deferred":
        status = checkpoint.restore(prefix + "-1")
        net.build()
    else:
        net.build()
    if task == "start":
        train(3)
        checkpoint.save(prefix)
        tf.train.Saver([net.weights]).save(None, folder + "/by_name")
    elif task == "go_on":
        status = checkpoint.restore(prefix + "-1")
    elif task == "by_name":
        tf.train.Saver([net.weights]).restore(None, folder + "/by_name")
        return net.weights.numpy().tolist()
    saved = net.weights.numpy().tolist()
    train(2)
    if task != "start":
        status.assert_consumed()
    variables = [net.weights] + list(net.parts) + [net.named["a"], step, optimizer.get_slot(net.weights, "v")]
    return [saved] + [variable.numpy().tolist() for variable in variables]


if __name__ == "__main__":
    import tensorflow

    tensorflow.enable_eager_execution()
    results = main(tensorflow, *sys.argv[1:])
    (Path(sys.argv[2]) / "results.json").write_text(json.dumps(results))
