"""The best splits of nodes, beside all splits that there are."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.contrib.boosted_trees.messages import ObliviousSplitInfo, SplitInfo

L1, L2, COMPLEXITY, LEAST = 0.1, 0.5, 0.25, 0.05
BOUNDARIES = [0.5, 1.5, 2.5, 3.5]
BIAS = -1


def weigh(gradient, hessian):
    """(weight, gain) of a node."""
    if hessian <= LEAST or abs(gradient) <= L1:
        return 0.0, 0.0
    gradient -= np.sign(gradient) * L1
    return -gradient / (hessian + L2), gradient**2 / (hessian + L2)


def settings(class_id=-1, strategy=1, **more):
    return {
        "class_id": class_id, "feature_column_group_id": 3, "l1_regularization": L1, "l2_regularization": L2,
        "tree_complexity_regularization": COMPLEXITY, "min_node_weight": LEAST, "multiclass_strategy": strategy,
        **more,
    }  # fmt: skip


def dense(partitions, buckets, gradients, hessians, learner=0, batches=1, **more):
    ids = np.stack([buckets, np.zeros_like(buckets)], 1)
    return ops.build_dense_inequality_splits(
        batches, partitions, ids.astype(np.int64), np.float32(gradients), np.float32(hessians), BOUNDARIES,
        **settings(weak_learner_type=learner, **more),
    )  # fmt: skip


def run(splits, kind=SplitInfo):
    with tf.Session() as session:
        partitions, gains, infos = session.run(splits)
    return partitions.tolist(), gains, [kind.FromString(info) for info in infos]


def sums(rng, count):
    return rng.normal(size=count), rng.uniform(0.1, 1, size=count)


def test_a_dense_split_is_the_best_of_all(rng):
    gradients, hessians = sums(rng, 8)
    partitions, gains, infos = run(dense([1, 1, 1, 1, 4, 4, 4, 4], np.tile(range(4), 2), gradients, hessians))
    assert partitions == [1, 4]
    for node in (0, 1):
        g, h = gradients[4 * node : 4 * node + 4], hessians[4 * node : 4 * node + 4]
        best = max(range(4), key=lambda i: weigh(g[: i + 1].sum(), h[: i + 1].sum())[1]
                   + weigh(g[i + 1 :].sum(), h[i + 1 :].sum())[1])  # fmt: skip
        left, right = (weigh(g[part].sum(), h[part].sum()) for part in (slice(best + 1), slice(best + 1, None)))
        gain = left[1] + right[1] - weigh(g.sum(), h.sum())[1] - COMPLEXITY
        assert gains[node] == pytest.approx(gain, rel=1e-4, abs=1e-5)
        split = infos[node].split_node.dense_float_binary_split
        assert (split.feature_column, split.threshold) == (3, BOUNDARIES[best])
        assert infos[node].left_child.vector.value[0] == pytest.approx(left[0], rel=1e-4, abs=1e-6)
        assert infos[node].right_child.vector.value[0] == pytest.approx(right[0], rel=1e-4, abs=1e-6)


def test_sums_are_divided_by_the_number_of_batches(rng):
    gradients, hessians = sums(rng, 4)
    one = run(dense([0] * 4, np.arange(4), gradients, hessians))
    three = run(dense([0] * 4, np.arange(4), 3 * gradients, 3 * hessians, batches=3))
    np.testing.assert_allclose(one[1], three[1], rtol=1e-5)


def test_a_leaf_of_one_class_is_sparse(rng):
    gradients, hessians = sums(rng, 4)
    _, _, (info,) = run(dense([0] * 4, np.arange(4), gradients, hessians, class_id=2))
    assert list(info.left_child.sparse_vector.index) == [2]


def test_several_logits_have_a_matrix_of_hessians_or_its_diagonal(rng):
    gradients, diagonal = rng.normal(size=(4, 2)), rng.uniform(0.5, 1, size=(4, 2))
    matrices = np.stack([np.diag(each) for each in diagonal])
    found = [
        run(dense([0] * 4, np.arange(4), gradients, hessians, strategy=strategy))
        for strategy, hessians in ((3, diagonal), (2, matrices))
    ]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-4)
    leaves = [list(infos[0].left_child.vector.value) for _, _, infos in found]
    np.testing.assert_allclose(*leaves, rtol=1e-4)


def test_a_layer_of_an_oblivious_tree_is_split_once(rng):
    gradients, hessians = sums(rng, 8)
    splits = dense([1, 1, 1, 1, 2, 2, 2, 2], np.tile(range(4), 2), gradients, hessians, learner=1)
    partitions, gains, (info,) = run(splits, ObliviousSplitInfo)
    assert partitions == list(info.children_parent_id) == [1, 2]
    assert len(info.children) == 4
    totals = sum(weigh(gradients[part].sum(), hessians[part].sum())[1] for part in (slice(4), slice(4, 8)))

    def gain_of(i):
        gain = 0.0
        for part in (slice(4), slice(4, 8)):
            g, h = gradients[part], hessians[part]
            gain += weigh(g[: i + 1].sum(), h[: i + 1].sum())[1] + weigh(g[i + 1 :].sum(), h[i + 1 :].sum())[1]
        return gain - totals - 2 * COMPLEXITY

    assert gains[0] == pytest.approx(max(map(gain_of, range(4))), rel=1e-4, abs=1e-5)
    threshold = info.split_node.oblivious_dense_float_binary_split.threshold
    assert threshold == BOUNDARIES[max(range(4), key=gain_of)]


def sparse(partitions, ids, gradients, hessians, bias=BIAS):
    return ops.build_sparse_inequality_splits(
        1, partitions, np.int64(ids), np.float32(gradients), np.float32(hessians), BOUNDARIES,
        bias_feature_id=bias, **settings(),
    )  # fmt: skip


@pytest.mark.parametrize(("missing", "kind"), [(-3.0, "left"), (3.0, "right")])
def test_examples_without_a_value_go_where_most_is_gained(missing, kind):
    # Of all examples 2 + 2 have values in the buckets 0 and 2.
    gradients = [missing - 2.0 + 2.0, -2.0, 2.0]
    splits = sparse([0, 0, 0], [[BIAS, 0], [0, 0], [2, 0]], gradients, [3.0, 1.0, 1.0])
    _, _, (info,) = run(splits)
    assert info.split_node.WhichOneof("node") == f"sparse_float_binary_split_default_{kind}"


def test_the_best_dimension_of_a_sparse_feature_is_found_and_empty_nodes_are_left_out():
    ids = [[BIAS, 0], [BIAS, 0], [1, 0], [0, 4], [1, 4]]
    splits = sparse([0, 1, 1, 1, 1], ids, [1.0, 0.0, 0.1, -4.0, 4.0], [1.0, 2.0, 1.0, 1.0, 1.0])
    partitions, _, (info,) = run(splits)
    assert partitions == [1]
    split = info.split_node.sparse_float_binary_split_default_left.split
    assert (split.dimension_id, split.threshold) == (4, BOUNDARIES[0])


def equality(partitions, ids, gradients, hessians, learner=0):
    return ops.build_categorical_equality_splits(
        1, partitions, np.int64([[each, 0] for each in ids]), np.float32(gradients), np.float32(hessians),
        bias_feature_id=BIAS, **settings(weak_learner_type=learner),
    )  # fmt: skip


def test_the_best_category_goes_to_the_left():
    splits = equality([0, 0, 0, 2], [BIAS, 5, 9, BIAS], [0.5, -3.0, 0.2, 1.0], [3.0, 1.0, 1.0, 1.0])
    partitions, gains, (info,) = run(splits)
    assert partitions == [0]
    assert info.split_node.categorical_id_binary_split.feature_id == 5
    gain = weigh(-3.0, 1.0)[1] + weigh(3.5, 2.0)[1] - weigh(0.5, 3.0)[1] - COMPLEXITY
    assert gains[0] == pytest.approx(gain, rel=1e-5)


def test_an_oblivious_layer_has_one_category_also_beside_nodes_without_any():
    splits = equality(
        [0, 1, 1, 2, 2, 2], [BIAS, BIAS, 7, BIAS, 5, 7], [1.0, 0.5, 2.0, 0.5, 0.2, -3.0], [1.0] * 6, learner=1
    )
    partitions, _, (info,) = run(splits, ObliviousSplitInfo)
    assert partitions == list(info.children_parent_id) == [1, 2]
    assert info.split_node.oblivious_categorical_id_binary_split.feature_id == 7


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        (lambda: dense([1, 0], np.arange(2), [1.0, 1.0], [1.0, 1.0]), "Partition IDs must be sorted"),
        (lambda: dense([0], np.array([9]), [1.0], [1.0]), "bucket 9 is not among 4 buckets"),
        (lambda: dense([0], np.array([0]), [1.0], [1.0], strategy=0), "Wrong multiclass strategy"),
        (lambda: dense([0], np.array([0]), [1.0], [1.0], strategy=3), "not those of the strategy"),
        (lambda: dense([0], np.array([0]), [1.0], [1.0], learner=5), "weak_learner_type must be"),
        (lambda: sparse([0, 0], [[1, 0], [2, 0]], [1.0, 1.0], [1.0, 1.0]), "Bias feature ID missing"),
        (lambda: sparse([0, 0], [[BIAS, 1], [2, 1]], [1.0, 1.0], [1.0, 1.0]), "must be with dimension 0"),
        (lambda: sparse([0] * 3, [[BIAS, 0], [2, 0], [1, 0]], [1.0] * 3, [1.0] * 3), "Bucket ids must be sorted"),
        (lambda: equality([0, 0], [4, 5], [1.0, 1.0], [1.0, 1.0]), "Bias feature ID missing"),
    ],
)
def test_sums_that_make_no_sense_are_refused(splits, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(splits())


def test_without_sums_there_are_no_splits():
    nothing = np.zeros(0)
    assert run(dense(nothing.astype(np.int32), nothing.astype(np.int64), nothing, nothing))[0] == []
