"""VGG16 and VGG19: convolutions of three pixels, one upon the other."""

from __future__ import annotations

from stillflow.keras.applications.frame import Frame, kernel_files
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.dense import Dense
from stillflow.layers.core.flatten import Flatten
from stillflow.layers.core.pooling import MaxPooling2D
from stillflow.names import public

_ORIGIN = "https://github.com/fchollet/deep-learning-models/releases/download/v0.1/"


def _vgg(frame, counts, name, files):
    """The network with that many convolutions in each block."""
    x = frame.input
    for block, (count, filters) in enumerate(zip(counts, (64, 128, 256, 512, 512), strict=True), 1):
        for i in range(1, count + 1):
            x = Conv2D(filters, (3, 3), activation="relu", padding="same", name=f"block{block}_conv{i}")(x)
        x = MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if frame.include_top:
        x = Flatten(name="flatten")(x)
        for i in (1, 2):
            x = Dense(4096, activation="relu", name=f"fc{i}")(x)
        x = Dense(frame.classes, activation="softmax", name="predictions")(x)
    else:
        x = frame.pooled(x)
    return frame.model(x, name, _ORIGIN, files)


@public("keras.applications.VGG16", "keras.applications.vgg16.VGG16")
def VGG16(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The network of 16 layers of Simonyan and Zisserman, 2014: arXiv:1409.1556.

    Args:
      include_top: whether there are the layers that tell classes.
      weights: None for random ones, "imagenet" for those of a file that is copied from elsewhere, or a file.
      input_tensor: a tensor to see, or None for a new input.
      input_shape: the shape of pictures.
      pooling: "avg" or "max" for one number of each channel, where there is no top; None for none.
      classes: how many classes there are.

    Raises:
      ValueError: for weights that are neither, and shapes or numbers of classes that do not fit them.
    """
    frame = Frame(include_top, weights, input_tensor, input_shape, pooling, classes, 224, 32)
    files = kernel_files("vgg16", "64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc")
    return _vgg(frame, (2, 2, 3, 3, 3), "vgg16", files)


@public("keras.applications.VGG19", "keras.applications.vgg19.VGG19")
def VGG19(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The network of 19 layers of Simonyan and Zisserman, 2014: arXiv:1409.1556.

    Arguments are those of `VGG16`.
    """
    frame = Frame(include_top, weights, input_tensor, input_shape, pooling, classes, 224, 32)
    files = kernel_files("vgg19", "cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6")
    return _vgg(frame, (2, 2, 4, 4, 4), "vgg19", files)
