"""tf.data.Options: how a pipeline is rewritten before it runs."""

from __future__ import annotations

from stillflow.datasets.stats_aggregator import StatsAggregator
from stillflow.names import public


@public("python.data.util.options.OptionsBase")
class OptionsBase:
    """Options that are set by assignment; those that have not been set are None."""

    _options: dict

    def __init__(self):
        object.__setattr__(self, "_options", {})

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in {*self._options, *other._options})

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name, value):
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)


@public("python.data.util.options.create_option")
def create_option(name, ty, docstring, default_factory=lambda: None):
    """A property that takes values of a type, and has a default that is made when it is first asked for."""

    def get(self):
        if name not in self._options:
            self._options[name] = default_factory()
        return self._options[name]

    def put(self, value):
        if not isinstance(value, ty):
            raise TypeError(f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})')
        self._options[name] = value

    return property(get, put, None, docstring)


@public("python.data.util.options.merge_options")
def merge_options(*options_list):
    """What several options of one type say together.

    Raises:
      TypeError: if they are of different types, or none.
      ValueError: without options, or if they contradict each other.
    """
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if type(options) is not kind:
            raise TypeError(f"Incompatible options type: {kind!r} vs {type(options)!r}")
    if not issubclass(kind, OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    defaults, merged = kind(), kind()
    for options in options_list:
        for name in list(options._options):
            ours, theirs, default = (getattr(each, name) for each in (merged, options, defaults))
            if theirs == default:
                continue
            if ours == default:
                setattr(merged, name, theirs)
            elif isinstance(ours, OptionsBase):
                setattr(merged, name, merge_options(ours, theirs))
            elif ours != theirs:
                raise ValueError(f"Cannot merge incompatible values ({ours!r} and {theirs!r}) of option: {name}")
    return merged


@public("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(OptionsBase):
    """Whether a function of `map` that a `batch` follows is called side by side for a whole batch.

    The elements are the same. `use_choose_fastest` measures first whether it is faster.
    """

    enabled = create_option("enabled", bool, "Whether to vectorize map transformations.")
    use_choose_fastest = create_option("use_choose_fastest", bool, "Whether to choose at run time.")

    def _static_optimizations(self):
        return ["map_vectorization"] if self.enabled else []

    def _static_optimization_configs(self):
        return [f"map_vectorization:use_choose_fastest:{'true' if self.use_choose_fastest else 'false'}"]


_REWRITES = (
    "filter_fusion filter_with_random_uniform_fusion hoist_random_uniform map_and_batch_fusion map_and_filter_fusion "
    "map_parallelization map_fusion noop_elimination parallel_batch shuffle_and_repeat_fusion"
).split()
_DEFAULT_REWRITES = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


@public("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Which rewrites are made. Of them, `shuffle_and_repeat_fusion` changes the order of elements."""

    apply_default_optimizations = create_option(
        "apply_default_optimizations", bool, "Whether rewrites are made that have not been asked for; True if None."
    )
    autotune = create_option("autotune", bool, "Whether numbers of threads are tuned; True if None.")
    autotune_algorithm = create_option("autotune_algorithm", int, "How they are tuned.")
    autotune_buffers = create_option("autotune_buffers", bool, "Whether sizes of buffers are tuned.")
    autotune_cpu_budget = create_option("autotune_cpu_budget", int, "How many threads are to be used.")
    filter_fusion = create_option("filter_fusion", bool, "Whether to fuse filter transformations.")
    filter_with_random_uniform_fusion = create_option(
        "filter_with_random_uniform_fusion", bool, "Whether to fuse filters of random numbers."
    )
    hoist_random_uniform = create_option("hoist_random_uniform", bool, "Whether to hoist random ops out of maps.")
    map_and_batch_fusion = create_option("map_and_batch_fusion", bool, "Whether to fuse map and batch.")
    map_and_filter_fusion = create_option("map_and_filter_fusion", bool, "Whether to fuse map and filter.")
    map_fusion = create_option("map_fusion", bool, "Whether to fuse map transformations.")
    map_parallelization = create_option("map_parallelization", bool, "Whether to parallelize maps.")
    map_vectorization = create_option(
        "map_vectorization", MapVectorizationOptions, "Whether to vectorize maps.", MapVectorizationOptions
    )
    noop_elimination = create_option("noop_elimination", bool, "Whether to leave out what changes nothing.")
    parallel_batch = create_option("parallel_batch", bool, "Whether to copy the elements of batches in parallel.")
    shuffle_and_repeat_fusion = create_option(
        "shuffle_and_repeat_fusion", bool, "Whether a repeated shuffle shuffles passes into each other; True if None."
    )

    def _static_optimizations(self):
        found = {name for name in _REWRITES if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            found.update(name for name in _DEFAULT_REWRITES if getattr(self, name) is not False)
        if self.map_vectorization is not None:
            found.update(self.map_vectorization._static_optimizations())
        if self.autotune is not False and self.autotune_buffers:
            found.add("inject_prefetch")
        return sorted(found)

    def _static_optimization_configs(self):
        return [] if self.map_vectorization is None else self.map_vectorization._static_optimization_configs()


@public("data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """How many threads a pipeline has; they are the session's here, and what it brings does not depend on them."""

    max_intra_op_parallelism = create_option(
        "max_intra_op_parallelism", int, "How many threads an operation may use; as many as there are if None."
    )
    private_threadpool_size = create_option(
        "private_threadpool_size", int, "How many threads the pipeline has for itself; none if None."
    )


@public("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """How a pipeline is made into several."""

    auto_shard = create_option(
        "auto_shard", bool, "Whether workers take files or elements in turns; True if None.", lambda: True
    )
    _make_stateless = create_option("_make_stateless", bool, "Whether nodes with a state are rewritten.")
    num_devices = create_option("num_devices", int, "How many devices the elements are for.")


@public("data.experimental.StatsOptions")
class StatsOptions(OptionsBase):
    """What is counted and measured while elements are made."""

    aggregator = create_option("aggregator", StatsAggregator, "What keeps it.")
    prefix = create_option("prefix", str, "What the names of statistics begin with.", str)
    counter_prefix = create_option("counter_prefix", str, "What the names of counters begin with.", str)
    latency_all_edges = create_option(
        "latency_all_edges", bool, "Whether the time that each part of the pipeline takes is measured; False if None."
    )


@public("data.Options")
class Options(OptionsBase):
    """What `Dataset.with_options` sets for a pipeline."""

    experimental_deterministic = create_option(
        "experimental_deterministic", bool, "Whether order is to be deterministic; here it always is."
    )
    experimental_distribute = create_option(
        "experimental_distribute", DistributeOptions, "How several pipelines are made of it.", DistributeOptions
    )
    experimental_optimization = create_option(
        "experimental_optimization", OptimizationOptions, "Which rewrites are made.", OptimizationOptions
    )
    experimental_slack = create_option("experimental_slack", bool, "Whether the last prefetch gives way.")
    experimental_stats = create_option(
        "experimental_stats", StatsOptions, "What is counted and measured.", StatsOptions
    )
    experimental_threading = create_option(
        "experimental_threading", ThreadingOptions, "How many threads it has.", ThreadingOptions
    )
    experimental_stateful_whitelist = create_option(
        "experimental_stateful_whitelist", list, "Names of stateful ops that serialization passes over."
    )

    def merge(self, options):
        """These options and others together. Raises ValueError if they contradict each other."""
        return merge_options(self, options)

    def _static_optimizations(self):
        found = list(self.experimental_optimization._static_optimizations())
        if self.experimental_deterministic is False:
            found.append("make_sloppy")
        if self.experimental_stats and self.experimental_stats.latency_all_edges:
            found.append("latency_all_edges")
        if self.experimental_slack:
            found.append("slack")
        if self.experimental_distribute and self.experimental_distribute._make_stateless:
            found.append("make_stateless")
        return found

    def _static_optimization_configs(self):
        found = list(self.experimental_optimization._static_optimization_configs())
        if self.experimental_slack:
            found.append(f"slack:slack_period:{self.experimental_distribute.num_devices or 1}")
        return found


AUTOTUNE = public("data.experimental.AUTOTUNE", "contrib.data.AUTOTUNE")(-1)
