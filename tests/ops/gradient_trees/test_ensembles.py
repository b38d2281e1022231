"""Ensembles of trees: how they grow, are pruned, saved, and what they predict."""

import numpy as np
import pytest
from google.protobuf import text_format

import stillflow as tf
from stillflow import ops
from stillflow.contrib.boosted_trees.messages import (
    DecisionTreeEnsembleConfig,
    LearnerConfig,
    ObliviousSplitInfo,
    SplitInfo,
)
from stillflow.contrib.boosted_trees.resources import tree_ensemble_variable
from stillflow.formats import protobuf
from stillflow.testing import assert_same_bits
from stillflow.variables.readiness import initialize_resources, shared_resources


def parsed(kind, text):
    return text_format.Merge(text, kind(), descriptor_pool=protobuf.pool())


def learner(text="num_classes: 2"):
    return parsed(LearnerConfig, text).SerializeToString()


def new_ensemble(text="", name="trees"):
    return tree_ensemble_variable(0, parsed(DecisionTreeEnsembleConfig, text).SerializeToString(), name)


def session():
    made = tf.Session()
    made.run(initialize_resources(shared_resources()))
    return made


def split(column, left, right, threshold=0.0):
    info = SplitInfo()
    info.split_node.dense_float_binary_split.feature_column = column
    info.split_node.dense_float_binary_split.threshold = threshold
    info.left_child.vector.value.append(left)
    info.right_child.vector.value.append(right)
    return info.SerializeToString()


def grow(handle, stamp, candidates, config="num_classes: 2", rate=0.1, depth=3, learner_type=0, seed=0):
    """An operation; `candidates` has for each handler (partitions, gains, splits)."""
    partitions, gains, splits = (list(each) for each in zip(*candidates, strict=True))
    return ops.grow_tree_ensemble(
        handle, stamp, stamp + 1, rate, seed, depth, learner_type, partitions, gains, splits,
        learner_config=learner(config), center_bias=False,
    )  # fmt: skip


def content(run, handle):
    stamp, config = run.run(ops.tree_ensemble_serialize(handle))
    return stamp, DecisionTreeEnsembleConfig.FromString(config)


def test_the_best_split_of_each_leaf_makes_a_layer():
    handle = new_ensemble()
    first = grow(handle, 0, [([0], [1.0], [split(0, 1.0, 2.0)]), ([0], [1.5], [split(1, 3.0, 4.0)])])
    # Of equal gains that of the later handler counts.
    second = grow(handle, 1, [([1, 2], [0.5, 2.0], [split(0, 0.1, 0.2)] * 2), ([1], [0.5], [split(1, 0.3, 0.4)])])
    with session() as run:
        run.run(first)
        run.run(second)
        stamp, ensemble = content(run, handle)
        stats = run.run(ops.tree_ensemble_stats(handle, 2))
    assert stamp == 2
    assert list(ensemble.tree_weights) == [pytest.approx(0.1)]
    nodes = ensemble.trees[0].nodes
    assert [node.WhichOneof("node") for node in nodes] == ["dense_float_binary_split"] * 3 + ["leaf"] * 4
    assert [node.dense_float_binary_split.feature_column for node in nodes[:3]] == [1, 1, 0]
    assert [node.leaf.vector.value[0] for node in nodes[3:]] == pytest.approx([3.3, 3.4, 4.1, 4.2])
    assert tuple(stats) == (0, 2, 1, 2, 1, 2)


def test_a_split_without_a_weight_on_both_sides_splits_nothing():
    handle, info = new_ensemble(), SplitInfo.FromString(split(0, 1.0, 2.0))
    info.ClearField("left_child")
    with session() as run:
        run.run(grow(handle, 0, [([0], [1.0], [info.SerializeToString()])]))
        stamp, ensemble = content(run, handle)
    assert stamp == 1
    assert len(ensemble.trees) == 0
    assert ensemble.growing_metadata.num_trees_attempted == 1


@pytest.mark.parametrize(("mode", "trees"), [("PRE_PRUNE", 0), ("POST_PRUNE", 0), ("PRUNING_MODE_UNSPECIFIED", 1)])
def test_splits_that_gain_nothing_are_pruned(mode, trees):
    handle = new_ensemble()
    config = f"num_classes: 2 pruning_mode: {mode}"
    with session() as run:
        run.run(grow(handle, 0, [([0], [-1.0], [split(0, 1.0, 2.0)])], config, depth=1))
        assert len(content(run, handle)[1].trees) == trees


