"""scikit-image 0.15: the measures of likeness in skimage.measure."""

from __future__ import annotations

_METRICS = {
    "compare_ssim": "structural_similarity",
    "compare_psnr": "peak_signal_noise_ratio",
    "compare_mse": "mean_squared_error",
    "compare_nrmse": "normalized_root_mse",
}


def restore_measure(measure):
    """skimage.measure.compare_ssim and its kin, which are in skimage.metrics."""
    for old, name in _METRICS.items():
        if not hasattr(measure, old):
            setattr(measure, old, _metric(name))


def _metric(name):
    def compare(im1, im2, *args, multichannel=None, **kwargs):
        from skimage import metrics

        if multichannel is not None:
            kwargs["channel_axis"] = -1 if multichannel else None
        for old, new in (("im_true", "image_true"), ("im_test", "image_test"), ("dynamic_range", "data_range")):
            if old in kwargs:
                kwargs[new] = kwargs.pop(old)
        return getattr(metrics, name)(im1, im2, *args, **kwargs)

    return compare
