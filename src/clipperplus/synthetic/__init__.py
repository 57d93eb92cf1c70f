"""Simulated data with known truth: deterministic by seed, no download."""

from .graphs import RegistrationGraph, registration_graph
from .robots import TwoRobots, two_robots
from .rooms import room_scans
from .scans import ScanPair
from .streets import street_scans
from .surfaces import rabbit_surface

__all__ = [
    "RegistrationGraph",
    "ScanPair",
    "TwoRobots",
    "rabbit_surface",
    "registration_graph",
    "room_scans",
    "street_scans",
    "two_robots",
]
