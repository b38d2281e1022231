"""tf.manip: names of functions that tf has too."""

from stillflow.facade.array import gather_nd as gather_nd
from stillflow.facade.array import reshape as reshape
from stillflow.facade.array import scatter_nd as scatter_nd
from stillflow.facade.array import tile as tile
from stillflow.facade.array_order import reverse as reverse
from stillflow.facade.array_order import roll as roll
from stillflow.facade.space_blocks import batch_to_space_nd as batch_to_space_nd
from stillflow.facade.space_blocks import space_to_batch_nd as space_to_batch_nd
