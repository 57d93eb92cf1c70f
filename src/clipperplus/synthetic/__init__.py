"""Simulated data with known truth: deterministic by seed, no download."""

from .graphs import RegistrationGraph, registration_graph
from .robots import TwoRobots, two_robots
from .surfaces import rabbit_surface

__all__ = ["RegistrationGraph", "TwoRobots", "rabbit_surface", "registration_graph", "two_robots"]
