"""tf.train.replica_device_setter: which device nodes get."""

CLUSTER = {"ps": ["a:1", "b:1"], "worker": ["c:1", "d:1", "e:1"]}


def _nodes(tf, device):
    """The nodes of a model on a cluster, whose graph can only be looked at, with their devices."""
    with tf.Graph().as_default() as graph, tf.device(device):
        x = tf.Variable([1.0, 2.0], name="x")
        y = tf.get_variable("y", initializer=3.0, use_resource=True)
        with tf.device("/job:other"):
            tf.Variable(1.0, name="of_another_job")
        with tf.device("/job:ps/task:7"):
            tf.Variable(1.0, name="of_a_task")
        with tf.device("/cpu:0"):
            tf.Variable(1.0, name="of_a_processor")
            tf.constant(2.0, name="constant")
        with tf.control_dependencies([x.initializer, y.initializer]):
            tf.no_op("after")
        loss = tf.reduce_sum(x * y, name="loss")
        tf.train.AdamOptimizer().minimize(loss)
    return [tf.constant(["{} {}".format(op.name, op.device) for op in graph.get_operations()])]


def by_number_of_tasks(tf):
    return _nodes(tf, tf.train.replica_device_setter(ps_tasks=3))


def by_cluster(tf):
    return _nodes(tf, tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(CLUSTER)))


def with_devices_of_its_own(tf):
    setter = tf.train.replica_device_setter(
        cluster=CLUSTER, ps_device="/job:ps/cpu:0", worker_device="/job:worker/task:1/cpu:0"
    )
    return _nodes(tf, setter)


def without_merging(tf):
    return _nodes(tf, tf.train.replica_device_setter(ps_tasks=2, merge_devices=False))


def with_a_strategy(tf):
    return _nodes(tf, tf.train.replica_device_setter(ps_tasks=2, ps_strategy=lambda op: len(op.name)))


def for_other_nodes(tf):
    return _nodes(tf, tf.train.replica_device_setter(ps_tasks=2, ps_ops=["Sum", "NoOp"], worker_device=""))


def without_parameter_servers(tf):
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["a:1"]}) is None
    return _nodes(tf, tf.train.replica_device_setter(ps_tasks=2, ps_device=""))
