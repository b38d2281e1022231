"""Calls of programs of 2018 on the libraries of today; what they are held to is what the libraries of 2018 gave.

These were pandas 0.25.3, matplotlib 2.2.5, scipy 1.1.0, scikit-learn 0.20.4, networkx 2.3, scikit-image 0.15.0.
"""

import io

import matplotlib

matplotlib.use("Agg", warn=False)
import matplotlib.mlab
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import PIL.Image
import scipy
import scipy.signal
import scipy.sparse
import skimage.measure
import sklearn
from scipy import integrate
from sklearn.cross_validation import train_test_split
from sklearn.preprocessing import OneHotEncoder

# pandas
table = pd.DataFrame({"a": [1.0, 2, 3], "b": [4.0, 5, 6]}, index=["x", "y", "z"])
numbered = pd.DataFrame({"a": [1.0, 2, 3], "b": [4.0, 5, 6]})
assert table.as_matrix(["b"]).tolist() == table.get_values()[:, 1:].tolist() == [[4], [5], [6]]
assert (table.ix[1, "a"], table.ix["y", "b"], table.ix[0:2, "a"].tolist()) == (2, 5, [1, 2])
assert (table.ix[:, 1].tolist(), table.ix[[0, 2]].values.tolist()) == ([4, 5, 6], [[1, 4], [3, 6]])
numbered.ix[1, "a"] = 9
assert (numbered.ix[0:1].values.tolist(), numbered.ix[2, "b"]) == ([[1, 4], [9, 5]], 6)
assert table.append({"a": 7, "b": 8}, ignore_index=True).values.tolist()[-1] == [7, 8]
assert table.append([table, table]).shape == (9, 2)
rows = pd.DataFrame(columns=["k", "v"]).append({"k": "a", "v": 1}, ignore_index=True)
assert rows.values.tolist() == [["a", 1]]
try:
    table.append(pd.Series([1, 2], index=["a", "b"]))
except TypeError as error:
    assert "ignore_index=True" in str(error)
else:
    raise AssertionError("a row without a name was appended")
assert list(table["a"].iteritems()) == [("x", 1), ("y", 2), ("z", 3)]
assert table.drop("a", 1).values.tolist() == [[4], [5], [6]]
assert pd.concat([table, table], 1).shape == (3, 4)
assert pd.read_csv(io.StringIO("a;b\n1;2\n"), ";").values.tolist() == [[1, 2]]
bad = io.StringIO("a,b\n1,2\n1,2,3\n")
assert pd.read_csv(bad, error_bad_lines=False, warn_bad_lines=False).values.tolist() == [[1, 2]]
dummies = pd.get_dummies(pd.Series(["a", "b", "a"]))
assert (dummies.values.dtype, dummies.values.tolist()) == (np.uint8, [[1, 0], [0, 1], [1, 0]])
texts = pd.Series(["a1", "b2"])
assert (texts.str.replace("[0-9]", "").tolist(), texts.values.dtype) == (["a", "b"], object)
numbered.values[0, 0] = 7
assert (numbered.ix[0, "a"], table["a"].nonzero()[0].tolist()) == (7, [0, 1, 2])

# matplotlib
heights = plt.hist([1, 2, 2, 3], 3, normed=1)[0]
np.testing.assert_allclose(heights, [0.375, 0.75, 0.375])
axes = plt.figure().gca(projection="3d")
assert axes.name == "3d" and plt.gcf().gca(projection="3d") is axes and plt.gca() is axes
plt.style.use("seaborn-whitegrid")
plt.figure().canvas.set_window_title("words")
plt.plot([1, 2])
plt.hold(True)
plt.grid(b=True)
assert plt.cm.get_cmap("jet", 5).N == 5
np.testing.assert_allclose(matplotlib.mlab.normpdf(np.array([0.0, 1.0]), 0, 1), [0.398942, 0.241971], 1e-5)

# scipy and scikit-image
assert (scipy.mean([1, 2]), scipy.arange(3).tolist(), scipy.randn(2).shape) == (1.5, [0, 1, 2], (2,))
assert scipy.linalg.__name__ == "scipy.linalg"
assert (integrate.trapz([1, 2, 3], [0, 1, 2]), integrate.simps([1, 2, 3])) == (4, 4)
assert integrate.cumtrapz([1, 2, 3]).tolist() == [1.5, 4]
assert scipy.signal.gaussian(3, 1).round(4).tolist() == [0.6065, 1, 0.6065]
image = np.random.RandomState(0).rand(16, 16, 3)
likeness = skimage.measure.compare_ssim(image, image * 0.9, multichannel=True, data_range=1)
np.testing.assert_allclose(likeness, 0.989013, 1e-5)
np.testing.assert_allclose(skimage.measure.compare_psnr(image, image * 0.9, data_range=1), 24.824145, 1e-5)

# scikit-learn
assert train_test_split([1, 2, 3, 4], test_size=0.5, random_state=0) == [[2, 1], [3, 4]]
assert OneHotEncoder(sparse=False).fit_transform([[0], [1]]).tolist() == [[1, 0], [0, 1]]
assert sklearn.metrics.accuracy_score([1], [1]) == 1

# networkx
graph = nx.Graph([(0, 1)])
graph.add_node(2, val=True)
matrix = nx.to_numpy_matrix(graph)
assert graph.node[2]["val"] is True and isinstance(matrix, np.matrix)
assert matrix.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]] == nx.to_scipy_sparse_matrix(graph).todense().tolist()
assert nx.from_scipy_sparse_matrix(scipy.sparse.csr_matrix(matrix)).number_of_edges() == 1
assert sorted(map(len, nx.connected_component_subgraphs(graph))) == [1, 2]

# Pillow
drawing = PIL.ImageDraw.Draw(PIL.Image.new("RGB", (9, 9)))
assert drawing.textsize("ab")[0] > PIL.ImageFont.load_default().getsize("a")[0]
