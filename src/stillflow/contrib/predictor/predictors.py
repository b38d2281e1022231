"""Predictors: the graph of a SavedModel, or of an Estimator, with a session, as a function of arrays."""

from __future__ import annotations

import logging

from stillflow.contrib.learn.alternatives import DEFAULT_INPUT, get_input_alternatives, get_output_alternatives
from stillflow.contrib.learn.estimators import BaseEstimator
from stillflow.contrib.learn.modes import ModeKeys
from stillflow.estimator.estimator import Estimator
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saved_model import loader
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from stillflow.session.session import Session
from stillflow.training_loop.monitored_session import MonitoredSession
from stillflow.training_loop.session_creators import ChiefSessionCreator

_LOG = logging.getLogger("tensorflow")


@public("contrib.predictor.predictor.Predictor")
class Predictor:
    """A function of {input: array} that returns {output: array}."""

    def __init__(self, graph, session, feeds, fetches):
        self._graph, self._session = graph, session
        self._feed_tensors = {key: graph.get_tensor_by_name(name) for key, name in feeds.items()}
        self._fetch_tensors = {key: graph.get_tensor_by_name(name) for key, name in fetches.items()}

    @property
    def graph(self):
        """The graph of the model."""
        return self._graph

    @property
    def session(self):
        """The session that runs it."""
        return self._session

    @property
    def feed_tensors(self):
        """{input: tensor}."""
        return self._feed_tensors

    @property
    def fetch_tensors(self):
        """{output: tensor}."""
        return self._fetch_tensors

    def __repr__(self):
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    def __call__(self, input_dict):
        """The outputs for some inputs, where None is not fed. Raises ValueError for inputs that there are not."""
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self._feed_tensors)}")
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)


def _names(tensors):
    return {key: info.name for key, info in tensors.items()}


def _tensor_names(tensors):
    return {key: tensor.name for key, tensor in tensors.items()}


def _signature(key, export_dir, tags):
    """The signature of that name; of old exports its "default_input_alternative"."""
    wanted = {tag.strip() for tag in tags.split(",")}
    for meta_graph in loader.read_saved_model(export_dir).meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            break
    else:
        raise ValueError(f"Could not find MetaGraphDef with tags {tags}")
    signatures = meta_graph.signature_def
    key = key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key in signatures:
        return signatures[key]
    other = f"default_input_alternative:{key}"
    if other not in signatures:
        raise ValueError(
            f'Got signature_def_key "{key}". Available signatures are {list(signatures)}. Original error:\n{key!r}'
        )
    _LOG.warning('Could not find signature def "%s". Using "%s" instead', key, other)
    return signatures[other]


class SavedModelPredictor(Predictor):
    """A Predictor of a SavedModel."""

    def __init__(
        self,
        export_dir,
        signature_def_key=None,
        signature_def=None,
        input_names=None,
        output_names=None,
        tags=None,
        graph=None,
        config=None,
    ):
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names must both be specified or both be unspecified.")
        if sum(item is not None for item in (signature_def_key, signature_def, input_names)) > 1:
            raise ValueError(
                "You must specify at most one of signature_def_key OR signature_def OR(input_names AND output_names)."
            )
        tags = tags or SERVING
        graph = graph or Graph()
        with graph.as_default():
            session = Session(config=config)
            loader.load(session, tags.split(","), export_dir)
        if input_names is None:
            signature = (
                signature_def if signature_def is not None else _signature(signature_def_key, export_dir, tags)
            )
            input_names, output_names = _names(signature.inputs), _names(signature.outputs)
        super().__init__(graph, session, input_names, output_names)


class CoreEstimatorPredictor(Predictor):
    """A Predictor of an Estimator, with the variables of its latest checkpoint."""

    def __init__(self, estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
        graph = graph or Graph()
        with graph.as_default():
            receiver = serving_input_receiver_fn()
            spec = estimator.model_fn(receiver.features, None, "infer", estimator.config)
            key = DEFAULT_SERVING_SIGNATURE_DEF_KEY if output_key is None else output_key
            output = spec.export_outputs.get(key)
            if output is None:
                raise KeyError(f"output_key must be one of {spec.export_outputs.keys()}; got {key}")
            signature = output.as_signature_def(receiver.receiver_tensors)
            creator = ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
            session = MonitoredSession(session_creator=creator)
        super().__init__(graph, session, _names(signature.inputs), _names(signature.outputs))


class ContribEstimatorPredictor(Predictor):
    """A Predictor of a tf.contrib.learn.Estimator, with the variables of its latest checkpoint."""

    def __init__(
        self, estimator, prediction_input_fn, input_alternative_key=None, output_alternative_key=None, graph=None,
        config=None,
    ):  # fmt: skip
        graph = graph or Graph()
        with graph.as_default():
            inputs = prediction_input_fn()
            found = estimator.model_ops(inputs.features, None, ModeKeys.INFER)
            creator = ChiefSessionCreator(
                config=config, checkpoint_filename_with_path=latest_checkpoint(estimator.model_dir)
            )
            session = MonitoredSession(session_creator=creator)
        fed = get_input_alternatives(inputs)[0][input_alternative_key or DEFAULT_INPUT]
        outputs, key = get_output_alternatives(found, output_alternative_key)
        super().__init__(graph, session, _tensor_names(fed), _tensor_names(outputs[key][1]))


@public("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir,
    signature_def_key=None,
    signature_def=None,
    input_names=None,
    output_names=None,
    tags=None,
    graph=None,
    config=None,
):
    """A function of {input: array} for a SavedModel.

    Args:
      export_dir: its folder.
      signature_def_key: the signature to call; by default "serving_default".
      signature_def: a SignatureDef in its place.
      input_names, output_names: {key: name of a tensor} in place of a signature.
      tags: the tags of its MetaGraph, separated by commas; by default "serve".
      graph: where to load it; by default a new graph.
      config: the session's ConfigProto.

    Returns:
      A Predictor. Raises ValueError for more than one way to say what to call, and for what the model does not have.
    """
    return SavedModelPredictor(
        export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config
    )


@public("contrib.predictor.from_estimator")
def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """A function of {input: array} for a tf.estimator.Estimator.

    Args:
      serving_input_receiver_fn: makes the ServingInputReceiver.
      output_key: which of the export_outputs to call; KeyError if there is none of that name.
      graph: where to build the model; by default a new graph.
      config: the session's ConfigProto.

    Raises TypeError for a tf.contrib.learn.Estimator.
    """
    if isinstance(estimator, BaseEstimator):
        raise TypeError(
            "Expected estimator to be of type tf.python.estimator.Estimator, but got type "
            "tf.contrib.learn.Estimator. You likely want to call from_contrib_estimator."
        )
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)


@public("contrib.predictor.from_contrib_estimator")
def from_contrib_estimator(
    estimator, prediction_input_fn, input_alternative_key=None, output_alternative_key=None, graph=None, config=None
):
    """A function of {input: array} for a tf.contrib.learn.Estimator.

    Args:
      prediction_input_fn: makes the InputFnOps.
      input_alternative_key: which of the inputs to feed; by default the only one.
      output_alternative_key: which head to call, if there are several.
      graph: where to build the model; by default a new graph.
      config: the session's ConfigProto.

    Raises TypeError for a tf.estimator.Estimator, and ValueError for a head that there is not.
    """
    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            "tf.python.estimator.Estimator. You likely want to call from_estimator."
        )
    return ContribEstimatorPredictor(
        estimator, prediction_input_fn, input_alternative_key, output_alternative_key, graph, config
    )
