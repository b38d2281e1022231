"""A small training program that saves and goes on; runs here and, in its own Python, under a real TensorFlow.

    python peer_train.py start FOLDER KIND      trains two steps, saves with a MetaGraph, trains two more
    python peer_train.py go_on FOLDER KIND      imports the MetaGraph, restores, trains two steps
    python peer_train.py restore FOLDER KIND    builds the graph again, restores, trains two steps

All write the losses of the last two steps to losses.json.
"""

import json
import os
import sys

import numpy as np

FEED = (np.arange(12, dtype=np.float32).reshape(4, 3) - 4.0) / 3.0


def build(tf, kind):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("model", use_resource=kind == "resource"):
        partitioner = tf.fixed_size_partitioner(2) if kind == "partitioned" else None
        w = tf.get_variable("w", initializer=tf.constant([[0.5], [-0.25], [2.0]]), partitioner=None)
        p = tf.get_variable("p", [3, 2], initializer=tf.ones_initializer(), partitioner=partitioner)
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        tf.get_variable("text", initializer=tf.constant(["one", "two"]), trainable=False)
    hidden = tf.matmul(x, tf.convert_to_tensor(p))
    out = tf.matmul(x, w) + tf.reduce_sum(hidden, 1, keepdims=True) + b
    loss = tf.reduce_mean(tf.square(out - 1.0), name="loss")
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5)
    tf.train.AdamOptimizer(rate).minimize(loss, global_step=step, name="train")
    tf.add_to_collection("losses", loss)


def train(tf, session, count):
    (train_op,) = tf.get_collection("train_op")
    (loss,) = tf.get_collection("losses")
    losses = []
    for _ in range(count):
        losses.append(float(session.run(loss, {"x:0": FEED})))
        session.run(train_op, {"x:0": FEED})
    return losses


def main(tf, task, folder, kind):
    with tf.Graph().as_default(), tf.Session() as session:
        if task == "start":
            build(tf, kind)
            session.run(tf.global_variables_initializer())
            train(tf, session, 2)
            version = tf.train.SaverDef.V1 if kind == "v1" else tf.train.SaverDef.V2
            saver = tf.train.Saver(sharded=kind == "sharded", write_version=version)
            saver.save(session, folder + "/m", global_step=tf.train.get_global_step())
        elif task == "restore":
            build(tf, kind)
            tf.train.Saver().restore(session, tf.train.latest_checkpoint(folder))
        else:
            latest = tf.train.latest_checkpoint(folder)
            saver = tf.train.import_meta_graph(latest + ".meta")
            assert len(tf.trainable_variables()) == (4 if kind == "partitioned" else 3), tf.trainable_variables()
            saver.restore(session, latest)
        losses = train(tf, session, 2)
    with open(folder + "/losses.json", "w") as file:
        json.dump(losses, file)
    return losses


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    if not tensorflow.__version__.startswith("1."):
        import tensorflow.compat.v1 as tensorflow

        tensorflow.disable_v2_behavior()
    main(tensorflow, *sys.argv[1:])
