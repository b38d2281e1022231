"""tf.train.*"""

from stillflow.graph_util import write_graph as write_graph
from stillflow.training.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from stillflow.training.adagrad import AdagradOptimizer as AdagradOptimizer
from stillflow.training.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from stillflow.training.adam import AdamOptimizer as AdamOptimizer
from stillflow.training.ftrl import FtrlOptimizer as FtrlOptimizer
from stillflow.training.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from stillflow.training.momentum import MomentumOptimizer as MomentumOptimizer
from stillflow.training.optimizer import Optimizer as Optimizer
from stillflow.training.proximal_adagrad import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from stillflow.training.proximal_gradient_descent import (
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from stillflow.training.rms_prop import RMSPropOptimizer as RMSPropOptimizer
