"""DeepXDE's example "Burgers.py", with fewer points, and by Adam alone, so that it takes a minute."""

import os

import numpy as np

os.environ["DDE_BACKEND"] = "tensorflow.compat.v1"
import deepxde as dde
from deepxde.backend import tf

np.random.seed(0)
tf.set_random_seed(0)


def pde(x, y):
    dy_x = dde.grad.jacobian(y, x, i=0, j=0)
    dy_t = dde.grad.jacobian(y, x, i=0, j=1)
    dy_xx = dde.grad.hessian(y, x, i=0, j=0)
    return dy_t + y * dy_x - 0.01 / np.pi * dy_xx


space = dde.geometry.Interval(-1, 1)
domain = dde.geometry.GeometryXTime(space, dde.geometry.TimeDomain(0, 0.99))
border = dde.icbc.DirichletBC(domain, lambda x: 0, lambda _, on_boundary: on_boundary)
start = dde.icbc.IC(domain, lambda x: -np.sin(np.pi * x[:, 0:1]), lambda _, on_initial: on_initial)
data = dde.data.TimePDE(domain, pde, [border, start], num_domain=1000, num_boundary=80, num_initial=160)
net = dde.nn.FNN([2] + [20] * 3 + [1], "tanh", "Glorot normal")
model = dde.Model(data, net)
model.compile("adam", lr=1e-3)
model.train(iterations=10000, display_every=1000)

x = np.linspace(-1, 1, 101)
at_start = model.predict(np.stack([x, np.zeros(101)], 1))[:, 0]
error = np.abs(at_start + np.sin(np.pi * x)).max()
residual = np.abs(model.predict(np.stack([x, np.full(101, 0.3)], 1), operator=pde)).mean()
print(f"error at the start {error:.4f}, mean residual {residual:.4f}")
assert error < 0.2
assert residual < 0.2
