"""Pillow 6: the filters' old names, and sizes of texts."""

from __future__ import annotations


def restore_filters(image):
    """PIL.Image.ANTIALIAS and its kin."""
    for old, name in (("ANTIALIAS", "LANCZOS"), ("CUBIC", "BICUBIC"), ("LINEAR", "BILINEAR")):
        if not hasattr(image, old):
            setattr(image, old, getattr(image.Resampling, name))


def restore_text_size_of_fonts(fonts):
    """ImageFont's getsize: how far to the right and down a text reaches, in pixels."""

    def getsize(self, text, *args, **kwargs):
        _, _, right, bottom = self.getbbox(text, *args, **kwargs)
        return right, bottom

    for font in (fonts.ImageFont, fonts.FreeTypeFont, fonts.TransposedFont):
        if not hasattr(font, "getsize"):
            font.getsize = getsize


def restore_text_size_of_images(drawing):
    """ImageDraw.textsize: how far to the right and down a text, of one line or more, reaches, in pixels."""

    def textsize(self, text, font=None, spacing=4, **kwargs):
        _, _, right, bottom = self.multiline_textbbox((0, 0), text, font, spacing=spacing, **kwargs)
        return right, bottom

    if not hasattr(drawing.ImageDraw, "textsize"):
        drawing.ImageDraw.textsize = textsize
