"""DeepCTR's DeepFM, trained as its page "Quick-Start" does, on made-up clicks."""

import numpy as np
import pandas as pd
from deepctr.feature_column import DenseFeat, SparseFeat, get_feature_names
from deepctr.models import DeepFM

random = np.random.RandomState(0)
data = pd.DataFrame({f"C{i}": random.randint(0, 20, 2000) for i in range(1, 5)})
for i in range(1, 4):
    data[f"I{i}"] = random.uniform(size=2000).astype("float32")
data["label"] = ((data["C1"] % 3 == 0) ^ (data["I1"] > 0.5)).astype("int64")

columns = [SparseFeat(f"C{i}", vocabulary_size=20, embedding_dim=4) for i in range(1, 5)]
columns += [DenseFeat(f"I{i}", 1) for i in range(1, 4)]
names = get_feature_names(columns + columns)
train, test = data[:1600], data[1600:]

model = DeepFM(columns, columns, task="binary")
model.compile("adam", "binary_crossentropy", metrics=["binary_crossentropy"])
inputs = {name: train[name].values for name in names}
model.fit(inputs, train["label"].values, batch_size=64, epochs=10, verbose=2, validation_split=0.2)
predicted = model.predict({name: test[name].values for name in names}, batch_size=256)

accuracy = ((predicted[:, 0] > 0.5) == test["label"].values).mean()
print(f"accuracy {accuracy:.3f}")
assert accuracy > 0.9
