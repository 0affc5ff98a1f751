"""Old names of libraries for pictures: Pillow and Matplotlib."""

from typing import Any

from estimator_train.legacy.removed.add import add_missing

_OLD_STYLES = "seaborn-v0_8"


def add_to_fonts() -> None:
    """Adds `getsize` to fonts, removed in Pillow 10."""
    from PIL import ImageFont

    def getsize(self: Any, text: Any, *arguments: Any, **named: Any) -> tuple[int, int]:
        _, _, right, bottom = self.getbbox(text, *arguments, **named)
        return int(right), int(bottom)

    for cls in (ImageFont.FreeTypeFont, ImageFont.ImageFont):
        add_missing(cls, {"getsize": getsize})


def add_to_draw() -> None:
    """Adds `textsize` to drawings, removed in Pillow 10."""
    from PIL import ImageDraw

    def textsize(self: Any, text: Any, font: Any = None, *more: Any, **named: Any) -> Any:
        _, _, right, bottom = self.textbbox((0, 0), text, font, None, *more, **named)
        return int(right), int(bottom)

    add_missing(ImageDraw.ImageDraw, {"textsize": textsize})


def add_to_matplotlib() -> None:
    """Adds the old names of the seaborn styles, `hist(normed=)` and `pyplot.cm.get_cmap`."""
    import matplotlib.axes
    import matplotlib.cm
    import matplotlib.style

    axes: Any = matplotlib.axes.Axes
    color_maps: Any = matplotlib.cm
    library: dict[str, Any] = matplotlib.style.library
    for name in [name for name in library if name.startswith(_OLD_STYLES)]:
        library.setdefault(name.replace(_OLD_STYLES, "seaborn"), library[name])
    hist = axes.hist

    def draw_with_normed(self: Any, *arguments: Any, normed: Any = None, **named: Any) -> Any:
        if normed is not None:
            named["density"] = normed
        return hist(self, *arguments, **named)

    axes.hist = draw_with_normed
    if not hasattr(color_maps, "get_cmap"):
        color_maps.get_cmap = _get_cmap


def _get_cmap(*arguments: Any, **named: Any) -> Any:
    import matplotlib.pyplot

    return matplotlib.pyplot.get_cmap(*arguments, **named)
