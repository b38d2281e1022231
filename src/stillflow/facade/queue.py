"""tf.queue.*"""

from stillflow.queues import FIFOQueue as FIFOQueue
from stillflow.queues import PaddingFIFOQueue as PaddingFIFOQueue
from stillflow.queues import PriorityQueue as PriorityQueue
from stillflow.queues import QueueBase as QueueBase
from stillflow.queues import RandomShuffleQueue as RandomShuffleQueue
