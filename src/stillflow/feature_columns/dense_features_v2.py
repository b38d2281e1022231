"""DenseFeatures of TensorFlow 2: its variables are those of the layer, whatever scopes of variables say."""

from __future__ import annotations

from stillflow.feature_columns.layers import DenseFeatures, LayerVariables
from stillflow.graph.name_scope import name_scope
from stillflow.layers.core.layer import Layer
from stillflow.names import public


@public("python.feature_column.feature_column_v2._StateManagerImplV2")
class LayerVariablesV2(LayerVariables):
    """Keeps the variables of columns in a layer, which makes them itself."""

    def _made(self, **settings):
        return self._layer.add_variable(**settings)


@public("compat.v2.keras.layers.DenseFeatures", "python.feature_column.dense_features_v2.DenseFeatures")
class DenseFeaturesV2(DenseFeatures):
    """The numbers of dense columns beside each other, in the order of their names: [batch, numbers].

    Args:
      feature_columns: dense columns.
      trainable: whether their variables are to be trained.
      name: the layer's name.

    Raises ValueError for other columns.
    """

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns=feature_columns, trainable=trainable, name=name, **kwargs)
        self._state_manager = LayerVariablesV2(self, self.trainable)

    def build(self, _):
        """Makes the variables of the columns."""
        for column in self._feature_columns:
            with name_scope(column.name):
                column.create_state(self._state_manager)
        Layer.build(self, None)


# Saved and printed as TensorFlow does.
DenseFeaturesV2.__name__ = DenseFeaturesV2.__qualname__ = "DenseFeatures"
