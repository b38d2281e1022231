"""Graphs whose nodes write summaries; tests/summary looks at what they write."""


def each_kind(tf):
    summary = tf.contrib.summary
    writer = summary.create_file_writer("/somewhere", max_queue=3, name="shared")
    step = tf.train.get_or_create_global_step()
    with writer.as_default(), summary.always_record_summaries(), tf.name_scope("outer"):
        summary.scalar("scalar", tf.constant(1.5))
        summary.histogram("a histogram", [1.0, 2.0], family="family", step=3)
        summary.image("image", tf.zeros([1, 2, 2, 3]), step=step)
        summary.audio("audio", tf.zeros([1, 9]), 8000.0, 2)
        summary.generic("generic", tf.constant(["a"]), metadata=tf.SummaryMetadata(display_name="shown"))
        summary.graph(tf.placeholder(tf.string, []))
        summary.import_event(tf.constant(""), name="imported")
        summary.flush(name="flushed")
        writer.close()


def conditions(tf):
    summary = tf.contrib.summary
    chosen = tf.placeholder(tf.bool, [])
    step = tf.train.get_or_create_global_step()
    with summary.create_file_writer("/somewhere").as_default():
        with tf.compat.v2.summary.record_if(chosen):
            summary.scalar("scalar", 1.5)
            tf.compat.v2.summary.write("tag", [1.0, 2.0], step=step)
            tf.compat.v2.summary.experimental.write_raw_pb("", step=2, name="raw")
        with summary.record_summaries_every_n_global_steps(5):
            summary.scalar("scalar", 2.5, step=step)
        summary.scalar("not recorded", 3.5)
        with tf.compat.v2.summary.experimental.summary_scope("a name!", values=[chosen]) as (tag, scope):
            tf.constant([tag, scope])


def branches_and_loops(tf):
    summary = tf.contrib.summary

    def branch():
        summary.scalar("scalar", 1.0)
        return tf.constant(1.0), [tf.constant(2)]

    def body(i):
        summary.scalar("looped", 1.0, step=i)
        return i + 1

    tf.train.get_or_create_global_step()
    with summary.create_file_writer("/somewhere").as_default(), summary.always_record_summaries():
        tf.cond(tf.placeholder(tf.bool, []), branch, lambda: (tf.constant(3.0), [tf.constant(4)]))
        tf.while_loop(lambda i: i < 3, body, [tf.constant(0, tf.int64)])
