"""What a LearnerConfig leaves open."""

from __future__ import annotations


def fill_defaults(config, logits_dimension):
    """Sets what a LearnerConfig does not say.

    Raises ValueError for what cannot be together.
    """
    if config.multi_class_strategy == config.MULTI_CLASS_STRATEGY_UNSPECIFIED:
        is_single = logits_dimension == 1
        config.multi_class_strategy = config.TREE_PER_CLASS if is_single else config.DIAGONAL_HESSIAN
    if config.growing_mode == config.GROWING_MODE_UNSPECIFIED:
        config.growing_mode = config.LAYER_BY_LAYER
    is_oblivious = config.weak_learner_type == config.OBLIVIOUS_DECISION_TREE
    if config.pruning_mode == config.PRUNING_MODE_UNSPECIFIED:
        config.pruning_mode = config.PRE_PRUNE if is_oblivious else config.POST_PRUNE
    if is_oblivious and config.pruning_mode == config.POST_PRUNE:
        raise ValueError("Post pruning is not implemented for oblivious decision trees.")
    if config.constraints.max_tree_depth == 0:
        config.constraints.max_tree_depth = 6
    if not config.learning_rate_tuner.WhichOneof("tuner"):
        config.learning_rate_tuner.fixed.learning_rate = 0.1


def learning_rate_of(config):
    """The learning rate. Raises ValueError for a rate that would have to be searched."""
    kind = config.learning_rate_tuner.WhichOneof("tuner")
    if kind not in ("fixed", "dropout"):
        raise ValueError("Line search learning rate is not yet supported.")
    return getattr(config.learning_rate_tuner, kind).learning_rate
