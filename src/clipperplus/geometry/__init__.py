"""Rigid motions as 4 × 4 matrices: their algebra, their files, and the fit to matched points."""

from .motions import fit_transform
from .transforms import apply_transform, rotation_error, translation_error

__all__ = ["apply_transform", "fit_transform", "rotation_error", "translation_error"]
