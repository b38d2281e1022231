"""The nodes that tf.train.Saver adds."""

import uuid


class _NoRandomNames:
    hex = "0123456789abcdef" * 2


def _variables(tf, use_resource=False):
    b = tf.get_variable("b", [2], initializer=tf.ones_initializer(), use_resource=use_resource)
    a = tf.get_variable("a", [3, 2], tf.int32, tf.zeros_initializer(), use_resource=use_resource)
    tf.train.get_or_create_global_step()
    return [a, b]


def _sharded(tf, **options):
    """The name of the folder of the shards is a random one; here it is always the same."""
    saved, uuid.uuid4 = uuid.uuid4, _NoRandomNames
    try:
        tf.train.Saver(sharded=True, **options)
    finally:
        uuid.uuid4 = saved


def _on_devices(tf, use_resource=False):
    tf.train.get_or_create_global_step()
    start = tf.constant([1.0, 2.0])
    for i, device in enumerate(["/job:localhost/cpu:0", "/cpu:0", "/job:localhost/cpu:0"]):
        with tf.device(device):
            tf.Variable(start, name="v%d" % i, use_resource=use_resource)


def default(tf):
    _variables(tf)
    tf.train.Saver()


def of_resource_variables(tf):
    _variables(tf, use_resource=True)
    tf.train.Saver()


def twice_in_scopes(tf):
    _variables(tf)
    with tf.name_scope("outer"):
        tf.train.Saver(max_to_keep=7)
        tf.train.Saver(name="mine")


def of_a_dict(tf):
    a, b = _variables(tf)
    tf.train.Saver({"one": b, "two": a, "many": tf.train.get_global_step()})


def reshape(tf):
    _variables(tf)
    tf.train.Saver(reshape=True)


def reshape_of_resource_variables(tf):
    _variables(tf, use_resource=True)
    tf.train.Saver(reshape=True)


def version_1(tf):
    _variables(tf)
    tf.train.Saver(write_version=tf.train.SaverDef.V1)


def version_1_sharded(tf):
    _on_devices(tf)
    _sharded(tf, write_version=tf.train.SaverDef.V1)


def filename(tf):
    _variables(tf)
    tf.train.Saver(filename="elsewhere/model")


def sharded_on_one_device(tf):
    _variables(tf)
    _sharded(tf)


def sharded_on_devices(tf):
    _on_devices(tf)
    _sharded(tf)


def sharded_resource_variables(tf):
    _on_devices(tf, use_resource=True)
    _sharded(tf)


def not_sharded_on_devices(tf):
    _on_devices(tf)
    tf.train.Saver()


def partitioned(tf):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("p", [5, 3], initializer=tf.ones_initializer())
    tf.get_variable("q", [2], initializer=tf.ones_initializer())
    tf.train.Saver()


def partitioned_resource_variables(tf):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2), use_resource=True):
        p = tf.get_variable("p", [5, 3], initializer=tf.ones_initializer())
    tf.train.Saver({"whole": list(p)})


def of_unknown_shape(tf):
    start = tf.placeholder_with_default([1.0, 2.0], None)
    tf.Variable(start, validate_shape=False, name="u")
    tf.train.Saver()
    tf.train.Saver(reshape=True)


def deferred(tf):
    saver = tf.train.Saver(defer_build=True)
    _variables(tf)
    saver.build()


def of_a_list(tf):
    a, b = _variables(tf)
    saver = tf.train.Saver([b], restore_sequentially=True, pad_step_number=True)
    return [tf.constant(saver.saver_def.restore_op_name), tf.constant(saver.as_saver_def().save_tensor_name)]


def of_variables_of_an_optimizer(tf):
    _, b = _variables(tf)
    tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(b * b))
    tf.train.Saver()
