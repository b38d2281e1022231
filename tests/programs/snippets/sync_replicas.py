"""tf.train.SyncReplicasOptimizer: its graph."""


def dense_and_sparse(tf):
    tf.train.get_or_create_global_step()
    with tf.device("/cpu:0"):
        x = tf.get_variable("x", initializer=[1.0, -2.0])
        table = tf.get_variable("table", [4, 2], initializer=tf.ones_initializer())
        unused = tf.get_variable("unused", initializer=0.5)
    loss = tf.reduce_sum(x * tf.nn.embedding_lookup(table, [1, 2]))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 2)
    pairs = optimizer.compute_gradients(loss, [x, table, unused])
    optimizer.apply_gradients(pairs, tf.train.get_global_step())
    optimizer.get_init_tokens_op()
    optimizer.get_init_tokens_op(0)


def with_averages_and_backups(tf):
    step = tf.train.get_or_create_global_step()
    x = tf.get_variable("x", initializer=[1.0, -2.0], use_resource=True)
    averages = tf.train.ExponentialMovingAverage(0.9, step)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.AdamOptimizer(), 3, total_num_replicas=2, variable_averages=averages, variables_to_average=[x],
        name="sync",
    )  # fmt: skip
    optimizer.minimize(tf.reduce_sum(x * x), global_step=step, name="train")
    hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=1)
    hook.begin()
