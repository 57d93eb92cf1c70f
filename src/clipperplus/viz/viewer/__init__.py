"""The live viewer: ``server`` holds it together, ``panel`` are its controls, ``scene`` is what it draws."""

from .server import Viewer

__all__ = ["Viewer"]
