"""The graph that models are built in, the learning phase, and the session."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.functions.function_graph import FunctionGraph, constant_in, is_small_value
from stillflow.graph.default_graph import get_default_graph, outermost_graph, reset_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.layers.core.call_context import training_of_outermost_layer
from stillflow.layers.core.layer_names import forget_names, name_counts
from stillflow.names import public
from stillflow.saver import weight_values


def _state():
    """Of eager execution: the graph for models, and the learning phase where it has been set."""
    return outermost_graph().__dict__.setdefault("_keras_state", {})


@public("keras.backend.backend")
def backend():
    """ "tensorflow"."""
    return "tensorflow"


@public("python.keras.backend.get_graph")
@by_mode
def get_graph():
    """The graph that models are built in: the default graph, or one of Keras' own in eager execution."""
    return get_default_graph()


@eager_version_of(get_graph)
def _graph_of_models():
    graph = _state().get("graph")
    if graph is None:
        graph = _state()["graph"] = GraphOfModels("keras_graph", outermost_graph())
    return graph


class GraphOfModels(FunctionGraph):
    """The graph of what models are made of in eager execution; operations on its tensors become nodes of it."""

    serves_eager_execution = True

    def capture(self, tensor):
        """The tensor of this graph that stands for one outside: a constant for a small value, as for an axis."""
        if tensor._op._graph is self or not is_small_value(tensor):
            return super().capture(tensor)
        return constant_in(self, tensor)


# ---- The learning phase -------------------------------------------------------------------------------------


@public("python.keras.backend.symbolic_learning_phase")
def symbolic_learning_phase():
    """The learning phase of the graph of models: a placeholder that is False by default, or the number that was "
    "set."""
    graph = get_graph()
    phase = graph.__dict__.get("_learning_phase")
    if phase is None:
        with graph.as_default(), name_scope(""):
            phase = ops.placeholder_with_default(False, shape=(), name="keras_learning_phase")
        graph._learning_phase = phase
    return phase


@by_mode
def _phase_outside_of_functions():
    return symbolic_learning_phase()


@eager_version_of(_phase_outside_of_functions)
def _eager_phase():
    return _state().get("phase", 0)


@public("keras.backend.learning_phase")
def learning_phase():
    """Whether models are trained: 1 or 0 where it was set, else a scalar that is False unless it is fed."""
    if get_default_graph() is _state().get("graph"):
        return symbolic_learning_phase()
    with init_scope():
        return _phase_outside_of_functions()


@by_mode
def global_learning_phase():
    """The learning phase that was set for eager execution, or None."""
    return


@eager_version_of(global_learning_phase)
def _global_learning_phase():
    return _state().get("phase")


@eager_version_of(training_of_outermost_layer)
def _phase_of_outermost_layer(is_symbolic):
    phase = _state().get("phase")
    if phase is None and is_symbolic and get_default_graph() is _state().get("graph"):
        return symbolic_learning_phase()
    return phase


@by_mode
def _keep_phase(value):
    graph = get_graph()
    if value is None:
        graph.__dict__.pop("_learning_phase", None)
    else:
        graph._learning_phase = value


@eager_version_of(_keep_phase)
def _keep_eager_phase(value):
    if value is None:
        _state().pop("phase", None)
        get_graph().__dict__.pop("_learning_phase", None)
    else:
        _state()["phase"] = get_graph()._learning_phase = value


@by_mode
def _kept_phase():
    return get_graph().__dict__.get("_learning_phase")


@eager_version_of(_kept_phase)
def _kept_eager_phase():
    return _state().get("phase")


@contextlib.contextmanager
def phase_of_step(value):
    """A context of eager execution in which models are trained, 1, or not, 0."""
    outer = _state().get("phase")
    _state()["phase"] = value
    try:
        yield
    finally:
        if outer is None:
            _state().pop("phase", None)
        else:
            _state()["phase"] = outer


@public("keras.backend.set_learning_phase")
def set_learning_phase(value):
    """Sets whether models are trained, 1 or 0, for all that is built from now on. Raises ValueError for others."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    with init_scope():
        _keep_phase(value)


@public("keras.backend.learning_phase_scope")
@contextlib.contextmanager
def learning_phase_scope(value):
    """A context with that learning phase, 1 or 0. Raises ValueError for others."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    with init_scope():
        outer = _kept_phase()
    try:
        set_learning_phase(value)
        yield
    finally:
        with init_scope():
            _keep_phase(outer)


# ---- Numbers of names ---------------------------------------------------------------------------------------


@public("keras.backend.get_uid")
def get_uid(prefix=""):
    """How often a number has been asked for with this prefix, in this graph."""
    counts = name_counts(get_graph())
    counts[prefix] += 1
    return counts[prefix]


@public("keras.backend.reset_uids")
def reset_uids():
    """Begins to number names anew."""
    forget_names()


# ---- The session --------------------------------------------------------------------------------------------


@public("keras.backend.get_session")
def get_session(op_input_list=()):
    """The session that models run in: the default session, or else one that is kept for the default graph.

    Variables of layers that have no value yet get their initial values in it.

    Args:
      op_input_list: tensors of the graph that is meant; the default graph is meant without.
    """
    graphs = [each.graph for each in op_input_list if hasattr(each, "graph")]
    if graphs and graphs[0] is not get_default_graph():
        with graphs[0].as_default():
            return weight_values.get_session()
    return weight_values.get_session()


@public("keras.backend.set_session")
def set_session(session):
    """Makes a session the one that models of its graph run in."""
    weight_values.set_session(session)


@public("keras.backend.manual_variable_initialization")
def manual_variable_initialization(value):
    """Whether variables of layers are left without values until the program gives them some."""
    weight_values.leave_variables_alone(value)


@by_mode
def _forget_graph():
    reset_default_graph()


@eager_version_of(_forget_graph)
def _forget_graph_of_models():
    _state().clear()


@public("keras.backend.clear_session")
def clear_session():
    """Begins anew: an empty default graph, another session, names from the start."""
    _forget_graph()
    forget_names()
    symbolic_learning_phase()