def test_what_is_left_after_pruning_is_renumbered():
    handle, config = new_ensemble(), "num_classes: 2 pruning_mode: POST_PRUNE"
    with session() as run:
        run.run(grow(handle, 0, [([0], [1.0], [split(0, 1.0, 2.0)])], config, depth=2))
        run.run(grow(handle, 1, [([1, 2], [-0.5, 0.5], [split(1, 0.1, 0.2)] * 2)], config, depth=2))
        tree = content(run, handle)[1].trees[0]
    assert [node.WhichOneof("node") for node in tree.nodes] == [
        "dense_float_binary_split", "leaf", "dense_float_binary_split", "leaf", "leaf",
    ]  # fmt: skip
    assert tree.nodes[1].leaf.vector.value[0] == 1
    assert (tree.nodes[2].dense_float_binary_split.left_id, tree.nodes[2].dense_float_binary_split.right_id) == (3, 4)
    assert not tree.nodes[0].node_metadata.HasField("original_leaf")


def oblivious(threshold, children, parents):
    info = ObliviousSplitInfo(children_parent_id=parents)
    info.split_node.oblivious_dense_float_binary_split.threshold = threshold
    for value in children:
        info.children.add().vector.value.append(value)
    return info.SerializeToString()


def features(columns):
    return [np.float32(column)[:, None] for column in columns], [], [], [], [], [], []


def predict(handle, columns, config="num_classes: 2", **settings):
    settings = {
        "apply_dropout": False,
        "apply_averaging": False,
        "center_bias": False,
        "reduce_dim": True,
        **settings,
    }
    return ops.gradient_trees_prediction_verbose(
        handle, settings.pop("seed", 0), *features(columns), learner_config=learner(config), **settings
    )


def test_an_oblivious_tree_asks_the_same_of_a_whole_layer():
    handle = new_ensemble()
    config = "num_classes: 2 pruning_mode: PRE_PRUNE"
    with session() as run:
        run.run(grow(handle, 0, [([0], [1.0], [oblivious(0.0, [1.0, 2.0], [0])])], config, rate=1.0, learner_type=1))
        # The second leaf of the layer has no split of its own.
        run.run(grow(handle, 1, [([1], [1.0], [oblivious(1.0, [10.0, 20.0], [1])])], config, 1.0, learner_type=1))
        logits, _, leaves = run.run(predict(handle, [[-1.0, 2.0, 0.5]]))
        nodes = content(run, handle)[1].trees[0].nodes
    assert len(nodes[1].node_metadata.original_oblivious_leaves) == 2
    assert logits.ravel().tolist() == [11.0, 2.0, 2.0]
    assert leaves.ravel().tolist() == [2, 5, 4]


MIXED = """
    trees { nodes { sparse_float_binary_split_default_left { split { threshold: 1 dimension_id: 1 left_id: 1 right_id: 2 } } }
            nodes { leaf { vector { value: 1 } } } nodes { leaf { vector { value: 2 } } } }
    trees { nodes { categorical_id_set_membership_binary_split { feature_ids: 3 feature_ids: 5 left_id: 1 right_id: 2 } }
            nodes { leaf { sparse_vector { index: 1 value: 10 } } } nodes { leaf { sparse_vector { index: 0 value: 20 } } } }
    tree_weights: 1 tree_weights: 0.5
"""  # noqa: E501


def test_trees_ask_sparse_numbers_and_categories():
    handle = new_ensemble(MIXED)
    numbers = [[[0, 1], [1, 0], [2, 0], [2, 1]]], [[0.5, 9.0, 0.0, 9.0]], [[3, 2]]
    kinds = [[[0, 0], [1, 0], [1, 1]]], [[5, 4, 3]], [[3, 2]]
    settings = {"learner_config": learner(), "apply_dropout": False, "apply_averaging": False}
    logits, _ = ops.gradient_trees_prediction(
        handle, 0, [], *numbers, *kinds, center_bias=False, reduce_dim=False, **settings
    )
    with session() as run:
        assert run.run(logits).tolist() == [[1.0, 5.0], [1.0, 5.0], [12.0, 0.0]]


BIAS = "".join(
    f"trees {{ nodes {{ leaf {{ vector {{ value: {i + 1} }} }} }} }} tree_weights: 1 "
    f"tree_metadata {{ is_finalized: {done} }}"
    for i, done in enumerate(["true", "true", "false"])
)


