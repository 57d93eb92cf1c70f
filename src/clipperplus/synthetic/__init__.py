"""Simulated data with known truth: deterministic by seed, no download."""

from .building import BuildingScans, building_scans
from .graphs import RegistrationGraph, registration_graph
from .lasers import LaserPair, laser_scans, scan_features
from .robots import TwoRobots, two_robots
from .rooms import room_scans
from .scans import ScanPair
from .streets import street_scans
from .surfaces import rabbit_surface

__all__ = [
    "BuildingScans",
    "LaserPair",
    "RegistrationGraph",
    "ScanPair",
    "TwoRobots",
    "building_scans",
    "laser_scans",
    "rabbit_surface",
    "registration_graph",
    "room_scans",
    "scan_features",
    "street_scans",
    "two_robots",
]
