"""tf.train.*"""

from stillflow.facade import train_experimental as experimental
from stillflow.facade.messages import offering as _offering
from stillflow.importer.graph_util import write_graph as write_graph
from stillflow.saver.checkpoint_reader import NewCheckpointReader as NewCheckpointReader
from stillflow.saver.checkpoint_reader import list_variables as list_variables
from stillflow.saver.checkpoint_reader import load_checkpoint as load_checkpoint
from stillflow.saver.checkpoint_reader import load_variable as load_variable
from stillflow.saver.checkpoint_state import checkpoint_exists as checkpoint_exists
from stillflow.saver.checkpoint_state import checkpoints_iterator as checkpoints_iterator
from stillflow.saver.checkpoint_state import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from stillflow.saver.checkpoint_state import get_checkpoint_mtimes as get_checkpoint_mtimes
from stillflow.saver.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from stillflow.saver.checkpoint_state import latest_checkpoint as latest_checkpoint
from stillflow.saver.checkpoint_state import remove_checkpoint as remove_checkpoint
from stillflow.saver.checkpoint_state import update_checkpoint_state as update_checkpoint_state
from stillflow.saver.initialization import init_from_checkpoint as init_from_checkpoint
from stillflow.saver.meta_graph import export_meta_graph as export_meta_graph
from stillflow.saver.meta_graph_import import import_meta_graph as import_meta_graph
from stillflow.saver.objects.checkpoint import Checkpoint as Checkpoint
from stillflow.saver.objects.manager import CheckpointManager as CheckpointManager
from stillflow.saver.saver import Saver as Saver
from stillflow.saver.warm_start import VocabInfo as VocabInfo
from stillflow.saver.warm_start import warm_start as warm_start
from stillflow.summary.event_files import summary_iterator as summary_iterator
from stillflow.summary.writer import FileWriter as SummaryWriter
from stillflow.training import queue_runner as queue_runner
from stillflow.training.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from stillflow.training.adagrad import AdagradOptimizer as AdagradOptimizer
from stillflow.training.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from stillflow.training.adam import AdamOptimizer as AdamOptimizer
from stillflow.training.batching import batch as batch
from stillflow.training.batching import batch_join as batch_join
from stillflow.training.batching import maybe_batch as maybe_batch
from stillflow.training.batching import maybe_batch_join as maybe_batch_join
from stillflow.training.batching import maybe_shuffle_batch as maybe_shuffle_batch
from stillflow.training.batching import maybe_shuffle_batch_join as maybe_shuffle_batch_join
from stillflow.training.batching import shuffle_batch as shuffle_batch
from stillflow.training.batching import shuffle_batch_join as shuffle_batch_join
from stillflow.training.cluster import ClusterSpec as ClusterSpec
from stillflow.training.coordinator import Coordinator as Coordinator
from stillflow.training.coordinator import LooperThread as LooperThread
from stillflow.training.ftrl import FtrlOptimizer as FtrlOptimizer
from stillflow.training.global_step import assert_global_step as assert_global_step
from stillflow.training.global_step import create_global_step as create_global_step
from stillflow.training.global_step import get_global_step as get_global_step
from stillflow.training.global_step import get_or_create_global_step as get_or_create_global_step
from stillflow.training.global_step import global_step as global_step
from stillflow.training.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from stillflow.training.input_producers import input_producer as input_producer
from stillflow.training.input_producers import limit_epochs as limit_epochs
from stillflow.training.input_producers import match_filenames_once as match_filenames_once
from stillflow.training.input_producers import range_input_producer as range_input_producer
from stillflow.training.input_producers import slice_input_producer as slice_input_producer
from stillflow.training.input_producers import string_input_producer as string_input_producer
from stillflow.training.momentum import MomentumOptimizer as MomentumOptimizer
from stillflow.training.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from stillflow.training.optimizer import Optimizer as Optimizer
from stillflow.training.proximal_adagrad import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from stillflow.training.proximal_gradient_descent import (
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from stillflow.training.queue_runner import QueueRunner as QueueRunner
from stillflow.training.queue_runner import add_queue_runner as add_queue_runner
from stillflow.training.queue_runner import start_queue_runners as start_queue_runners
from stillflow.training.replica_devices import replica_device_setter as replica_device_setter
from stillflow.training.rms_prop import RMSPropOptimizer as RMSPropOptimizer
from stillflow.training.schedules import cosine_decay as cosine_decay
from stillflow.training.schedules import cosine_decay_restarts as cosine_decay_restarts
from stillflow.training.schedules import exponential_decay as exponential_decay
from stillflow.training.schedules import inverse_time_decay as inverse_time_decay
from stillflow.training.schedules import linear_cosine_decay as linear_cosine_decay
from stillflow.training.schedules import natural_exp_decay as natural_exp_decay
from stillflow.training.schedules import noisy_linear_cosine_decay as noisy_linear_cosine_decay
from stillflow.training.schedules import piecewise_constant as piecewise_constant
from stillflow.training.schedules import piecewise_constant as piecewise_constant_decay
from stillflow.training.schedules import polynomial_decay as polynomial_decay
from stillflow.training_loop.basic_loop import basic_train_loop as basic_train_loop
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverHook as CheckpointSaverHook
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverListener as CheckpointSaverListener
from stillflow.training_loop.hooks.functions import FeedFnHook as FeedFnHook
from stillflow.training_loop.hooks.functions import FinalOpsHook as FinalOpsHook
from stillflow.training_loop.hooks.hook import SessionRunArgs as SessionRunArgs
from stillflow.training_loop.hooks.hook import SessionRunContext as SessionRunContext
from stillflow.training_loop.hooks.hook import SessionRunHook as SessionRunHook
from stillflow.training_loop.hooks.hook import SessionRunValues as SessionRunValues
from stillflow.training_loop.hooks.progress import LoggingTensorHook as LoggingTensorHook
from stillflow.training_loop.hooks.progress import StepCounterHook as StepCounterHook
from stillflow.training_loop.hooks.step_timer import SecondOrStepTimer as SecondOrStepTimer
from stillflow.training_loop.hooks.stopping import GlobalStepWaiterHook as GlobalStepWaiterHook
from stillflow.training_loop.hooks.stopping import NanLossDuringTrainingError as NanLossDuringTrainingError
from stillflow.training_loop.hooks.stopping import NanTensorHook as NanTensorHook
from stillflow.training_loop.hooks.stopping import StopAtStepHook as StopAtStepHook
from stillflow.training_loop.hooks.summaries import ProfilerHook as ProfilerHook
from stillflow.training_loop.hooks.summaries import SummarySaverHook as SummarySaverHook
from stillflow.training_loop.monitored_session import MonitoredSession as MonitoredSession
from stillflow.training_loop.monitored_session import MonitoredTrainingSession as MonitoredTrainingSession
from stillflow.training_loop.monitored_session import SingularMonitoredSession as SingularMonitoredSession
from stillflow.training_loop.scaffold import Scaffold as Scaffold
from stillflow.training_loop.session_creators import ChiefSessionCreator as ChiefSessionCreator
from stillflow.training_loop.session_creators import SessionCreator as SessionCreator
from stillflow.training_loop.session_creators import WorkerSessionCreator as WorkerSessionCreator
from stillflow.training_loop.session_manager import SessionManager as SessionManager
from stillflow.training_loop.supervisor import Supervisor as Supervisor

__getattr__ = _offering(
    __name__,
    "BytesList CheckpointState ClusterDef Example Feature FeatureList FeatureLists Features FloatList Int64List "
    "JobDef SaverDef SequenceExample ServerDef",
)
