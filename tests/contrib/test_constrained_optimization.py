"""tf.contrib.constrained_optimization: candidates, and optimizers on a problem whose solution is known."""

import numpy as np
import pytest

import stillflow as tf

constrained = tf.contrib.constrained_optimization


class Problem(constrained.ConstrainedMinimizationProblem):
    """The point of the half-plane x + y >= 1 that is nearest to 0: (0.5, 0.5)."""

    def __init__(self, proxy=None, before=None):
        self.point = tf.Variable([2.0, 0.0])
        self._proxy, self._before = proxy, before

    @property
    def objective(self):
        return tf.reduce_sum(self.point**2)

    @property
    def constraints(self):
        return tf.stack([1.0 - tf.reduce_sum(self.point)])

    @property
    def proxy_constraints(self):
        return self._proxy

    @property
    def pre_train_ops(self):
        return self._before


_OPTIMIZERS = {
    "additive": constrained.AdditiveExternalRegretOptimizer,
    "bounded": lambda *a: constrained.AdditiveExternalRegretOptimizer(*a, maximum_multiplier_radius=2.0),
    "swap": constrained.AdditiveSwapRegretOptimizer,
    "multiplicative": constrained.MultiplicativeSwapRegretOptimizer,
}


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("kind", _OPTIMIZERS)
def test_optimizers_find_the_solution(kind, two):
    problem = Problem()
    rates = (0.1, 0.2) if two else (0.2,)
    optimizer = _OPTIMIZERS[kind](*[tf.train.GradientDescentOptimizer(rate) for rate in rates])
    step = tf.train.create_global_step()
    train_op = optimizer.minimize(problem, unconstrained_steps=20, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(train_op)
        assert np.abs(session.run(problem.point)).max() < 0.3  # towards 0
        for _ in range(400):
            session.run(train_op)
        np.testing.assert_allclose(session.run(problem.point), [0.5, 0.5], atol=0.02)
        assert session.run(step) == 420


def test_operations_before_a_step_run():
    count = tf.Variable(0)
    problem = Problem(before=[count.assign_add(1)])
    optimizer = constrained.AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.1))
    operations = [optimizer.minimize_constrained(problem), optimizer.minimize_unconstrained(problem)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for operation in operations:
            session.run(operation)
        assert session.run(count) == 2


def test_what_does_not_fit():
    assert Problem().num_constraints == 1
    with pytest.raises(ValueError, match="must have the same shape"):
        assert Problem(proxy=tf.zeros([2])).num_constraints
    with pytest.raises(ValueError, match="fully-known shapes"):
        assert Problem(proxy=tf.placeholder(tf.float32)).num_constraints
    optimizer = constrained.AdditiveSwapRegretOptimizer(tf.train.GradientDescentOptimizer(0.1))
    with pytest.raises(ValueError, match="must have the same dtype"):
        optimizer.minimize(Problem(proxy=tf.zeros([1], tf.float64)))
    with pytest.raises(ValueError, match="global_step cannot be None"):
        optimizer.minimize(Problem(), unconstrained_steps=3)
    with pytest.raises(ValueError, match="minimum_multiplier_radius must be in the range"):
        constrained.MultiplicativeSwapRegretOptimizer(optimizer.optimizer, minimum_multiplier_radius=2.0)


def test_best_distribution():
    """Half of each of two candidates is feasible; where nothing is, the violation is the least there can be."""
    found = constrained.find_best_candidate_distribution(np.array([0.0, 2.0]), np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(found, [0.5, 0.5], atol=1e-6)
    found = constrained.find_best_candidate_distribution(
        np.array([0.0, 2.0, 0.0]), np.array([[3.0, 1.0, 5.0], [1.0, 3.0, 5.0]]), epsilon=1e-7
    )
    np.testing.assert_allclose(found, [0.5, 0.5, 0.0], atol=1e-5)
    with pytest.raises(ValueError, match="epsilon must be nonnegative"):
        constrained.find_best_candidate_distribution(np.zeros(1), np.zeros((1, 1)), epsilon=-1.0)


def test_best_index():
    objectives = np.array([3.0, 1.0, 2.0, 1.0])
    violations = np.array([[0.0, 2.0, -1.0, 1.0], [-1.0, 0.0, -2.0, 3.0]])
    assert constrained.find_best_candidate_index(objectives, violations) == 2
    assert constrained.find_best_candidate_index(objectives, violations, rank_objectives=True) == 2
    assert constrained.find_best_candidate_index(np.zeros(3), np.zeros((1, 3))) == 2
    with pytest.raises(ValueError, match="objective_vector must have shape"):
        constrained.find_best_candidate_index(np.zeros(3), np.zeros((1, 2)))
