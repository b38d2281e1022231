"""tensorflow.compat.v2: the API of TensorFlow 2 as 1.15.5 has it, most of which is that of 1.15 under the same name.

What is the same as under a name of tf was recorded once (tools/record_compat_v2.py). The rest has marks with names
that begin with "compat.v2.", most of it in stillflow.compat_v2.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

_ROOT = "compat.v2"
# Classes and functions of which TensorFlow has two versions, the second without some methods or arguments that the
# first has, or not distinguished by what they do. Here one is both.
_BOTH = """
newaxis VariableAggregation variable_creator_scope compat.v1 saved_model.contains_saved_model train.Checkpoint
data.FixedLengthRecordDataset data.TFRecordDataset data.TextLineDataset
data.experimental.Counter data.experimental.CsvDataset data.experimental.RandomDataset data.experimental.SqlDataset
data.experimental.StatsAggregator data.experimental.choose_from_datasets data.experimental.sample_from_datasets
data.experimental.make_batched_features_dataset data.experimental.make_csv_dataset
distribute.MirroredStrategy distribute.OneDeviceStrategy distribute.Strategy distribute.StrategyExtended
distribute.experimental.CentralStorageStrategy distribute.experimental.MultiWorkerMirroredStrategy
distribute.experimental.ParameterServerStrategy estimator.Estimator keras.backend.name_scope
lookup.StaticHashTable lookup.StaticVocabularyTable
"""


@functools.cache
def _names() -> dict[str, dict[str, str]]:
    """{namespace of compat.v2: {last part: name below tf}}."""
    found = {}
    for namespace, entries in json.loads((Path(__file__).parent / "compat_v2.json").read_text()).items():
        pairs = [entry.partition("=") for entry in entries.split()]
        found[namespace] = {last: other or f"{namespace}.{last}".lstrip(".") for last, _, other in pairs}
    for name in _BOTH.split():
        namespace, _, last = name.rpartition(".")
        found.setdefault(namespace, {})[last] = name
    return found


@functools.cache
def _namespaces() -> frozenset[str]:
    parts = [namespace.split(".") for namespace in _names() if namespace]
    return frozenset({_ROOT} | {".".join([_ROOT, *each[: i + 1]]) for each in parts for i in range(len(each))})


def is_namespace(name: str) -> bool:
    return name.startswith(_ROOT) and name in _namespaces()


def original(name: str) -> str | None:
    """The name below tf of what compat.v2 has under a name that begins with "compat.v2."; None if it has its own."""
    namespace, _, last = name.rpartition(".")
    if not namespace.startswith(_ROOT):
        return None
    return _names().get(namespace[len(_ROOT) + 1 :], {}).get(last)


def members(namespace: str) -> dict[str, str]:
    """{last part: name below tf} of what a namespace of compat.v2 shares with tf; empty for other namespaces."""
    return _names().get(namespace[len(_ROOT) + 1 :], {}) if namespace.startswith(_ROOT) else {}


def inner_namespaces(namespace: str) -> list[str]:
    """The last parts of the namespaces in one of compat.v2, and in tf.compat."""
    if not _ROOT.startswith(namespace.partition(".")[0]):
        return []
    return [name.rpartition(".")[2] for name in _namespaces() if name.rpartition(".")[0] == namespace]
