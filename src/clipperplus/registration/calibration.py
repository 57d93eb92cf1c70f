"""Weights of the confidence, fitted to the answers for a sample of real and simulated scans, half of different places.

``python benchmarks/confidence.py`` writes this file anew from what ``benchmarks/registration.py`` measured.
"""

OF_SCANS = (-4.962, 0.925, 0.323, -3.059, -4.276, 0.765, -1.406, -0.88)
"""Clouds whose sensors saw free space: the constant, then the weights of ``clouds_terms``."""
OF_CLOUDS = (-6.873, 0.479, 0.172, -3.369, -2.381, 0.541, -2.832)
"""Clouds where that was not looked at."""
OF_MATCHES = (-8.377, 4.819, -0.985, -7.665)
"""Matched points: the constant, then the weights of ``matches_terms``."""
