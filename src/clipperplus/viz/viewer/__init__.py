"""The live viewers: ``server`` of a registration, ``panel`` its controls, ``scene`` what it draws; ``map_viewer``."""

from .map_viewer import MapViewer
from .server import Viewer

__all__ = ["MapViewer", "Viewer"]
