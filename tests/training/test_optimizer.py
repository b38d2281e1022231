"""The base class of optimizers: gradients, slots, global steps, gates, errors."""

import pytest

import stillflow as tf
from stillflow.training.optimizer import Optimizer

MAKERS = [
    lambda: tf.train.GradientDescentOptimizer(0.1),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    lambda: tf.train.AdagradOptimizer(0.1),
    lambda: tf.train.AdamOptimizer(0.1),
]


@pytest.fixture(params=MAKERS, ids=["descent", "momentum", "adagrad", "adam"])
def optimizer(request, new_graph):
    return request.param()


# ---- Gradients ------------------------------------------------------------------------------------------------


def test_gradients_come_in_the_order_of_the_variables_with_none_for_the_rest(optimizer):
    a, b, c = (tf.Variable(1.0, name=name) for name in "abc")
    pairs = optimizer.compute_gradients(a * a + c)
    assert [v for _, v in pairs] == [a, b, c]
    assert [grad is None for grad, _ in pairs] == [False, True, False]
    pairs = optimizer.compute_gradients(a * a + c, var_list=[c, b])
    assert [v for _, v in pairs] == [c, b]


def test_only_trainable_variables_are_trained(optimizer):
    a = tf.Variable(1.0)
    tf.Variable(1.0, trainable=False)
    assert [v for _, v in optimizer.compute_gradients(a * 2.0)] == [a]


def test_what_cannot_be_differentiated_is_refused(optimizer):
    w, n = tf.Variable(1.0, name="w"), tf.Variable(1, name="n")
    with pytest.raises(ValueError, match="No gradients provided for any variable, check your graph"):
        optimizer.minimize(tf.constant(1.0), var_list=[w])
    with pytest.raises(ValueError, match="Invalid type tf.int32 for"):
        optimizer.minimize(tf.constant(1) * n)
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        optimizer.minimize(w * w, gate_gradients="GATE_OP")
    with pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(w * w, var_list=[])


def test_applying_nothing_is_refused(optimizer):
    w = tf.Variable(1.0)
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, w)])
    with pytest.raises(TypeError, match="Gradient must be convertible to a Tensor"):
        optimizer.apply_gradients([(object(), w)])


def test_gradients_of_another_shape_are_refused(optimizer):
    w = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="must be equal|Shapes must"):
        optimizer.apply_gradients([(tf.constant([1.0, 2.0, 3.0]), w)])


def test_an_optimizer_needs_a_name():
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.GradientDescentOptimizer(0.1, name="")
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0)


@pytest.mark.parametrize("gate", [Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH])
def test_gates_change_no_values(gate):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(a * b * b, gate_gradients=gate)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([a, b]) == [-2.5, -3]


def test_a_gradient_to_start_from():
    w = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(w * 3.0, grad_loss=tf.constant(2.0))
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train)
        assert session.run(w) == -5


# ---- Slots and steps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "names", "variables"),
    [
        (MAKERS[0], [], []),
        (MAKERS[1], ["momentum"], ["w/Momentum:0"]),
        (MAKERS[2], ["accumulator"], ["w/Adagrad:0"]),
        (MAKERS[3], ["m", "v"], ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]),
    ],
)
def test_slots_have_names_and_are_found(make, names, variables):
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = make()
    assert optimizer.get_slot(w, "momentum") is None
    optimizer.minimize(tf.reduce_sum(w * w))
    assert optimizer.get_slot_names() == names
    assert [v.name for v in optimizer.variables()] == variables
    for name in names:
        slot = optimizer.get_slot(w, name)
        assert slot.shape == w.shape and slot in tf.global_variables() and slot not in tf.trainable_variables()
    assert optimizer.get_slot(tf.Variable(1.0), "m") is None


def test_slots_are_made_once_and_belong_to_their_graph(optimizer):
    w = tf.Variable([1.0], name="w")
    optimizer.minimize(tf.reduce_sum(w * w))
    count = len(tf.global_variables())
    optimizer.minimize(tf.reduce_sum(w))
    assert len(tf.global_variables()) == count
    with tf.Graph().as_default():
        optimizer.minimize(tf.Variable(1.0, name="w") * 2.0)
        assert len(tf.global_variables()) == count
        assert all(v.graph is tf.get_default_graph() for v in optimizer.variables())


