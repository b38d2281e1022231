"""How a Saver restores: all of it or nothing, with words on what does not fit."""

from __future__ import annotations

import logging
import os

from stillflow import _engine, errors
from stillflow.formats import protobuf
from stillflow.graph.shape import TensorShape
from stillflow.plan.emit import engine_variable
from stillflow.saver import at_once, session_state
from stillflow.saver.saveable import saveables

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def restore(saver, sess, prefix, restores_state, demands_state):
    """Runs the Saver's restore operation; with the state of the session, if that is asked for."""
    saver_def = saver.saver_def
    run = _AllOrNothing(sess, saver_def.restore_op_name)
    try:
        state = session_state.SavedState(prefix) if restores_state and _is_v2(prefix) else None
        if state is not None and demands_state:
            state.check(sess)
    except _engine.EngineError:
        state = None  # the run will say what is wrong, too, and where
    try:
        run.run({saver_def.filename_tensor_name: prefix})
    except errors.NotFoundError as error:
        keys = object_keys(prefix)
        if keys is None:
            raise _explained(error, "a Variable name or other graph key that is missing") from None
        _warn_of_names()
        saver._of_objects(sess.graph, keys).restore(sess, prefix)
    except errors.InvalidArgumentError as error:
        raise _explained(error, "a mismatch between the current graph and the graph") from None
    if state is not None:
        state.restore(sess)


def restore_at_once(saver, prefix):
    """Restores where there is no session."""
    try:
        at_once.read(saver._builder, saver._var_list, prefix, saver._reshape)
    except errors.NotFoundError as error:
        keys = object_keys(prefix)
        if keys is None:
            raise _explained(error, "a Variable name or other graph key that is missing") from None
        _warn_of_names()
        at_once.read(saver._builder, renamed(saveables(saver._var_list), keys), prefix)
    except errors.InvalidArgumentError as error:
        raise _explained(error, "a mismatch between the current graph and the graph") from None


def _is_v2(prefix):
    return os.path.exists(f"{prefix}.index")


def _explained(error, what):
    text = (
        f"Restoring from checkpoint failed. This is most likely due to {what} from the checkpoint. Please ensure "
        f"that you have not altered the graph expected based on the checkpoint. Original error:\n\n{error.message}"
    )
    return type(error)(error.node_def, error.op, text)


class _AllOrNothing:
    """A run that assigns variables. After an error they have the values that they had."""

    def __init__(self, sess, operation_name):
        self._sess = sess
        self._operation_name = operation_name

    def run(self, feeds):
        graph = self._sess.graph
        if self._sess._closed or self._operation_name not in graph._by_name:
            self._sess.run(self._operation_name, feeds)  # which says what is wrong
        assigns = _assigns_before(graph.get_operation_by_name(self._operation_name))
        core = self._sess._core
        variables = [engine_variable(core, assign._inputs[0]._op) for assign in assigns]
        before = _engine.Snapshot(core, variables)
        try:
            self._sess.run(self._operation_name, feeds)
            for assign, variable in zip(assigns, variables, strict=True):
                _check_shape(assign, variable)
        except BaseException:
            before.restore()
            raise


def _assigns_before(operation):
    """The assignments that an operation waits for, and whose variables stand in the graph."""
    found = []
    seen = {operation}
    pending = [operation]
    while pending:
        op = pending.pop()
        if op._op_def.assigns_variable and op._inputs[0]._op._op_def.is_variable:
            found.append(op)
        for other in (*(tensor._op for tensor in op._inputs), *op._control_inputs):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return found


def _check_shape(assign, variable):
    """A resource variable takes any shape that it is assigned; of a checkpoint it has to be its own."""
    declared = assign._inputs[0]._op._attrs["shape"]
    dims = _engine.variable_dims(variable)
    if assign.type == "AssignVariableOp" and dims is not None and not declared.is_compatible_with(TensorShape(dims)):
        lhs, rhs = (f"[{','.join(str(size) for size in sizes)}]" for sizes in (declared.as_list(), dims))
        message = f"Assign requires shapes of both tensors to match. lhs shape= {lhs} rhs shape= {rhs}"
        raise errors.make(errors.INVALID_ARGUMENT, message, assign)


# ---- Checkpoints of objects, restored by the names of variables ---------------------------------------------------


def object_keys(prefix):
    """{name of a variable: its key} in a checkpoint of tf.train.Checkpoint; None for other checkpoints."""
    try:
        data = _engine.CheckpointReader(os.fsencode(prefix)).read(OBJECT_GRAPH_KEY.encode())
    except _engine.EngineError:
        return None
    graph = protobuf.message("TrackableObjectGraph").FromString(data)
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
        if attribute.full_name
    }


def _warn_of_names():
    logging.getLogger("tensorflow").warning(
        "Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, and will "
        "re-build the Saver. Instead, consider loading object-based checkpoints using tf.train.Checkpoint()."
    )


def renamed(objects, keys):
    """Saveables under the keys of objects. Raises NotFoundError if some are not in the checkpoint."""
    names = {spec.name for saveable in objects for spec in saveable.specs}
    missing = names - keys.keys()
    if missing:
        raise errors.make(errors.NOT_FOUND, _missing_text(missing, keys.keys() - names, len(names & keys.keys())))
    for saveable in objects:
        for spec in saveable.specs:
            spec.name = keys[spec.name]
    return objects


def _missing_text(missing, extra, matched):
    return (
        f"\n\nExisting variables not in the checkpoint: {', '.join(sorted(missing))}"
        f"\n\nVariables names when this checkpoint was written which don't exist now: {', '.join(sorted(extra))}"
        f"\n\n({matched} variable name(s) did match)\n\n"
        "Could not find some variables in the checkpoint (see names above). Saver was attempting to load an "
        "object-based checkpoint (saved using tf.train.Checkpoint or tf.keras.Model.save_weights) using variable "
        "names. If the checkpoint was written with eager execution enabled, it's possible that variable names have "
        "changed (for example missing a '_1' suffix). It's also possible that there are new variables which did not "
        "exist when the checkpoint was written. You can construct a Saver(var_list=...) with only the variables "
        "which previously existed, and if variable names have changed you may need to make this a dictionary with "
        "the old names as keys. If you're using an Estimator, you'll need to return a tf.train.Saver inside a "
        "tf.train.Scaffold from your model_fn."
    )
