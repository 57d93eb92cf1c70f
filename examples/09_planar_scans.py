"""Two scans of a hall by a laser that turns in a plane: which posts and corners are the same, and how it moved.

Tim Bailey and others began with this ("Data association for mobile robot navigation: a graph theoretic approach",
ICRA 2000): features of one scan and of another, all matched with all; those that agree are a maximum clique.
"""

import numpy as np

import clipperplus as cp
from clipperplus.synthetic import laser_scans, scan_features

scans = laser_scans(seed=0)  # a few thousand ranges each, from two places, with the scanner turned
source, target = scan_features(scans.source), scan_features(scans.target)
matches = np.array([(i, j) for i in range(len(source)) for j in range(len(target))])
print(f"{len(source)} and {len(target)} posts and corners: {len(matches)} possible matches")

# Points of a plane, and a motion in it: a turn and a shift. Two matches agree if they keep their distance.
pose = cp.solve(source, target, matches, epsilon=0.08, motion="planar")
assert pose.transform_2d is not None
print(f"{pose.num_inliers} agree, the most that do: {pose.clique.optimal}; {pose.status.name}, {pose.confidence:.3f}")

error = np.linalg.inv(scans.T_target_source) @ pose.transform_2d
turn, shift = np.degrees(np.arctan2(error[1, 0], error[0, 0])), np.linalg.norm(error[:2, 2])
print(f"off by {abs(turn):.3f} degrees and {1e3 * shift:.0f} mm, in {1e3 * pose.seconds:.0f} ms")

# Rotation about z and shifts along x and y have a variance; what is no motion of the plane has none.
assert pose.covariance is not None
assert pose.T_target_source is not None
deviations = np.sqrt(np.diag(pose.covariance))[[2, 3, 4]]
print(f"standard deviations: {np.degrees(deviations[0]):.3f} degrees, {(1e3 * deviations[1:]).round(1)} mm")

moved = cp.apply_transform(pose.T_target_source, scans.source)
gaps = np.linalg.norm(moved[:, None] - scans.target[::4], axis=2).min(axis=1)
print(f"{np.mean(gaps < 0.1):.0%} of one scan then lies on the other")

# Of two different halls, no large set agrees, and what does is said to be chance.
elsewhere = scan_features(laser_scans(seed=1).target)
every = np.array([(i, j) for i in range(len(source)) for j in range(len(elsewhere))])
wrong = cp.solve(source, elsewhere, every, epsilon=0.08, motion="planar")
print(f"another hall: {wrong.clique.size} agree; {wrong.status.name}: {wrong.reasons[0].text}")