@pytest.mark.parametrize(
    ("config", "settings", "expected"),
    [
        ("num_classes: 2", {}, 6),
        ("num_classes: 2 growing_mode: WHOLE_TREE", {}, 3),
        ("num_classes: 2 averaging_config { average_last_n_trees: 2 }", {"apply_averaging": True}, 1 + 2 + 3 / 2),
        (
            "num_classes: 2 averaging_config { average_last_percent_trees: 1 }",
            {"apply_averaging": True},
            1 + 2 * 2 / 3 + 3 / 3,
        ),
        (
            "num_classes: 2 learning_rate_tuner { dropout { dropout_probability: 1 } }",
            {"apply_dropout": True, "center_bias": True},
            1,
        ),
    ],
)
def test_trees_are_left_out_dropped_and_averaged(config, settings, expected):
    handle = new_ensemble(BIAS)
    with session() as run:
        logits, dropped, _ = run.run(predict(handle, [[0.0]], config, **settings))
    assert logits[0, 0] == pytest.approx(expected)
    assert dropped.shape[1] == (2 if "dropout" in config else 0)


def test_a_tree_that_grew_while_others_were_dropped_shares_their_weight():
    handle = new_ensemble(BIAS.replace("false", "true"))
    config = "num_classes: 2 learning_rate_tuner { dropout { dropout_probability: 1 } }"
    with session() as run:
        run.run(grow(handle, 0, [([0], [1.0], [split(0, 1.0, 2.0)])], config, depth=1))
        ensemble = content(run, handle)[1]
    assert list(ensemble.tree_weights) == [0.75] * 4
    assert [each.num_tree_weight_updates for each in ensemble.tree_metadata] == [1, 1, 1, 2]


def test_the_bias_is_centered_until_it_does_not_move():
    handle, changes = new_ensemble(), tf.placeholder(tf.float32, [None])
    stamp = tf.placeholder(tf.int64, [])
    center = ops.center_tree_ensemble_bias(handle, stamp, stamp + 1, changes, learner_config=learner())
    with session() as run:
        assert run.run(center, {stamp: 0, changes: [0.5]})
        assert not run.run(center, {stamp: 1, changes: [0.001]})
        ensemble = content(run, handle)[1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="delta_updates must have 1 elements"):
            run.run(center, {stamp: 2, changes: [1.0, 2.0]})
    assert ensemble.trees[0].nodes[0].leaf.vector.value[0] == pytest.approx(0.501)
    assert ensemble.tree_metadata[0].is_finalized


def test_handlers_that_are_used_are_kept():
    handle, config = new_ensemble(), "num_classes: 2 constraints { max_number_of_unique_feature_columns: 2 }"
    candidates = [([], [], []), ([0], [1.0], [split(0, 1.0, 2.0)])]
    with session() as run:
        run.run(grow(handle, 0, candidates, config))
        count, mask = run.run(ops.tree_ensemble_used_handlers(handle, 1, num_all_handlers=3))
    assert (count, mask.tolist()) == (1, [False, True, False])


def test_an_ensemble_is_saved_and_partitions_examples_by_the_tree_that_grows(tmp_path):
    handle = new_ensemble()
    saver = tf.train.Saver()
    partition = ops.gradient_trees_partition_examples(handle, *features([[-1.0, 1.0]]))
    with session() as run:
        assert run.run(partition).tolist() == [0, 0]
        run.run(grow(handle, 0, [([0], [1.0], [split(0, 1.0, 2.0)])]))
        assert run.run(partition).tolist() == [1, 2]
        path = saver.save(run, str(tmp_path / "trees"))
    with tf.Session() as run:
        saver.restore(run, path)
        assert run.run(partition).tolist() == [1, 2]
        assert run.run(ops.tree_ensemble_stamp_token(handle)) == 1
    keys = sorted(tf.train.load_checkpoint(path).get_variable_to_shape_map())
    assert keys == ["trees:0_config", "trees:0_stamp"]


def test_predictions_have_the_same_bits_for_any_threads(rng):
    values = [rng.normal(size=500).astype("f") for _ in range(2)]
    tree = parsed(DecisionTreeEnsembleConfig, "")
    for i in range(20):
        nodes = tree.trees.add().nodes
        node = nodes.add().dense_float_binary_split
        node.feature_column, node.threshold, node.left_id, node.right_id = i % 2, rng.normal(), 1, 2
        for _ in range(2):
            nodes.add().leaf.vector.value.append(rng.normal())
        tree.tree_weights.append(rng.uniform())

    def build(first, second):
        handle = ops.decision_tree_ensemble_resource_handle_op(shared_name="same bits")
        create = ops.create_tree_ensemble_variable(handle, 0, tree.SerializeToString())
        settings = {"apply_dropout": False, "apply_averaging": False, "center_bias": False, "reduce_dim": True}
        with tf.control_dependencies([create]):
            columns = [tf.reshape(each, [-1, 1]) for each in (first, second)]
            rest = [[] for _ in range(6)]
            return ops.gradient_trees_prediction(handle, 0, columns, *rest, learner_config=learner(), **settings)[0]

    assert_same_bits(build, *values)


