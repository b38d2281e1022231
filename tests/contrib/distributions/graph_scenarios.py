"""Graphs of tf.distributions, tf.contrib.distributions and their bijectors: every class, every method.

Digests of TensorFlow's are in golden/distribution_graphs.json; `cases` gives the lines that they are of. They matter
beyond their values: a random operation without a seed of its own takes one from the number of nodes before it.
"""

import functools
import hashlib

import numpy as np
from contrib.distributions import bijector_cases, distribution_cases

_VALUE_METHODS = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile")
_PLAIN_METHODS = (
    "mean",
    "variance",
    "stddev",
    "mode",
    "entropy",
    "covariance",
    "event_shape_tensor",
    "batch_shape_tensor",
    "is_scalar_event",
    "is_scalar_batch",
)
_METHODS = ("build", "sample", "sample_twice", *_VALUE_METHODS, *_PLAIN_METHODS, "kl_divergence", "cross_entropy")
_FEW_METHODS = ("build", "sample", "log_prob", "cdf", "mean", "entropy", "batch_shape_tensor")
# Classes that TensorFlow 1.15.5 cannot build or use with checks: it reads attributes that are not there, and refuses
# all one-hot vectors.
_FAULTS = (
    "checked/MixtureSameFamily",
    "checked/MixtureSameFamily_vectors",
    "checked/OneHotCategorical",
    "checked/OneHotCategorical_probs",
    "checked/bijectors.ScaleTriL",
    "checked/bijectors.Softplus",
)
# Kinds of arguments: constants; constants that are checked; placeholders of unknown shapes.
_KINDS = ("constants", "checked", "placeholders")


def _argument(tf, kind):
    def constant(value):
        return tf.constant(value, tf.float32)

    def placeholder(value):
        return tf.placeholder_with_default(np.float32(value), None)

    return placeholder if kind == "placeholders" else constant


def _method(tf, made, method, point):
    if method == "build":
        return
    if method == "sample":
        made.sample(4, seed=3)
    elif method == "sample_twice":
        made.sample([2, 3])
        made.sample()
    elif method == "quantile":
        made.quantile(0.3)
    elif method in _VALUE_METHODS:
        getattr(made, method)(point)
    elif method in _PLAIN_METHODS:
        getattr(made, method)()
    else:
        getattr(made, method)(made)


def _lines(tf, graph):
    return [_line(tf, node) for node in graph.as_graph_def().node]


def _line(tf, node):
    attributes = " ".join(f"{key}={_attribute(tf, node.attr[key])}" for key in sorted(node.attr))
    return f"{node.name} {node.op}({', '.join(node.input)}) {attributes}"


def _attribute(tf, value):
    kind = value.WhichOneof("value")
    if kind == "type":
        return tf.as_dtype(value.type).name
    if kind == "shape":
        return str([size.size for size in value.shape.dim]) if not value.shape.unknown_rank else "?"
    if kind == "tensor":
        array = tf.make_ndarray(value.tensor)
        if array.size > 8:
            return f"{array.shape}#{hashlib.md5(array.tobytes()).hexdigest()[:8]}"
        return str(array.tolist())
    if kind == "list":
        return " ".join(str(value.list).split())
    if kind == "s":
        return value.s.decode()
    return str(getattr(value, kind))


def _outcome(tf, build):
    """The lines of the graph that this builds, or the error's type."""
    np.random.seed(0)
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(7)
        try:
            build()
        except Exception as error:  # whatever it is, it has to be the same
            return [type(error).__name__]
    return _lines(tf, graph)


def _digest(lines):
    """How many nodes there are, and a few letters that stand for all lines; an error's type as it is."""
    if len(lines) == 1 and " " not in lines[0]:
        return lines[0]
    return f"{len(lines)} {hashlib.md5(chr(10).join(lines).encode()).hexdigest()[:6]}"


def _of_distribution(tf, kind, make, point):
    lines, start = {}, 0
    for method in _METHODS if kind == "constants" else _FEW_METHODS:
        found = _outcome(tf, lambda method=method: _method(tf, make(), method, point))
        if method == "build":
            start = len(found)
            lines[method] = found
        else:
            lines[method] = found if len(found) == 1 else found[start:]
    return lines


def _of_bijector(tf, v, make, ndims, x, y):
    more = np.ndim(y) - np.ndim(x)
    calls = {
        "forward": lambda f: f.forward(v(x)),
        "inverse": lambda f: f.inverse(v(y)),
        "forward_log_det_jacobian": lambda f: f.forward_log_det_jacobian(v(x), event_ndims=ndims),
        "inverse_log_det_jacobian": lambda f: f.inverse_log_det_jacobian(v(y), event_ndims=more + ndims),
        "of_what_forward_gave": lambda f: f.inverse_log_det_jacobian(f.forward(v(x)), event_ndims=more + ndims),
        "forward_event_shape_tensor": lambda f: f.forward_event_shape_tensor(np.shape(x)),
        "inverse_event_shape_tensor": lambda f: f.inverse_event_shape_tensor(np.shape(y)),
    }
    return {method: _outcome(tf, lambda call=call: call(make())) for method, call in calls.items()}


def cases(tf):
    """{kind of arguments/class: a function that gives {method: the lines of the graph's nodes}}.

    Of a distribution's method they are those beyond the building's. What fails gives the error's type.
    """
    found = {}
    for kind in _KINDS:
        v, checks = _argument(tf, kind), kind == "checked"
        for group in (distribution_cases.of_scalars, distribution_cases.of_vectors, distribution_cases.transformed):
            for name, (make, point) in group(tf, v, checks).items():
                found[f"{kind}/{name}"] = functools.partial(_of_distribution, tf, kind, make, point)
        for name, arguments in bijector_cases.bijectors(tf, v, checks).items():
            found[f"{kind}/bijectors.{name}"] = functools.partial(_of_bijector, tf, v, *arguments)
        if kind != "checked":
            for name, build in bijector_cases.functions(tf, v).items():
                found[f"{kind}/functions.{name}"] = lambda build=build: {"": _outcome(tf, build)}
    for name in _FAULTS:
        del found[name]
    return found


def digests(case):
    """{method: the number of nodes and a digest, or the error's type} of a case."""
    return {method: _digest(lines) for method, lines in case().items()}


def outcomes(tf):
    return {name: digests(case) for name, case in cases(tf).items()}
