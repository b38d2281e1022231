"""Deep models whose graphs say which tensors are their features and columns: for integrated gradients."""

from __future__ import annotations

import pickle

from google.protobuf.any_pb2 import Any

from stillflow import ops
from stillflow.canned.estimators.dnn import dnn_model_fn
from stillflow.canned.graph_heads.multi_class import classifier_head
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.parse_example_spec import make_parse_example_spec
from stillflow.graph.contexts import add_to_collection
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor_or_indexed_slices
from stillflow.saver.saved_model.signatures import build_tensor_info


@public("contrib.estimator.python.estimator.dnn_with_layer_annotations.LayerAnnotationsCollectionNames")
class LayerAnnotationsCollectionNames:
    """The names of the collections."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"  # as TensorFlow spells it
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name):
        """That of the names of what is in a collection."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name):
        """That of the TensorInfo messages."""
        return f"{collection_name}/values"


def _note(collection, key, tensor):
    message = Any()
    message.Pack(build_tensor_info(tensor))
    add_to_collection(LayerAnnotationsCollectionNames.keys(collection), key)
    add_to_collection(LayerAnnotationsCollectionNames.values(collection), message)


def _note_inputs(features, feature_columns, tensors):
    names = LayerAnnotationsCollectionNames
    for key in make_parse_example_spec(feature_columns):
        _note(names.UNPROCESSED_FEATURES, key, convert_to_tensor_or_indexed_slices(features[key]))
    for column in feature_columns:
        add_to_collection(names.FEATURE_COLUMNS, pickle.dumps(column))
    for column, tensor in tensors.items():
        _note(names.PROCESSED_FEATURES, column.name, tensor)


def _estimator(head, hidden_units, feature_columns, model_dir, config, warm_start_from, **options):
    def model_fn(features, labels, mode, config):
        return dnn_model_fn(
            features, labels, mode, head, hidden_units, tuple(feature_columns or ()), config=config,
            note_inputs=_note_inputs, **options,
        )  # fmt: skip

    return Estimator(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("contrib.estimator.DNNClassifierWithLayerAnnotations")
def DNNClassifierWithLayerAnnotations(  # noqa: N802
    hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
    optimizer="Adagrad", activation_fn=ops.relu, dropout=None, input_layer_partitioner=None, config=None,
    warm_start_from=None, loss_reduction=Reduction.SUM,
):  # fmt: skip
    """A tf.estimator.DNNClassifier whose graph names its features and columns in collections.

    Its checkpoints are those of a DNNClassifier. Arguments and errors are its, too.
    """
    head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
    return _estimator(
        head, hidden_units, feature_columns, model_dir, config, warm_start_from, optimizer=optimizer,
        activation_fn=activation_fn, dropout=dropout, input_layer_partitioner=input_layer_partitioner,
    )  # fmt: skip


@public("contrib.estimator.DNNRegressorWithLayerAnnotations")
def DNNRegressorWithLayerAnnotations(  # noqa: N802
    hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Adagrad",
    activation_fn=ops.relu, dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None,
    loss_reduction=Reduction.SUM,
):  # fmt: skip
    """A tf.estimator.DNNRegressor whose graph names its features and columns in collections.

    Its checkpoints are those of a DNNRegressor. Arguments and errors are its, too.
    """
    head = regression_head(weight_column, label_dimension, loss_reduction)
    return _estimator(
        head, hidden_units, feature_columns, model_dir, config, warm_start_from, optimizer=optimizer,
        activation_fn=activation_fn, dropout=dropout, input_layer_partitioner=input_layer_partitioner,
    )  # fmt: skip
