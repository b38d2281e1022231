"""tf.train.experimental.*"""

from stillflow.training.loss_scale import DynamicLossScale as DynamicLossScale
from stillflow.training.loss_scale import FixedLossScale as FixedLossScale
from stillflow.training.loss_scale import LossScale as LossScale
from stillflow.training.loss_scale import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
