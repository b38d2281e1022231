"""tf.data.*"""

from stillflow.datasets import structure as _structure
from stillflow.datasets.dataset import DatasetV1 as Dataset
from stillflow.datasets.files import FixedLengthRecordDataset as FixedLengthRecordDataset
from stillflow.datasets.files import TextLineDataset as TextLineDataset
from stillflow.datasets.files import TFRecordDataset as TFRecordDataset
from stillflow.datasets.iterator import Iterator as Iterator
from stillflow.datasets.iterator import element_spec_of as _element_spec_of
from stillflow.datasets.iterator import make_initializable_iterator as make_initializable_iterator
from stillflow.datasets.one_shot import make_one_shot_iterator as make_one_shot_iterator
from stillflow.datasets.options import Options as Options
from stillflow.datasets.specs import DatasetSpec as DatasetSpec
from stillflow.facade import data_experimental as experimental


def get_output_types(dataset_or_iterator):
    """The types of the components of a data set's or iterator's elements. Raises TypeError for anything else."""
    return _structure.output_types(_element_spec_of(dataset_or_iterator))


def get_output_shapes(dataset_or_iterator):
    """The shapes of the components, as far as they are known. Raises TypeError for anything else."""
    return _structure.output_shapes(_element_spec_of(dataset_or_iterator))


def get_output_classes(dataset_or_iterator):
    """The classes of the components. Raises TypeError for anything else."""
    return _structure.output_classes(_element_spec_of(dataset_or_iterator))
