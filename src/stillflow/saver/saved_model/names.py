"""What things are called in a SavedModel: files, collections, signatures and tags."""

from __future__ import annotations

import os

from stillflow.names import public
from stillflow.platform.compat import as_text

ASSETS_DIRECTORY = public("saved_model.ASSETS_DIRECTORY", "saved_model.constants.ASSETS_DIRECTORY")("assets")
ASSETS_KEY = public("saved_model.ASSETS_KEY", "saved_model.constants.ASSETS_KEY")("saved_model_assets")
LEGACY_INIT_OP_KEY = public("saved_model.LEGACY_INIT_OP_KEY", "saved_model.constants.LEGACY_INIT_OP_KEY")(
    "legacy_init_op"
)
MAIN_OP_KEY = public("saved_model.MAIN_OP_KEY", "saved_model.constants.MAIN_OP_KEY")("saved_model_main_op")
TRAIN_OP_KEY = "saved_model_train_op"
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"
TRAIN_OP_SIGNATURE_KEY = "__saved_model_train_op"
SAVED_MODEL_FILENAME_PB = public(
    "saved_model.SAVED_MODEL_FILENAME_PB", "saved_model.constants.SAVED_MODEL_FILENAME_PB"
)("saved_model.pb")
SAVED_MODEL_FILENAME_PBTXT = public(
    "saved_model.SAVED_MODEL_FILENAME_PBTXT", "saved_model.constants.SAVED_MODEL_FILENAME_PBTXT"
)("saved_model.pbtxt")
SAVED_MODEL_SCHEMA_VERSION = public(
    "saved_model.SAVED_MODEL_SCHEMA_VERSION", "saved_model.constants.SAVED_MODEL_SCHEMA_VERSION"
)(1)
VARIABLES_DIRECTORY = public("saved_model.VARIABLES_DIRECTORY", "saved_model.constants.VARIABLES_DIRECTORY")(
    "variables"
)
VARIABLES_FILENAME = public("saved_model.VARIABLES_FILENAME", "saved_model.constants.VARIABLES_FILENAME")("variables")

DEFAULT_SERVING_SIGNATURE_DEF_KEY = public(
    "saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY",
)("serving_default")
DEFAULT_TRAIN_SIGNATURE_DEF_KEY = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY = "eval"
SUPERVISED_TRAIN_METHOD_NAME = public("python.saved_model.signature_constants.SUPERVISED_TRAIN_METHOD_NAME")(
    "tensorflow/supervised/training"
)
SUPERVISED_EVAL_METHOD_NAME = public("python.saved_model.signature_constants.SUPERVISED_EVAL_METHOD_NAME")(
    "tensorflow/supervised/eval"
)
CLASSIFY_INPUTS = public("saved_model.CLASSIFY_INPUTS", "saved_model.signature_constants.CLASSIFY_INPUTS")("inputs")
CLASSIFY_METHOD_NAME = public(
    "saved_model.CLASSIFY_METHOD_NAME", "saved_model.signature_constants.CLASSIFY_METHOD_NAME"
)("tensorflow/serving/classify")
CLASSIFY_OUTPUT_CLASSES = public(
    "saved_model.CLASSIFY_OUTPUT_CLASSES", "saved_model.signature_constants.CLASSIFY_OUTPUT_CLASSES"
)("classes")
CLASSIFY_OUTPUT_SCORES = public(
    "saved_model.CLASSIFY_OUTPUT_SCORES", "saved_model.signature_constants.CLASSIFY_OUTPUT_SCORES"
)("scores")
PREDICT_INPUTS = public("saved_model.PREDICT_INPUTS", "saved_model.signature_constants.PREDICT_INPUTS")("inputs")
PREDICT_METHOD_NAME = public(
    "saved_model.PREDICT_METHOD_NAME", "saved_model.signature_constants.PREDICT_METHOD_NAME"
)("tensorflow/serving/predict")
PREDICT_OUTPUTS = public("saved_model.PREDICT_OUTPUTS", "saved_model.signature_constants.PREDICT_OUTPUTS")("outputs")
REGRESS_INPUTS = public("saved_model.REGRESS_INPUTS", "saved_model.signature_constants.REGRESS_INPUTS")("inputs")
REGRESS_METHOD_NAME = public(
    "saved_model.REGRESS_METHOD_NAME", "saved_model.signature_constants.REGRESS_METHOD_NAME"
)("tensorflow/serving/regress")
REGRESS_OUTPUTS = public("saved_model.REGRESS_OUTPUTS", "saved_model.signature_constants.REGRESS_OUTPUTS")("outputs")

EVAL = public("python.saved_model.tag_constants.EVAL")("eval")
GPU = public("saved_model.GPU", "saved_model.tag_constants.GPU")("gpu")
SERVING = public("saved_model.SERVING", "saved_model.tag_constants.SERVING")("serve")
TPU = public("saved_model.TPU", "saved_model.tag_constants.TPU")("tpu")
TRAINING = public("saved_model.TRAINING", "saved_model.tag_constants.TRAINING")("train")


@public("python.saved_model.utils_impl.get_variables_dir")
def variables_dir(export_dir):
    """The folder of a SavedModel's checkpoint."""
    return os.path.join(as_text(export_dir), VARIABLES_DIRECTORY)


@public("python.saved_model.utils_impl.get_variables_path")
def variables_path(export_dir):
    """The checkpoint of a SavedModel."""
    return os.path.join(variables_dir(export_dir), VARIABLES_FILENAME)


@public("python.saved_model.utils_impl.get_assets_dir")
def assets_dir(export_dir):
    """The folder of the files that belong to a model, in its SavedModel."""
    return os.path.join(as_text(export_dir), ASSETS_DIRECTORY)


def asset_path(export_dir, filename):
    """A file that belongs to a model, in its SavedModel."""
    return os.path.join(assets_dir(export_dir), filename)


def saved_model_path(export_dir):
    """The file, binary, that makes a folder a SavedModel."""
    return os.path.join(export_dir, SAVED_MODEL_FILENAME_PB)
