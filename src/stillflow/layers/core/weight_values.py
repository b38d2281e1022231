"""The values of variables, got and set from the program: at once, or through a session."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes, scopes
from stillflow.graph.default_graph import get_default_graph, outermost_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.session.session import Session
from stillflow.variables.variable import Variable


def made(variable):
    """Says that a layer has made a variable: `get_session` gives it its initial value."""
    graph = outermost_graph()
    if isinstance(variable, Variable) and not graph.executes_eagerly:
        graph.__dict__.setdefault("_variables_of_layers", []).append(variable)


def get_session():
    """The default session, or else one for the default graph, in which the layers' variables have values."""
    graph = get_default_graph()
    session = scopes.get_default_session()
    if session is None:
        session = graph.__dict__.get("_session_of_layers")
        if session is None:
            session = graph.__dict__["_session_of_layers"] = Session(graph=graph)
    _initialize(session)
    return session


def _initialize(session):
    variables = session.graph.__dict__.get("_variables_of_layers")
    if not variables:
        return
    with session.graph.as_default():
        has_value = session.run([variable.is_initialized() for variable in variables])
        missing = [v.initializer for v, is_there in zip(variables, has_value, strict=True) if not is_there]
        session.run(missing)
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
            place = ops.placeholder(variable.dtype.base_dtype, shape=np.shape(value))
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
