"""Weighted alternating least squares (Hu, Koren and Volinsky 2008)."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_less_equal
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.composites.sparse import sparse_transpose
from stillflow.contrib.factorization.wals_loss import losses
from stillflow.contrib.factorization.wals_variables import (
    cached_copy,
    create_factors,
    create_gramian,
    create_weights,
    prepare_gramian,
    shard_sizes,
    sharding_function,
)
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.variables.assignments import scatter_update
from stillflow.variables.listing import variables_initializer


@public("contrib.factorization.WALSModel")
class WALSModel:
    """Factors U [rows, components] and V [columns, components] of a sparse matrix A.

    They minimize |sqrt(W) (A - U V')|^2 + regularization (|U|^2 + |V|^2), where an entry that A has not weighs
    unobserved_weight, and one that it has row_weights[i] * col_weights[j] more.

    Args:
      input_rows, input_cols: the size of A.
      n_components: the size of a factor.
      unobserved_weight, regularization: see above; None: not regularized.
      row_init, col_init: "random", initial factors, or a list of one matrix for each shard.
      num_row_shards, num_col_shards: over how many variables factors are divided.
      row_weights, col_weights: both None (weights are unobserved_weight then), a number, or a list of one list for
        each shard.
      use_factors_weights_cache, use_gramian_cache: whether an update reads copies that are made before a sweep.
      use_scoped_vars: whether variables of each kind are made in a name scope of that name.

    Raises:
      ValueError: for weights that are negative or of another type.
    """

    def __init__(
        self,
        input_rows,
        input_cols,
        n_components,
        unobserved_weight=0.1,
        regularization=None,
        row_init="random",
        col_init="random",
        num_row_shards=1,
        num_col_shards=1,
        row_weights=1,
        col_weights=1,
        use_factors_weights_cache=True,
        use_gramian_cache=True,
        use_scoped_vars=False,
    ):
        self._input_rows = input_rows
        self._input_cols = input_cols
        self._num_row_shards = num_row_shards
        self._num_col_shards = num_col_shards
        self._n_components = n_components
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._regularization_matrix = None if regularization is None else regularization * ops.eye(n_components)
        assert (row_weights is None) == (col_weights is None)
        self._use_factors_weights_cache = use_factors_weights_cache
        self._use_gramian_cache = use_gramian_cache

        def scoped(name, create, *arguments):
            if not use_scoped_vars:
                return create(*arguments, name)
            with name_scope(name):
                return create(*arguments, name)

        self._row_weights = scoped("row_weights", create_weights, row_weights, input_rows, num_row_shards)
        self._col_weights = scoped("col_weights", create_weights, col_weights, input_cols, num_col_shards)
        self._row_factors = scoped("row_factors", create_factors, input_rows, n_components, num_row_shards, row_init)
        self._col_factors = scoped("col_factors", create_factors, input_cols, n_components, num_col_shards, col_init)
        self._row_gramian = create_gramian(n_components, "row_gramian")
        self._col_gramian = create_gramian(n_components, "col_gramian")
        with name_scope("row_prepare_gramian"):
            self._row_update_prep_gramian = prepare_gramian(self._col_factors, self._col_gramian)
        with name_scope("col_prepare_gramian"):
            self._col_update_prep_gramian = prepare_gramian(self._row_factors, self._row_gramian)
        with name_scope("transient_vars"):
            self._create_transient_vars()

    @property
    def row_factors(self):
        """The shards of U."""
        return self._row_factors

    @property
    def col_factors(self):
        """The shards of V."""
        return self._col_factors

    @property
    def row_weights(self):
        """The shards of the rows' weights; None where there are none."""
        return self._row_weights

    @property
    def col_weights(self):
        """The shards of the columns' weights; None where there are none."""
        return self._col_weights

    @property
    def initialize_op(self):
        """The operation that initializes the model's variables, but not the copies."""
        variables = [*self._row_factors, *self._col_factors, self._row_gramian, self._col_gramian]
        if self._row_weights is not None:
            variables += self._row_weights + self._col_weights
        return variables_initializer(variables)

    def _create_transient_vars(self):
        passes = not self._use_factors_weights_cache
        row_factors, make_rows, drop_rows = cached_copy(self._row_factors, "row_factors_cache", passes)
        col_factors, make_cols, drop_cols = cached_copy(self._col_factors, "col_factors_cache", passes)
        self._row_factors_cache, self._col_factors_cache = row_factors, col_factors
        self._row_wt_cache, make_row_weights, _ = cached_copy(self._row_weights, "row_wt_cache", passes)
        self._col_wt_cache, make_col_weights, _ = cached_copy(self._col_weights, "col_wt_cache", passes)
        passes = not self._use_gramian_cache
        row_gramian, make_row_gramian, drop_row_gramian = cached_copy(self._row_gramian, "row_gramian_cache", passes)
        col_gramian, make_col_gramian, drop_col_gramian = cached_copy(self._col_gramian, "col_gramian_cache", passes)
        self._row_gramian_cache, self._col_gramian_cache = row_gramian, col_gramian
        self._row_updates_init = group(make_cols, drop_rows, make_col_gramian, drop_row_gramian)
        self._col_updates_init = group(make_rows, drop_cols, make_row_gramian, drop_col_gramian)
        if self._row_wt_cache is not None:
            self._worker_init = group(make_row_weights, make_col_weights, name="worker_init")
        else:
            self._worker_init = ops.no_op(name="worker_init")

    @property
    def worker_init(self):
        """The operation that copies the weights; to be run once after initialize_op."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self):
        """The operation that computes V' V; to be run before each sweep of rows."""
        return self._row_update_prep_gramian

    @property
    def col_update_prep_gramian_op(self):
        """The operation that computes U' U; to be run before each sweep of columns."""
        return self._col_update_prep_gramian

    @property
    def initialize_row_update_op(self):
        """The operation that makes the copies for a sweep of rows; to be run after row_update_prep_gramian_op."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self):
        """The operation that makes the copies for a sweep of columns; to be run after col_update_prep_gramian_op."""
        return self._col_updates_init

    @classmethod
    def _shard_sizes(cls, dims, num_shards):
        return shard_sizes(dims, num_shards)

    @staticmethod
    def _get_sharding_func(size, num_shards):
        return sharding_function(size, num_shards)

    @classmethod
    def scatter_update(cls, factor, indices, values, sharding_func, name=None):
        """The operation that writes rows `values` [n, components] to numbers `indices` of the shards in `factor`."""
        assert isinstance(factor, list)
        if len(factor) == 1:
            with colocate_with(factor[0]):
                return scatter_update(factor[0], indices, values, name=name).op
        shards, places = sharding_func(indices)
        assert shards is not None
        shards = ops.cast(shards, dtypes.int32)
        sharded_ids = ops.dynamic_partition(places, shards, len(factor))
        sharded_values = ops.dynamic_partition(values, shards, len(factor))
        return group(
            *[scatter_update(*update) for update in zip(factor, sharded_ids, sharded_values, strict=True)], name=name
        )

    def update_row_factors(self, sp_input=None, transpose_input=False):
        """Makes the graph of an update of some rows of U.

        Args:
          sp_input: a SparseTensor with these rows of A.
          transpose_input: whether it has them as columns.

        Returns:
          (the new factors of the rows, the operation that stores them, the loss without regularization, the
          regularization, the sum of weights); the last three for all rows, as far as these rows tell.
        """
        return self._process_input(True, sp_input, transpose_input)

    def update_col_factors(self, sp_input=None, transpose_input=False):
        """The same for columns, which sp_input has as columns, or with transpose_input as rows."""
        return self._process_input(False, sp_input, transpose_input)

    def project_row_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """Factors of new rows: of A's rows in sp_input, which weigh projection_weights (a number or one for each)."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input(True, sp_input, transpose_input, row_weights=weights)[0]

    def project_col_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """Factors of new columns."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input(False, sp_input, transpose_input, row_weights=weights)[0]

    def _process_input(self, update_row_factors, sp_input=None, transpose_input=False, row_weights=None):
        """An update of rows; those of columns are updates of the transposed matrix's rows."""
        assert isinstance(sp_input, SparseTensor)
        if update_row_factors:
            left, right_factors, gramian = self._row_factors, self._col_factors_cache, self._col_gramian_cache
            row_wt, col_wt = self._row_wt_cache, self._col_wt_cache
            total_rows, total_cols, num_shards = self._input_rows, self._input_cols, self._num_row_shards
        else:
            left, right_factors, gramian = self._col_factors, self._row_factors_cache, self._row_gramian_cache
            row_wt, col_wt = self._col_wt_cache, self._row_wt_cache
            total_rows, total_cols, num_shards = self._input_cols, self._input_rows, self._num_col_shards
            transpose_input = not transpose_input
        update_indices, gather_indices, new_input, num_rows = _renumbered(sp_input, transpose_input)
        right = embedding_lookup(right_factors, gather_indices, partition_strategy="div")
        new_input = new_input()
        total_lhs = self._unobserved_weight * gramian
        if self._regularization_matrix is not None:
            total_lhs += self._regularization_matrix
        row_slice = col_slice = None
        if self._row_weights is None:
            product = ops.sparse_tensor_dense_matmul(new_input, right, adjoint_a=transpose_input)
            total_rhs = self._unobserved_weight * product
            new_left = ops.transpose(ops.matrix_solve(total_lhs, ops.transpose(total_rhs)))
        else:
            row_slice = _row_weights(row_weights, row_wt, update_indices)
            col_slice = embedding_lookup(col_wt, gather_indices, partition_strategy="div")
            partial_lhs, total_rhs = ops.wals_compute_partial_lhs_and_rhs(
                right, col_slice, self._unobserved_weight, row_slice, new_input.indices, new_input.values, [],
                num_rows, transpose_input, name="wals_compute_partial_lhs_rhs",
            )  # fmt: skip
            total_lhs = ops.expand_dims(total_lhs, 0) + partial_lhs
            total_rhs = ops.expand_dims(total_rhs, -1)
            new_left = ops.squeeze(ops.matrix_solve(total_lhs, total_rhs), [2])
        update_op = self.scatter_update(
            left,
            update_indices,
            new_left,
            sharding_function(total_rows, num_shards),
            name="row_update" if update_row_factors else "col_update",
        )
        loss_input = sparse_transpose(new_input) if transpose_input else new_input
        return (
            new_left,
            update_op,
            *losses(
                loss_input, new_left, right, gramian, row_slice, col_slice, num_rows, total_rows, total_cols,
                self._unobserved_weight, self._regularization,
            ),
        )  # fmt: skip


def _renumbered(sp_input, is_transposed):
    """(numbers of the rows in sp_input, those of the columns, a function that makes it without what is empty, how
    many rows)."""
    row_ids, col_ids = ops.split(value=sp_input.indices, num_or_size_splits=2, axis=1)
    rows, all_row_ids = ops.unique(row_ids[:, 0])
    columns, all_col_ids = ops.unique(col_ids[:, 0])
    col_ids = ops.expand_dims(ops.cast(all_col_ids, dtypes.int64), 1)
    row_ids = ops.expand_dims(ops.cast(all_row_ids, dtypes.int64), 1)
    update_indices, gather_indices = (columns, rows) if is_transposed else (rows, columns)
    gathered = [ops.cast(ops.shape(gather_indices)[0], dtypes.int64)]
    num_rows = ops.cast(ops.shape(update_indices)[0], dtypes.int64)

    def make():
        indices = ops.concat([row_ids, col_ids], 1)
        sizes = [gathered, [num_rows]] if is_transposed else [[num_rows], gathered]
        return SparseTensor(indices=indices, values=sp_input.values, dense_shape=ops.concat(sizes, 0))

    return update_indices, gather_indices, make, num_rows


def _row_weights(given, variables, update_indices):
    if given is None:
        return embedding_lookup(variables, update_indices, partition_strategy="div")
    count = ops.shape(update_indices)[0]
    with control_dependencies([assert_less_equal(ops.rank(given), 1)]):
        return cond(
            ops.equal(ops.rank(given), 0),
            lambda: ops.ones([count]) * given,
            lambda: ops.cast(given, dtypes.float32),
        )
