"""What images networks are made for."""

from __future__ import annotations


def for_images_of(size):
    """Decorates a network for square images of a size, which it says in `default_image_size`."""

    def mark(network):
        network.default_image_size = size
        return network

    return mark