def test_a_slot_that_is_not_initialized_is_named():
    w = tf.Variable([1.0], name="w")
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    with tf.Session() as session:
        session.run(w.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value (beta|w/Adam)"):
            session.run(train)


def test_the_global_step_counts_after_the_update(optimizer):
    w = tf.Variable(1.0)
    step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
    train = optimizer.minimize(w * w, global_step=step, name="train")
    assert train.name == "train" and train in tf.get_collection(tf.GraphKeys.TRAIN_OP)
    with tf.control_dependencies([train]):
        after = step.read_value() + 0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(after) for _ in range(3)] == [1, 2, 3]


def test_a_loss_comes_down(optimizer):
    w = tf.Variable([3.0, -4.0])
    loss = tf.reduce_sum(tf.square(w - [1.0, 2.0]))
    train = optimizer.minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(50):
            session.run(train)
        assert session.run(loss) < before * 0.9


def test_subclasses_need_only_say_how_one_variable_is_updated():
    class Sign(Optimizer):
        def __init__(self):
            super().__init__(False, "Sign")

        def _apply_dense(self, grad, var):
            return tf.assign_sub(var, tf.sign(grad))

    w = tf.Variable([3.0, -4.0])
    train = Sign().minimize(tf.reduce_sum(w * w))
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train)
        assert session.run(w).tolist() == [2, -3]


def test_constraints_hold_after_each_step(optimizer):
    w = tf.get_variable("w", initializer=[0.01, 5.0], constraint=lambda x: tf.maximum(x, 0.0))
    train = optimizer.minimize(tf.reduce_sum(w * 3.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(w)[0] == 0


def test_minimize_passes_its_options_by_name():
    """Subclasses in programs take them as keywords: compute_gradients(self, loss, var_list, **kwargs)."""

    class Halving(tf.train.GradientDescentOptimizer):
        def compute_gradients(self, loss, var_list, **kwargs):
            pairs = super().compute_gradients(loss, var_list, **kwargs)
            return [(gradient / 2, variable) for gradient, variable in pairs]

        def apply_gradients(self, pairs, **kwargs):
            return super().apply_gradients(pairs, **kwargs)

    x = tf.Variable(8.0)
    step = Halving(1.0).minimize(x * 4, var_list=[x])
    with tf.Session() as session:
        session.run(x.initializer)
        session.run(step)
        assert session.run(x) == 6.0


def test_own_updates_are_called_for_the_kind_of_variable_that_their_name_says():
    called = []

    class Adam(tf.train.AdamOptimizer):
        def _apply_dense(self, grad, var):
            called.append("dense")
            return super()._apply_dense(grad, var)

        def _resource_apply_dense(self, grad, handle):
            called.append("resource dense")
            return super()._resource_apply_dense(grad, handle)

        def _apply_sparse_duplicate_indices(self, grad, var):
            called.append("duplicates")
            return super()._apply_sparse_duplicate_indices(grad, var)

        def _apply_sparse(self, grad, var):
            called.append("sparse")
            return super()._apply_sparse(grad, var)

        def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
            called.append("resource duplicates")
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)

        def _resource_apply_sparse(self, grad, handle, indices):
            called.append("resource sparse")
            return super()._resource_apply_sparse(grad, handle, indices)

    found = []
    for use_resource in (False, True):
        a, b = (tf.Variable([1.0, 2.0], use_resource=use_resource) for _ in range(2))
        loss = tf.reduce_sum(a) + tf.reduce_sum(tf.gather(b, [1, 1]))
        step = Adam(0.5).minimize(loss, var_list=[a, b])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            found.append([value.tolist() for value in session.run([a, b])])
    assert called == [
        "dense", "duplicates", "sparse", "resource dense", "resource duplicates", "resource sparse",
    ]  # fmt: skip
    assert found[0] == found[1]
