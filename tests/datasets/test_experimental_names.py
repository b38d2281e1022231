"""Data set ops under the names of TensorFlow 1.13 and 1.14 do what the ops of today do."""

import pytest

import stillflow as tf
from stillflow.graph import op_def as op_defs
from stillflow.ops.data import experimental_names

experimental = tf.data.experimental
PIPELINES = {
    "map_and_batch": lambda d: d.apply(experimental.map_and_batch(lambda x: x * 2, 3)),
    "group_by_window": lambda d: d.apply(experimental.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)),
    "unbatch": lambda d: d.batch(3).apply(experimental.unbatch()),
    "scan": lambda d: d.apply(experimental.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))),
    "unique": lambda d: d.map(lambda x: x % 3).apply(experimental.unique()),
    "take_while": lambda d: d.apply(experimental.take_while(lambda x: x < 3)),
    "interleave": lambda d: d.apply(experimental.parallel_interleave(lambda x: tf.data.Dataset.range(x), 2)),
    "choose": lambda d: experimental.choose_from_datasets([d, d], tf.data.Dataset.range(2).repeat(3)),
}


def elements(graph_def):
    found = []
    with tf.Graph().as_default(), tf.Session() as session:
        (next_element,) = tf.import_graph_def(graph_def, return_elements=["next:0"])
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(next_element).tolist())
    return found


def renamed(graph_def):
    """The graph as TensorFlow 1.14 wrote it, and how many nodes have other names there."""
    old = tf.GraphDef.FromString(graph_def.SerializeToString())
    nodes = [*old.node, *(node for function in old.library.function for node in function.node_def)]
    changed = [node for node in nodes if op_defs.find(f"Experimental{node.op}") and node.op != "MapDataset"]
    for node in changed:
        node.op = f"Experimental{node.op}"
    return old, len(changed)


@pytest.mark.parametrize("name", PIPELINES)
def test_graphs_of_1_14_run(name):
    with tf.Graph().as_default() as graph:
        dataset = PIPELINES[name](tf.data.Dataset.range(7))
        tf.identity(tf.data.make_one_shot_iterator(dataset).get_next(), name="next")
    graph_def = graph.as_graph_def()
    old, count = renamed(graph_def)
    assert count > 0
    assert elements(old) == elements(graph_def) != []


def test_the_ops_are_the_same():
    assert experimental_names
    new, old = op_defs.find("UnbatchDataset"), op_defs.find("ExperimentalUnbatchDataset")
    assert old.name == "ExperimentalUnbatchDataset" and new.name == "UnbatchDataset"
    assert old.lowering == new.lowering and old.shape_rule is new.shape_rule
