"""tf.data.experimental.*"""

from stillflow.datasets.iterator import element_spec_of as get_structure
from stillflow.datasets.mapping import map_and_batch as map_and_batch
from stillflow.datasets.options import MapVectorizationOptions as MapVectorizationOptions
from stillflow.datasets.options import OptimizationOptions as OptimizationOptions
from stillflow.datasets.shuffle import shuffle_and_repeat as shuffle_and_repeat
from stillflow.datasets.specs import DatasetSpec as DatasetStructure

AUTOTUNE = -1
