"""A training that saves by itself; runs here and, in its own Python, under a real TensorFlow.

    python peer_training.py KIND FOLDER LAST_STEP

KIND is "monitored" or "supervisor". It goes on from the newest checkpoint of the folder, up to a step, and prints the
step at which it began and the weights at the end, as JSON.
"""

import json
import sys

import numpy as np

POINTS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


def build(tf):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=[[0.5], [-0.25], [2.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(POINTS), w) - 1.0))
    tf.summary.scalar("loss", loss)
    return step, w, tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)


def monitored(tf, folder, last_step):
    step, _, train = build(tf)
    hooks = [tf.train.StopAtStepHook(last_step=last_step)]
    options = {"save_checkpoint_steps": 4, "save_summaries_steps": 2, "log_step_count_steps": 2}
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, **options) as session:
        begin = session.run(step)
        while not session.should_stop():
            session.run(train)
    return int(begin), tf.train.load_checkpoint(folder).get_tensor("w").ravel().tolist()


def supervisor(tf, folder, last_step):
    step, w, train = build(tf)
    sv = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
    with sv.managed_session() as session:
        begin = session.run(step)
        while session.run(step) < last_step:
            session.run(train)
        sv.saver.save(session, sv.save_path, global_step=sv.global_step)
        return int(begin), session.run(w).ravel().tolist()


def main(tf, kind, folder, last_step):
    with tf.Graph().as_default():
        found = globals()[kind](tf, folder, last_step)
        tf.summary.FileWriterCache.clear()
        return found


if __name__ == "__main__":
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    print(json.dumps(main(tf, sys.argv[1], sys.argv[2], int(sys.argv[3]))))
