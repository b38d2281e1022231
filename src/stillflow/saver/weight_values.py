"""The values of variables, got and set from the program: at once, or through a session."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes, scopes
from stillflow.graph.default_graph import get_default_graph, outermost_graph
from stillflow.graph.mode import by_mode, by_outermost_mode, eager_version_of
from stillflow.names import public
from stillflow.variables.assignments import is_variable_initialized
from stillflow.variables.listing import variables_initializer
from stillflow.variables.variable import Variable

_settings = {"initializes": True}


@public("python.keras.backend.track_variable")
@by_outermost_mode
def made(variable):
    """Says that a layer has made a variable: `get_session` gives it its initial value."""
    if isinstance(variable, Variable):
        outermost_graph().__dict__.setdefault("_variables_of_layers", []).append(variable)


@eager_version_of(made)
def _made_with_value(variable):
    """It has its initial value already."""


def made_by(optimizer):
    """Says that the variables of an optimizer of tf.train belong to a model."""
    outermost_graph().__dict__.setdefault("_optimizers_of_layers", []).append(optimizer)


def leave_variables_alone(value):
    """Whether `get_session` gives no variable its initial value."""
    _settings["initializes"] = not value


def set_session(session):
    """Makes a session the one that `get_session` returns for its graph."""
    session.graph.__dict__["_session_of_layers"] = session


def get_session():
    """The default session, or else one for the default graph, in which the layers' variables have values."""
    graph = get_default_graph()
    session = scopes.get_default_session()
    if session is None:
        session = graph.__dict__.get("_session_of_layers")
        if session is None:
            from stillflow.session.session import Session  # loads the planner, which building layers does without

            session = graph.__dict__["_session_of_layers"] = Session(graph=graph)
    if _settings["initializes"]:
        give_initial_values(session)
    return session


@public("python.keras.backend._initialize_variables")
def give_initial_values(session):
    """Gives the variables that layers have made since the last time, and have no value, their initial ones."""
    state = session.graph.__dict__
    variables = state.get("_variables_of_layers", [])
    seen = state.setdefault("_optimizers_variables", set())
    for optimizer in state.get("_optimizers_of_layers", ()):
        of_optimizer = [each for each in optimizer.variables() if id(each) not in seen]
        seen.update(map(id, of_optimizer))
        variables.extend(of_optimizer)
    if not variables:
        return
    with session.graph.as_default():
        has_value = session.run([is_variable_initialized(variable) for variable in variables])
        missing = [v for v, is_there in zip(variables, has_value, strict=True) if not is_there]
        if missing:
            session.run(variables_initializer(missing))
    variables.clear()


@by_mode
def get(variables):
    """The values of variables, as arrays."""
    return get_session().run(list(variables)) if variables else []


@eager_version_of(get)
def _get_at_once(variables):
    return [variable.numpy() for variable in variables]


@by_mode
def set_all(pairs):
    """Sets variables to arrays; `pairs` are of both."""
    assignments, feeds = [], {}
    for variable, value in pairs:
        found = variable.__dict__.get("_assignment")
        if found is None:
            place = ops.placeholder(variable.dtype.base_dtype, shape=[None] * np.ndim(value))
            found = variable.__dict__["_assignment"] = place, variable.assign(place)
        place, assignment = found
        assignments.append(assignment)
        feeds[place] = np.asarray(value, dtypes.as_dtype(place.dtype).as_numpy_dtype)
    if assignments:
        get_session().run(assignments, feeds)


@eager_version_of(set_all)
def _set_at_once(pairs):
    for variable, value in pairs:
        variable.assign(np.asarray(value, variable.dtype.base_dtype.as_numpy_dtype))
