"""Feature columns that programs define: of which classes they are."""

import collections

from stillflow.python.feature_column import feature_column, feature_column_v2

import stillflow as tf


class _Doubled(
    feature_column._DenseColumn, feature_column_v2.DenseColumn, collections.namedtuple("_Doubled", ["key"])
):
    """Both kinds at once, the old one first, as tensorflow_hub's columns are."""

    name = property(lambda self: self.key)
    _parse_example_spec = parse_example_spec = property(lambda self: {self.key: tf.FixedLenFeature([2], tf.float32)})
    _variable_shape = variable_shape = property(lambda self: tf.TensorShape([2]))
    _is_v2_column = property(lambda self: True)
    parents = property(lambda self: [self.key])

    def _transform_feature(self, inputs):
        return inputs.get(self.key) * 2.0

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.key, state_manager) * 2.0

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def get_config(self):
        return {"key": self.key}

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        return cls(**config)


def test_columns_may_be_old_and_new_ones():
    column = _Doubled("x")
    assert isinstance(column, feature_column._DenseColumn) and isinstance(column, feature_column_v2.DenseColumn)
    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.feature_column.input_layer({"x": tf.constant([[1.0, 2.0]])}, [column])
        assert session.run(layer).tolist() == [[2.0, 4.0]]
