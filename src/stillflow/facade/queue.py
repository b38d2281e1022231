"""tf.queue.*"""

from stillflow.resources.queues import FIFOQueue as FIFOQueue
from stillflow.resources.queues import PaddingFIFOQueue as PaddingFIFOQueue
from stillflow.resources.queues import PriorityQueue as PriorityQueue
from stillflow.resources.queues import QueueBase as QueueBase
from stillflow.resources.queues import RandomShuffleQueue as RandomShuffleQueue
