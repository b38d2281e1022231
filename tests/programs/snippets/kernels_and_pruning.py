"""tf.contrib.kernel_methods and model_pruning."""

import importlib

_LOGITS = [[1.2, -1.4, -1.0], [1.4, 1.8, 4.0], [0.5, 1.8, -1.0]]


def _pruning_utils(tf):
    return importlib.import_module(tf.__name__ + ".contrib.model_pruning.python.pruning_utils")


def hinge_losses_of_many_classes(tf):
    hinge = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss
    logits = tf.constant(_LOGITS)
    return [
        hinge(tf.constant([0, 2, 1]), logits),
        hinge(tf.constant([[2], [0], [1]], tf.int64), logits, [1.0, 0.0, 2.0], reduction="none"),
        tf.gradients(hinge(tf.constant([1, 1, 1]), logits, tf.constant([[1.0], [2.0], [3.0]]), "named"), logits)[0],
    ]


def fourier_features(tf):
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(3, 5, stddev=2.0, seed=7, name="rffm")
    return [mapper.map(tf.constant(_LOGITS))]


def blocks(tf):
    utils = _pruning_utils(tf)
    logits = tf.constant(_LOGITS, name="logits")
    return [
        utils.kronecker_product(logits, tf.constant([[1.0, 2.0]])),
        utils.expand_tensor(logits, [2, 3]),
        utils.factorized_pool(logits, [2, 2], "MAX", [2, 2], "SAME"),
        utils.factorized_pool(logits, [1, 2], "AVG", [1, 1], "VALID", name="averages"),
    ]


def _pruned(tf, text, partitions=1):
    """The masks and thresholds of two layers, updated at step 50."""
    pruning = tf.contrib.model_pruning
    step = tf.Variable(50, trainable=False, name="global_step", dtype=tf.int64)
    values = tf.random_uniform_initializer(-1.0, 1.0, seed=3)
    divide = tf.fixed_size_partitioner(partitions) if partitions > 1 else None
    for name in ("one", "two"):
        with tf.variable_scope(name, partitioner=divide) as scope:
            pruning.apply_mask(tf.get_variable("w", [3, 4], initializer=values), scope)
    hparams = pruning.get_pruning_hparams().parse("pruning_frequency=10," + text)
    pruner = pruning.Pruning(hparams, global_step=step)
    if partitions == 1:
        pruner.add_pruning_summaries()
    with tf.control_dependencies([pruner.conditional_mask_update_op()]):
        found = pruning.get_masks() + pruning.get_thresholds()
        return [part.read_value() for v in found for part in (v if partitions > 1 and v in found[:2] else [v])]


def pruned_weights(tf):
    return _pruned(tf, "weight_sparsity_map=[two:0.25],threshold_decay=0.25")


def pruned_blocks(tf):
    return _pruned(tf, "block_dims_map=[one:2x1],block_height=1,block_width=-1,target_sparsity=0.75")


def pruned_blocks_in_two_steps(tf):
    return _pruned(tf, "block_height=2,block_width=2,block_pooling_function=MAX,use_tpu=true")


def pruned_partitions(tf):
    return _pruned(tf, "target_sparsity=0.75", partitions=2)
