"""tf.train.*"""

from stillflow.training.adagrad import AdagradOptimizer as AdagradOptimizer
from stillflow.training.adam import AdamOptimizer as AdamOptimizer
from stillflow.training.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from stillflow.training.momentum import MomentumOptimizer as MomentumOptimizer
from stillflow.training.optimizer import Optimizer as Optimizer
