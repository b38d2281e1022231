"""matplotlib 2: `hold`, axes by projection, `normed`, names of styles and color maps, titles of windows."""

from __future__ import annotations

import functools

import numpy as np


def restore(matplotlib):
    """matplotlib.use("Agg", warn=False)."""
    use = matplotlib.use

    @functools.wraps(use)
    def use_without_warning(arg, warn=False, **kwargs):
        use(arg, **kwargs)

    matplotlib.use = use_without_warning


def restore_axes(axes):
    """hist(normed=), grid(b=) and hold() of axes."""
    kind = axes.Axes
    kind.hist = _renamed(kind.hist, "normed", "density")
    kind.grid = _renamed(kind.grid, "b", "visible")
    if not hasattr(kind, "hold"):
        kind.hold = lambda self, b=None: None


def _renamed(method, old, name):
    """A method that takes an argument by its old name, too."""

    @functools.wraps(method)
    def with_old_name(*args, **kwargs):
        if old in kwargs:
            kwargs[name] = bool(kwargs.pop(old))
        return method(*args, **kwargs)

    return with_old_name


def restore_window_title(backend_bases):
    """FigureCanvas.set_window_title, which is of the window's manager."""

    def set_window_title(self, title):
        if self.manager is not None:
            self.manager.set_window_title(title)

    if not hasattr(backend_bases.FigureCanvasBase, "set_window_title"):
        backend_bases.FigureCanvasBase.set_window_title = set_window_title


def restore_colormaps(cm):
    """matplotlib.cm.get_cmap, and the color map spectral."""
    import matplotlib

    def get_cmap(name=None, lut=None):
        if isinstance(name, matplotlib.colors.Colormap):
            return name
        found = matplotlib.colormaps[name or matplotlib.rcParams["image.cmap"]]
        return found if lut is None else found.resampled(lut)

    if not hasattr(cm, "get_cmap"):
        cm.get_cmap = get_cmap
    if not hasattr(cm, "spectral"):
        cm.spectral = cm.nipy_spectral


def restore_figure(figure):
    """Figure.gca(projection="3d"): the current axes if they are of that kind, else new ones."""
    gca = figure.Figure.gca

    @functools.wraps(gca)
    def gca_of_projection(self, projection=None, **kwargs):
        if projection is None and not kwargs:
            return gca(self)
        if self.axes and gca(self).name == projection:
            return gca(self)
        return self.add_subplot(projection=projection, **kwargs)

    figure.Figure.gca = gca_of_projection


def restore_mlab(mlab):
    """matplotlib.mlab.normpdf."""

    def normpdf(x, *args):
        """The normal distribution's density at x, for a mean and a standard deviation."""
        mu, sigma = args
        return np.exp(-0.5 * ((np.asarray(x) - mu) / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)

    if not hasattr(mlab, "normpdf"):
        mlab.normpdf = normpdf


def restore_pyplot(pyplot):
    """pyplot.hold, gca(projection=) and grid(b=)."""
    if not hasattr(pyplot, "hold"):
        pyplot.hold = lambda b=None: None
    pyplot.gca = lambda **kwargs: pyplot.gcf().gca(**kwargs)
    pyplot.grid = _renamed(pyplot.grid, "b", "visible")
    if not hasattr(pyplot.cm, "get_cmap"):
        restore_colormaps(pyplot.cm)


def restore_styles(style):
    """The styles of seaborn by their names without a version."""
    for name in list(style.library):
        if name.startswith("seaborn-v0_8"):
            style.library.setdefault(name.replace("-v0_8", ""), style.library[name])