LEFT = "nodes { dense_float_binary_split { left_id: %d right_id: %d feature_column: %d } } nodes { leaf { vector { value: 1 } } }"  # noqa: E501


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (LEFT % (0, 1, 0), "node 0 has the child 0"),
        (LEFT % (7, 7, 0), "no leaf 7 among its 2 nodes"),
        (LEFT % (1, 1, 4), "the feature column 4, but there are 1"),
        (LEFT % (1, 1, -1), "the feature column -1"),
        ("nodes { }", "it is of no kind"),
        ("nodes { leaf { } }", "Unknown leaf type"),
        ("nodes { leaf { vector { value: 1 value: 2 } } }", "weight of logit 1, but there are 1"),
        ("nodes { leaf { sparse_vector { index: -1 value: 2 } } }", "weight of logit -1"),
        ("", "no leaf 0 among its 0 nodes"),
    ],
)
def test_trees_that_make_no_sense_are_refused(tree, message):
    handle = new_ensemble(f"trees {{ {tree} }} tree_weights: 1")
    with session() as run, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run.run(predict(handle, [[0.0]]))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (b"\xff", "Unable to parse learner config"),
        (learner(""), "Number of classes must be >=2"),
        (learner("num_classes: 2 averaging_config { average_last_n_trees: 0 }"), "must be a positive number"),
        (learner("num_classes: 2 averaging_config { average_last_percent_trees: 2 }"), r"\(0,1\] interval"),
        (learner("num_classes: 2 learning_rate_tuner { dropout { dropout_probability: 2 } }"), r"in \[0,1\] range"),
    ],
)
def test_settings_that_make_no_sense_are_refused(config, message):
    handle = new_ensemble(BIAS)
    found = ops.gradient_trees_prediction(
        handle, 0, *features([[0.0]]), learner_config=config, apply_dropout=True, apply_averaging=True,
        center_bias=False, reduce_dim=True,
    )  # fmt: skip
    with session() as run, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run.run(found.predictions)


@pytest.mark.parametrize(
    ("candidates", "settings", "message"),
    [
        ([([3], [1.0], [split(0, 1.0, 2.0)])], {}, "Node 3 is not a leaf"),
        ([([0], [1.0, 2.0], [split(0, 1.0, 2.0)])], {}, "Inconsistent partition Ids and gains tensors: 1 != 2"),
        ([([0], [1.0], [b"\xff"])], {}, "Unable to parse split info"),
        ([([0], [1.0], [oblivious(0.0, [1.0], [0])])], {"learner_type": 1}, "two children of each of its 1 parents"),
        ([([0], [1.0], [oblivious(0.0, [1.0, 2.0], [4])])], {"learner_type": 1}, "4 is not the next leaf"),
        ([([0], [1.0, 1.0], [b"", b""])], {"learner_type": 1}, "Gains size must be one"),
        ([([0], [1.0], [b""])], {"learner_type": 7}, "weak_learner_type must be"),
        (
            [([0], [1.0], [b""])],
            {"learner_type": 1, "config": "num_classes: 2 pruning_mode: POST_PRUNE"},
            "Post-prunning is not implemented for Oblivious trees",
        ),
    ],
)
def test_candidates_that_make_no_sense_are_refused(candidates, settings, message):
    handle = new_ensemble()
    with session() as run, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run.run(grow(handle, 0, candidates, **settings))


def test_a_stamp_must_be_that_of_the_ensemble():
    handle = new_ensemble()
    with session() as run, pytest.raises(tf.errors.InvalidArgumentError, match="Passed stamp token: 3 Current"):
        run.run(ops.tree_ensemble_stats(handle, 3))


def test_damaged_ensembles_are_refused_at_any_length():
    whole = parsed(DecisionTreeEnsembleConfig, MIXED + "growing_metadata { used_handler_ids: 1 }").SerializeToString()
    handle, config = new_ensemble(), tf.placeholder(tf.string, [])
    load = ops.tree_ensemble_deserialize(handle, 1, config)
    with session() as run:
        outcomes = set()
        for length in range(len(whole)):
            try:
                run.run(load, {config: whole[:length]})
                outcomes.add("taken")
            except tf.errors.InvalidArgumentError as error:
                outcomes.add(error.message.split(".")[0].split("\n")[0])
        run.run(load, {config: whole})
        assert content(run, handle)[1].SerializeToString() == whole
    assert outcomes == {"taken", "Unable to parse tree ensemble config"}
