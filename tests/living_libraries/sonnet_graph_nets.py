"""Sonnet and Graph Nets: a graph network learns how many edges enter each node of made-up graphs."""

import os

# Sonnet's messages were generated for an older protobuf; this is what the newer one says to do about it.
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"

import graph_nets
import numpy as np
import sonnet as snt
import tensorflow as tf

random = np.random.RandomState(0)


def graph(nodes, edges):
    return {
        "nodes": np.ones((nodes, 1), np.float32), "edges": np.ones((edges, 1), np.float32),
        "globals": np.zeros(1, np.float32), "senders": random.randint(0, nodes, edges),
        "receivers": random.randint(0, nodes, edges),
    }  # fmt: skip


def batch():
    graphs = [graph(random.randint(3, 8), random.randint(4, 12)) for _ in range(16)]
    counts = [np.bincount(each["receivers"], minlength=len(each["nodes"])) for each in graphs]
    return graph_nets.utils_np.data_dicts_to_graphs_tuple(graphs), np.concatenate(counts)[:, None].astype(np.float32)


def net(size):
    return snt.nets.MLP([16, size], activate_final=False)


tf.set_random_seed(1)
placeholder = graph_nets.utils_tf.placeholders_from_data_dicts([graph(3, 4)])
network = graph_nets.modules.InteractionNetwork(edge_model_fn=lambda: net(4), node_model_fn=lambda: net(1))
expected = tf.placeholder(tf.float32, [None, 1])
loss = tf.losses.mean_squared_error(expected, network(placeholder).nodes)
step = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(400):
        graphs, counts = batch()
        feed = {**graph_nets.utils_tf.get_feed_dict(placeholder, graphs), expected: counts}
        found, _ = session.run([loss, step], feed)
        if i % 100 == 0:
            print(i, found)
print("squared error at the end:", found)
assert found < 0.05
