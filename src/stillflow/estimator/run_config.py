"""tf.estimator.RunConfig: how an Estimator runs: where, how often it saves and logs, and its place in a cluster."""

from __future__ import annotations

import copy
import tempfile

from stillflow.estimator import cluster_environment
from stillflow.estimator.cluster_environment import TaskType
from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.platform.compat import path_to_str
from stillflow.training.replica_devices import STANDARD_PS_OPS, replica_device_setter
from stillflow.training_loop.messages import log

_DEFAULT = object()  # stands for an argument that is not given, where None means something
_TWO_STRATEGIES = (
    "Either `experimental_distribute` or `train_distribute` and `eval_distribute` can be given, not both."
)
_BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."

# What the constructor and `replace` take, in the order in which TensorFlow prints it.
_REPLACEABLE = [
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs",
]  # fmt: skip

_CONDITIONS = (
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda steps: steps >= 0, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", lambda steps: steps >= 0, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", lambda secs: secs >= 0, "save_checkpoints_secs should be >= 0"),
    (
        "session_config",
        lambda config: isinstance(config, protobuf.message("ConfigProto")),
        "session_config must be instance of ConfigProto",
    ),
    ("keep_checkpoint_max", lambda count: count >= 0, "keep_checkpoint_max should be >= 0"),
    ("keep_checkpoint_every_n_hours", lambda hours: hours > 0, "keep_checkpoint_every_n_hours should be > 0"),
    ("log_step_count_steps", lambda steps: steps > 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", lambda seed: isinstance(seed, int), "tf_random_seed must be integer."),
    (
        "experimental_max_worker_delay_secs",
        lambda secs: isinstance(secs, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    ("session_creation_timeout_secs", lambda secs: secs > 0, "session_creation_timeout_secs should be > 0"),
    (
        "device_fn",
        lambda function: callable(function) and set(fn_args(function)) == {"op"},
        'device_fn must be callable with exactly one argument "op".',
    ),
    ("protocol", lambda name: name in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
)


def _setting(name, doc):
    return property(lambda config: getattr(config, f"_{name}"), doc=doc)


@public("estimator.RunConfig")
class RunConfig:
    """How an Estimator runs.

    Args:
      model_dir: the folder of checkpoints and summaries.
      tf_random_seed: the seed of the graphs; None for none.
      save_summary_steps: how often to write summaries, in steps.
      save_checkpoints_steps: how often to save, in steps.
      save_checkpoints_secs: how often, in seconds: every ten minutes if neither is given.
      session_config: a ConfigProto for the sessions.
      keep_checkpoint_max: how many checkpoints to keep; None or 0 keeps all.
      keep_checkpoint_every_n_hours: one checkpoint in so many hours is kept in any case.
      log_step_count_steps: how often to log the loss and the steps per second, in steps.
      train_distribute, eval_distribute: the strategies with which it trains and evaluates, of tf.distribute.
      experimental_distribute: both, as a DistributeConfig.
      device_fn: a function of an operation that returns its device.
      protocol: how servers talk to each other.
      experimental_max_worker_delay_secs: the most that a worker of a cluster waits before it begins, in seconds.
      session_creation_timeout_secs: how long to wait for the chief's session, in seconds.

    Raises ValueError for what makes no sense, and for a cluster in TF_CONFIG that makes none.
    """

    def __init__(
        self, model_dir=None, tf_random_seed=None, save_summary_steps=100, save_checkpoints_steps=_DEFAULT,
        save_checkpoints_secs=_DEFAULT, session_config=None, keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, train_distribute=None, device_fn=None,
        protocol=None, eval_distribute=None, experimental_distribute=None, experimental_max_worker_delay_secs=None,
        session_creation_timeout_secs=7200,
    ):  # fmt: skip
        given = dict(locals())
        if save_checkpoints_steps is _DEFAULT and save_checkpoints_secs is _DEFAULT:
            given.update(save_checkpoints_steps=None, save_checkpoints_secs=600)
        elif save_checkpoints_secs is _DEFAULT:
            given["save_checkpoints_secs"] = None
        elif save_checkpoints_steps is _DEFAULT:
            given["save_checkpoints_steps"] = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_BOTH)
        if experimental_distribute:
            if train_distribute or eval_distribute:
                raise ValueError(_TWO_STRATEGIES)
            given["train_distribute"] = experimental_distribute.train_distribute
            given["eval_distribute"] = experimental_distribute.eval_distribute
        environment = cluster_environment.read()
        given["model_dir"] = cluster_environment.model_dir(environment, path_to_str(model_dir))
        self._replace(self, _REPLACEABLE, **{name: given[name] for name in _REPLACEABLE})
        for name, value in cluster_environment.settings(environment).items():
            setattr(self, f"_{name}", value)
        if not self.session_config and self.cluster_spec:
            self._replace(self, _REPLACEABLE, session_config=self._session_config_in_cluster())

    def _session_config_in_cluster(self):
        """A ConfigProto that lets this task talk to those that it has to."""
        filters = {
            TaskType.MASTER: ["/job:ps", "/job:master"],
            TaskType.CHIEF: ["/job:ps", "/job:chief"],
            TaskType.WORKER: ["/job:ps", f"/job:worker/task:{self.task_id}"],
            TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
        }.get(self.task_type)
        if filters is None:
            return None
        config = default_session_config()
        config.device_filters.extend(filters)
        return config

    model_dir = _setting("model_dir", "The folder of checkpoints and summaries, or None.")
    tf_random_seed = _setting("tf_random_seed", "The seed of the graphs, or None.")
    save_summary_steps = _setting("save_summary_steps", "How often summaries are written, in steps.")
    save_checkpoints_steps = _setting("save_checkpoints_steps", "How often it saves, in steps, or None.")
    save_checkpoints_secs = _setting("save_checkpoints_secs", "How often it saves, in seconds, or None.")
    session_config = _setting("session_config", "The ConfigProto of the sessions, or None.")
    keep_checkpoint_max = _setting("keep_checkpoint_max", "How many checkpoints are kept.")
    keep_checkpoint_every_n_hours = _setting(
        "keep_checkpoint_every_n_hours", "One checkpoint in so many hours is kept in any case."
    )
    log_step_count_steps = _setting("log_step_count_steps", "How often the loss is logged, in steps.")
    train_distribute = _setting("train_distribute", "The strategy with which it trains, or None.")
    eval_distribute = _setting("eval_distribute", "The strategy with which it evaluates, or None.")
    device_fn = _setting("device_fn", "The function of an operation that returns its device, or None.")
    protocol = _setting("protocol", "How servers talk to each other, or None.")
    experimental_max_worker_delay_secs = _setting(
        "experimental_max_worker_delay_secs", "The most that a worker waits before it begins, in seconds, or None."
    )
    session_creation_timeout_secs = _setting(
        "session_creation_timeout_secs", "How long it waits for the chief's session, in seconds."
    )
    service = _setting("service", "What TF_CONFIG says of its service, a dict, or None.")
    cluster_spec = _setting("cluster_spec", "The cluster, a ClusterSpec; an empty one if there is none.")
    task_type = _setting("task_type", "What kind of task of the cluster this is.")
    task_id = _setting("task_id", "The number of this task among those of its kind.")
    global_id_in_cluster = _setting("global_id_in_cluster", "The number of this task among all; None outside.")
    master = _setting("master", "The target of sessions that train.")
    evaluation_master = _setting("evaluation_master", "The target of sessions that evaluate.")
    is_chief = _setting("is_chief", "Whether this task initializes and saves.")
    num_ps_replicas = _setting("num_ps_replicas", "How many parameter servers there are.")
    num_worker_replicas = _setting("num_worker_replicas", "How many workers there are, the chief among them.")

    def replace(self, **kwargs):
        """A copy with other settings: any of those that the constructor takes.

        Raises ValueError for other names and for what makes no sense.
        """
        return RunConfig._replace(copy.deepcopy(self), _REPLACEABLE, **kwargs)

    @staticmethod
    def _replace(config, allowed_properties_list=None, **kwargs):
        allowed = allowed_properties_list or []
        for name, value in kwargs.items():
            if name not in allowed:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {allowed}.")
            setattr(config, f"_{name}", value)
        _settle_times(config, kwargs)
        for name, holds, message in _CONDITIONS:
            value = getattr(config, f"_{name}")
            if value is not None and not holds(value):
                raise ValueError(message)
        return config


def _settle_times(config, replaced):
    """Steps replace seconds, and the other way round."""
    steps, secs = config._save_checkpoints_steps, config._save_checkpoints_secs
    if "save_checkpoints_steps" in replaced and "save_checkpoints_secs" in replaced:
        if steps is not None and secs is not None:
            raise ValueError(_BOTH)
    elif "save_checkpoints_steps" in replaced and steps is not None:
        config._save_checkpoints_secs = None
    elif "save_checkpoints_secs" in replaced and secs is not None:
        config._save_checkpoints_steps = None


def default_session_config():
    """The ConfigProto of sessions whose RunConfig has none."""
    config = protobuf.message("ConfigProto")(allow_soft_placement=True)
    options = config.graph_options.rewrite_options
    options.meta_optimizer_iterations = type(options).ONE
    return config


def settled_config(config, model_dir):
    """A RunConfig with a folder and a ConfigProto."""
    if config is None:
        config = RunConfig()
        log().info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=default_session_config())
    model_dir = path_to_str(model_dir)
    if model_dir is not None and config.model_dir is not None and config.model_dir != model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"'{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    if model_dir:
        return RunConfig.replace(config, model_dir=model_dir)
    if config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        log().warning("Using temporary folder as model directory: %s", model_dir)
        return RunConfig.replace(config, model_dir=model_dir)
    return config


def replica_devices(config):
    """The device function of a cluster with parameter servers; None elsewhere."""
    if config.num_ps_replicas <= 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=worker,
        merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec,
    )
