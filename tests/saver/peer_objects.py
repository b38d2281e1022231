"""Objects that are saved by tf.train.Checkpoint and restored; runs here and under a real TensorFlow.

    python peer_objects.py start FOLDER     trains two steps, saves, trains two more
    python peer_objects.py go_on FOLDER     restores, trains two steps
    python peer_objects.py deferred FOLDER  restores before most objects are there, trains two steps
    python peer_objects.py nodes FOLDER     writes the nodes that saving and restoring add

All write FOLDER/results.json.
"""

import json
import os
import sys


def model(tf):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        found = tf.train.Checkpoint(w=tf.get_variable("w", initializer=[[0.5], [-0.25], [2.0]]))
        found.layers = [
            tf.get_variable("first", initializer=3.0, use_resource=True),
            {"inner/name": tf.get_variable("inner", initializer=[1.5, 1.0])},
            tf.train.Checkpoint(deep=tf.get_variable("deep", initializer=2.0)),
        ]
        found.layers.append(tf.get_variable("last", initializer=-1.0))
        found.table = {"a.b": tf.get_variable("dotted", initializer=4.0), "shared": found.layers[2]}
        found.table["more"] = tf.get_variable("text", initializer=tf.constant(["x", "yy"]), trainable=False)
    return found


def loss_of(tf, found):
    total = tf.reduce_sum(tf.square(found.w)) + tf.square(found.layers[0])
    total += tf.reduce_sum(tf.square(found.layers[1]["inner/name"])) + tf.square(found.layers[2].deep)
    return total + tf.square(found.layers[3] - found.table["a.b"])


def train(tf, session, train_op, loss, count=2):
    losses = []
    for _ in range(count):
        losses.append(float(session.run(loss)))
        session.run(train_op)
    return losses


def main(tf, task, folder):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        adam, momentum = tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.01, 0.5)
        step = tf.train.get_or_create_global_step()
        found = model(tf)
        checkpoint = tf.train.Checkpoint(adam=adam, momentum=momentum, step=step)
        latest = tf.train.latest_checkpoint(folder)
        if task == "deferred":
            status = checkpoint.restore(latest)
        checkpoint.model = found
        loss = loss_of(tf, found)
        train_op = tf.group(
            adam.minimize(loss, var_list=tf.trainable_variables()[:3], global_step=step),
            momentum.minimize(loss, var_list=tf.trainable_variables()[3:]),
        )
        if task == "start":
            session.run(tf.global_variables_initializer())
            train(tf, session, train_op, loss)
            path = checkpoint.save(folder + "/deep/er/m")
            assert path == folder + "/deep/er/m-1", path
            manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
            manager.save()
            assert manager.save() == manager.latest_checkpoint == folder + "/ckpt-3"
            results = train(tf, session, train_op, loss)
        elif task == "nodes":
            results = nodes(tf, graph, session, checkpoint, folder)
        else:
            if task == "go_on":
                status = checkpoint.restore(latest)
            status.assert_consumed().assert_existing_objects_matched().assert_nontrivial_match()
            status.run_restore_ops(session)
            assert session.run(checkpoint.save_counter) == 3
            assert session.run(step) == 2
            assert session.run(found.table["more"]).tolist() == [b"x", b"yy"]
            results = train(tf, session, train_op, loss)
    with open(folder + "/results.json", "w") as file:
        json.dump(results, file)
    return results


def nodes(tf, graph, session, checkpoint, folder):
    """What saving, saving again, and restoring add, and what the checkpoint has."""
    session.run(tf.global_variables_initializer())
    count = len(graph.get_operations())
    path = checkpoint.save(folder + "/m")
    checkpoint.save(folder + "/m")
    checkpoint.added = tf.get_variable("added", initializer=1.0)
    session.run(checkpoint.added.initializer)
    path = checkpoint.save(folder + "/m")
    checkpoint.restore(path).assert_consumed()
    checkpoint.restore(path).initialize_or_restore()
    manager = tf.train.CheckpointManager(checkpoint, folder + "/other", 1)
    manager.save()
    found = [
        [op.name, op.type, [t.name for t in op.inputs], sorted(o.name for o in op.control_inputs), op.device]
        for op in graph.get_operations()[count:]
    ]
    reader = tf.train.NewCheckpointReader(path)
    names = sorted(map(list, reader.get_variable_to_shape_map().items()))
    return [found, names, reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH").hex()]


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    if not tensorflow.__version__.startswith("1."):
        import tensorflow.compat.v1 as tensorflow

        tensorflow.disable_v2_behavior()
    main(tensorflow, *sys.argv[1:])
