"""WALS as an Estimator: sweeps over all rows, then over all columns, and so on."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries
from stillflow.contrib.factorization.wals import WALSModel
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.platform import logging
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.variables.assignments import assign, assign_add, scatter_update
from stillflow.variables.variable import Variable


class _Sweeps(SessionRunHook):
    """Runs updates of rows, and once all have been seen those of columns, each after what prepares them.

    Args:
      is_row_sweep, is_sweep_done: bool variables.
      init_op: run once.
      prep_ops, train_ops: {whether it is a sweep of rows: operations, or one}.
      switch_op: turns to the other sweep.
    """

    def __init__(self, is_row_sweep, is_sweep_done, init_op, prep_ops, train_ops, switch_op):
        self._is_row_sweep = is_row_sweep
        self._is_sweep_done = is_sweep_done
        self._init_op = init_op
        self._prep_ops = prep_ops
        self._train_ops = train_ops
        self._switch_op = switch_op
        self._is_initialized = False

    def before_run(self, run_context):
        session = run_context.session
        is_done = session.run(self._is_sweep_done)
        if not self._is_initialized:
            logging.info("SweepHook running init op.")
            session.run(self._init_op)
        if is_done:
            logging.info("SweepHook starting the next sweep.")
            session.run(self._switch_op)
        is_row_sweep = bool(session.run(self._is_row_sweep))
        if is_done or not self._is_initialized:
            logging.info(f"SweepHook running prep ops for the {'row' if is_row_sweep else 'col'} sweep.")
            for op in self._prep_ops[is_row_sweep]:
                session.run(op)
        self._is_initialized = True
        logging.info("Next fit step starting.")
        return SessionRunArgs(fetches=[self._train_ops[is_row_sweep]])


class _CountSteps(SessionRunHook):
    """Increments the global step before each step."""

    def __init__(self):
        step = get_global_step()
        self._increment = None if step is None else assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context):
        if self._increment is not None:
            run_context.session.run(self._increment)


class _StopAtSweep(SessionRunHook):
    """Ends training after so many sweeps."""

    def __init__(self, last_sweep):
        self._last_sweep = last_sweep

    def begin(self):
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        try:
            self._completed = get_default_graph().get_tensor_by_name(f"{name}:0")
        except KeyError:
            raise RuntimeError(f"{name} counter should be created to use StopAtSweepHook.") from None

    def before_run(self, run_context):
        return SessionRunArgs(self._completed)

    def after_run(self, run_context, run_values):
        if run_values.results >= self._last_sweep:
            run_context.request_stop()


def _state(value, name):
    return Variable(value, trainable=False, name=name, collections=[GraphKeys.GLOBAL_VARIABLES])


class _Progress:
    """The variables of a training: where it is, and how good the factors are."""

    def __init__(self):
        self.is_row_sweep = _state(True, "is_row_sweep")
        self.is_sweep_done = _state(False, "is_sweep_done")
        self.completed_sweeps = _state(0, WALSMatrixFactorization.COMPLETED_SWEEPS)
        self.loss = _state(0.0, WALSMatrixFactorization.LOSS)
        self.error = _state(0.0, WALSMatrixFactorization.RWSE)
        summaries.scalar("loss", self.loss)
        summaries.scalar("root_weighted_squared_error", self.error)
        summaries.scalar("completed_sweeps", self.completed_sweeps)

    def axis_ops(self, sp_input, num_items, update, axis):
        """(operation that forgets which items have been seen, operation of a step) for rows or columns."""
        unseen = ops.fill(dims=[num_items], value=False)
        with colocate_with(unseen):
            processed = _state(unseen, f"processed_{axis}")
        _, update_op, loss, regularization, sum_weights = update(sp_input)
        indices = sp_input.indices[:, 0]
        store_loss = assign(self.loss, loss + regularization)
        store_error = assign(self.error, ops.sqrt(loss / sum_weights))
        with control_dependencies([update_op, store_loss, store_error]):
            with colocate_with(processed):
                seen = ops.ones_like(indices, dtype=dtypes.bool_)
                mark = scatter_update(processed, indices, seen, name=f"update_processed_{axis}_indices")
            with control_dependencies([mark]):
                is_done = ops.reduce_all(processed)
                step = group(
                    assign(self.is_sweep_done, is_done),
                    assign_add(self.completed_sweeps, ops.cast(is_done, dtypes.int32)),
                    name=f"{axis}_sweep_train_op",
                )
        return processed.initializer, step


def _training(model, features, params):
    """The ModelFnOps of training."""
    progress = _Progress()
    reset_rows, row_step = progress.axis_ops(
        features[WALSMatrixFactorization.INPUT_ROWS],
        params["num_rows"],
        lambda x: model.update_row_factors(sp_input=x, transpose_input=False),
        "rows",
    )
    reset_cols, col_step = progress.axis_ops(
        features[WALSMatrixFactorization.INPUT_COLS],
        params["num_cols"],
        lambda x: model.update_col_factors(sp_input=x, transpose_input=True),
        "cols",
    )
    turn = assign(progress.is_row_sweep, ops.logical_not(progress.is_row_sweep))
    hooks: list[SessionRunHook] = [
        _Sweeps(
            progress.is_row_sweep,
            progress.is_sweep_done,
            model.worker_init,
            {
                True: [model.row_update_prep_gramian_op, model.initialize_row_update_op],
                False: [model.col_update_prep_gramian_op, model.initialize_col_update_op],
            },
            {True: row_step, False: col_step},
            group(turn, reset_rows, reset_cols, name="sweep_switch_op"),
        ),
        _CountSteps(),
    ]
    if params["max_sweeps"] is not None:
        hooks.append(_StopAtSweep(params["max_sweeps"]))
    return ModelFnOps(
        mode=ModeKeys.TRAIN,
        predictions={},
        loss=progress.loss,
        eval_metric_ops={},
        train_op=ops.no_op(),
        training_hooks=hooks,
    )


def _prediction(model, features):
    weights = features.get(WALSMatrixFactorization.PROJECTION_WEIGHTS)
    projection = cond(
        features[WALSMatrixFactorization.PROJECT_ROW],
        lambda: model.project_row_factors(
            sp_input=features[WALSMatrixFactorization.INPUT_ROWS], projection_weights=weights, transpose_input=False
        ),
        lambda: model.project_col_factors(
            sp_input=features[WALSMatrixFactorization.INPUT_COLS], projection_weights=weights, transpose_input=True
        ),
    )
    return ModelFnOps(
        mode=ModeKeys.INFER,
        predictions={WALSMatrixFactorization.PROJECTION_RESULT: projection},
        loss=None,
        eval_metric_ops={},
        train_op=ops.no_op(),
        training_hooks=[],
    )


def _evaluation(model, features):
    def loss_of(update, key, transpose_input):
        _, _, loss, regularization, _ = update(sp_input=features[key], transpose_input=transpose_input)
        return loss + regularization

    loss = cond(
        features[WALSMatrixFactorization.PROJECT_ROW],
        lambda: loss_of(model.update_row_factors, WALSMatrixFactorization.INPUT_ROWS, False),
        lambda: loss_of(model.update_col_factors, WALSMatrixFactorization.INPUT_COLS, True),
    )
    return ModelFnOps(
        mode=ModeKeys.EVAL, predictions={}, loss=loss, eval_metric_ops={}, train_op=ops.no_op(), training_hooks=[]
    )


def _model_fn(features, labels, mode, params):
    assert labels is None
    is_training = mode == ModeKeys.TRAIN
    model = WALSModel(
        params["num_rows"],
        params["num_cols"],
        params["embedding_dimension"],
        unobserved_weight=params["unobserved_weight"],
        regularization=params["regularization_coeff"],
        row_init=params["row_init"],
        col_init=params["col_init"],
        num_row_shards=params["num_row_shards"],
        num_col_shards=params["num_col_shards"],
        row_weights=params["row_weights"],
        col_weights=params["col_weights"],
        use_factors_weights_cache=params["use_factors_weights_cache_for_training"] and is_training,
        use_gramian_cache=params["use_gramian_cache_for_training"] and is_training,
    )
    if is_training:
        return _training(model, features, params)
    if mode == ModeKeys.INFER:
        return _prediction(model, features)
    if mode == ModeKeys.EVAL:
        return _evaluation(model, features)
    raise ValueError(f"mode={mode} is not recognized.")


@public("contrib.factorization.WALSMatrixFactorization")
class WALSMatrixFactorization(Estimator):
    """An Estimator of factors of a sparse matrix; see WALSModel.

    Input functions return ({"input_rows": SparseTensor, "input_cols": SparseTensor, "project_row": bool scalar},
    None): some rows, and some columns as rows of the transposed matrix. A step updates the rows or the columns of its
    batch; a sweep ends when all have been seen. `evaluate` and `predict` take rows or columns by "project_row";
    "projection_weights" are weights of what is projected.

    Args:
      num_rows, num_cols, embedding_dimension: the sizes of the matrix, and of a factor.
      unobserved_weight, regularization_coeff, row_init, col_init, num_row_shards, num_col_shards, row_weights,
        col_weights: see WALSModel.
      use_factors_weights_cache_for_training, use_gramian_cache_for_training: see WALSModel.
      max_sweeps: how many sweeps there are at most; None: as many as steps allow.
      model_dir, config: see tf.contrib.learn.Estimator.

    Raises:
      ValueError: for a configuration with several workers.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows,
        num_cols,
        embedding_dimension,
        unobserved_weight=0.1,
        regularization_coeff=None,
        row_init="random",
        col_init="random",
        num_row_shards=1,
        num_col_shards=1,
        row_weights=1,
        col_weights=1,
        use_factors_weights_cache_for_training=True,
        use_gramian_cache_for_training=True,
        max_sweeps=None,
        model_dir=None,
        config=None,
    ):
        params = {
            "num_rows": num_rows,
            "num_cols": num_cols,
            "embedding_dimension": embedding_dimension,
            "unobserved_weight": unobserved_weight,
            "regularization_coeff": regularization_coeff,
            "row_init": row_init,
            "col_init": col_init,
            "num_row_shards": num_row_shards,
            "num_col_shards": num_col_shards,
            "row_weights": row_weights,
            "col_weights": col_weights,
            "max_sweeps": max_sweeps,
            "use_factors_weights_cache_for_training": use_factors_weights_cache_for_training,
            "use_gramian_cache_for_training": use_gramian_cache_for_training,
        }
        self._row_factors_names = [f"row_factors_shard_{i}" for i in range(num_row_shards)]
        self._col_factors_names = [f"col_factors_shard_{i}" for i in range(num_col_shards)]
        super().__init__(model_fn=_model_fn, params=params, model_dir=model_dir, config=config)
        if self.config is not None and self.config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def get_row_factors(self):
        """The factors of rows, an array for each shard."""
        return [self.get_variable_value(name) for name in self._row_factors_names]

    def get_col_factors(self):
        """The factors of columns, an array for each shard."""
        return [self.get_variable_value(name) for name in self._col_factors_names]

    def get_projections(self, input_fn):
        """Yields the factors of the rows or columns that an input function returns."""
        return (result[self.PROJECTION_RESULT] for result in self.predict(input_fn=input_fn))
