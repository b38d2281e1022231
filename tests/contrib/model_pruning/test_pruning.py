"""tf.contrib.model_pruning: hyperparameters that are refused, and graphs without masks."""

import numpy as np
import pytest

import stillflow as tf

pruning = tf.contrib.model_pruning


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        yield


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("begin_pruning_step=-1", "Illegal value for begin_pruning_step"),
        ("begin_pruning_step=5,end_pruning_step=5", "Pruning must begin before it can end"),
        ("sparsity_function_begin_step=100", "requires begin_step < end_step"),
        ("target_sparsity=1.0", "target_sparsity must be in range"),
        ("weight_sparsity_map=[a:1.5]", "Weight sparsity can not exceed 1.0"),
        ("block_dims_map=[a:1x2x3]", "Expected 2 values for block dim for a"),
    ],
)
def test_hyperparameters_that_are_refused(text, error):
    with pytest.raises(ValueError, match=error):
        pruning.Pruning(pruning.get_pruning_hparams().parse(text))


def test_weights_that_two_expressions_match_are_refused():
    pruning.apply_mask(tf.get_variable("weights", [4, 4]))
    pruner = pruning.Pruning(pruning.get_pruning_hparams().parse("weight_sparsity_map=[w.*:0.5,weights:0.25]"))
    with pytest.raises(ValueError, match="Multiple matches in weight_sparsity_map for weight weights"):
        pruner.mask_update_op()


def test_cells_that_share_weights_share_a_mask():
    weights = tf.get_variable("weights", [4, 4])
    pruning.apply_mask(weights)
    tf.get_variable_scope().reuse_variables()
    pruning.apply_mask(weights)
    assert len(pruning.get_masks()) == len(pruning.get_thresholds()) == len(pruning.get_weights()) == 1


def test_graphs_of_checkpoints_lose_their_masks(tmp_path):
    weights = tf.get_variable("weights", initializer=[[1.0, -2.0], [0.5, 3.0]])
    output = tf.identity(pruning.apply_mask(weights), name="output")
    update = pruning.Pruning().mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign(tf.train.get_global_step(), 100).op)
        session.run(update)
        expected = session.run(output)
        tf.train.Saver().save(session, str(tmp_path / "model"))
    assert np.count_nonzero(expected) == 2
    with tf.Graph().as_default():
        whole = pruning.graph_def_from_checkpoint(str(tmp_path), ["output"])
    stripped = pruning.strip_pruning_vars_fn(whole, ["output"])
    assert len(stripped.node) == 2 < len(whole.node)
    (found,) = tf.import_graph_def(stripped, return_elements=["output:0"])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(found), expected)


def test_directories_without_checkpoints_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Could not find a checkpoint"):
        pruning.graph_def_from_checkpoint(str(tmp_path), ["output"])
