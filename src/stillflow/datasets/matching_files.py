"""tensorflow.python.data.experimental.ops.matching_files: names of files, in order."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.dataset import DatasetV2
from stillflow.datasets.sources import TensorSliceDataset
from stillflow.names import public


@public("python.data.experimental.ops.matching_files.MatchingFilesDataset")
def matching_files_dataset(patterns):
    """The names of the files that a pattern, or one of several, matches, sorted; none if there are none."""
    return DatasetV2._of(TensorSliceDataset(ops.matching_files(patterns)))
