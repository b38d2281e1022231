"""The best of candidates for the solution of a constrained problem, and the best distribution over them.

Both are of Cotter, Jiang and Sridharan, "Two-player games for efficient non-convex constrained optimization":
lemma 3, and the heuristic of section 5.2. They need SciPy.
"""

from __future__ import annotations

import numpy as np

from stillflow.names import public


@public("contrib.constrained_optimization.find_best_candidate_distribution")
def find_best_candidate_distribution(objective_vector, constraints_matrix, epsilon=0.0):
    """The distribution over candidates with the smallest mean objective, among those that violate least.

    Args:
      objective_vector: an array of shape [candidates].
      constraints_matrix: an array of shape [constraints, candidates]; what is greater than 0 is a violation.
      epsilon: how exactly the least violation is searched for, by bisection. 0 is as exactly as numbers allow.

    Returns:
      An array of shape [candidates].

    Raises:
      ValueError: for other shapes, or a negative `epsilon`.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    _check_shapes(objective_vector, constraints_matrix)
    found = _distribution(objective_vector, constraints_matrix, 0.0)
    if found is not None:
        return found
    lower, upper = 0.0, np.min(np.amax(constraints_matrix, axis=0))
    best = _distribution(objective_vector, constraints_matrix, upper)
    assert best is not None  # all weight on one candidate violates by `upper`
    while True:
        middle = 0.5 * (lower + upper)
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        found = _distribution(objective_vector, constraints_matrix, middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def _check_shapes(objective_vector, constraints_matrix):
    if np.shape(constraints_matrix)[1:] != np.shape(objective_vector):
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of "
            "candidates, and m is the number of constraints"
        )


def _distribution(objective_vector, constraints_matrix, violation):
    """The best distribution whose mean violations are at most `violation`, or None."""
    from scipy.optimize import linprog

    constraints, candidates = np.shape(constraints_matrix)
    result = linprog(
        objective_vector,
        A_ub=constraints_matrix,
        b_ub=np.full((constraints, 1), violation),
        A_eq=np.ones((1, candidates)),
        b_eq=np.ones((1, 1)),
        bounds=(0, None),
    )
    return result.x if result.success else None


@public("contrib.constrained_optimization.find_best_candidate_index")
def find_best_candidate_index(objective_vector, constraints_matrix, rank_objectives=False):
    """The candidate whose worst rank is best, by a heuristic; among several the one with the smallest objective.

    Candidates are ranked by each of their violations.

    Args:
      objective_vector: an array of shape [candidates].
      constraints_matrix: an array of shape [constraints, candidates]; what is greater than 0 is a violation.
      rank_objectives: whether they are ranked by their objectives, too.

    Returns:
      The index of the candidate.

    Raises:
      ValueError: for other shapes.
    """
    from scipy.stats import rankdata

    _check_shapes(objective_vector, constraints_matrix)
    rows = [np.maximum(0.0, row) for row in constraints_matrix]
    if rank_objectives:
        rows.append(objective_vector)
    worst = np.max([rankdata(row, method="min") for row in rows], axis=0)
    # Of those that are equal in all, the last.
    return min(range(len(worst)), key=lambda index: (worst[index], objective_vector[index], -index))
