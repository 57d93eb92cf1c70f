"""Matched points, 90 % of them wrong: the transform, how precise it is, and what else it could be."""

import numpy as np

import clipperplus as cp

random = np.random.default_rng(0)
angle = 0.7
truth = np.eye(4)
truth[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
truth[:3, 3] = [3.0, -1.0, 0.2]

source = random.uniform(0.0, 20.0, (1000, 3))  # metres; point k of the source is matched with point k of the target
target = random.uniform(0.0, 20.0, (1000, 3))
right = random.permutation(1000)[:100]
target[right] = cp.apply_transform(truth, source[right]) + random.normal(0.0, 0.01, (100, 3))

pose = cp.solve(source, target, epsilon=0.06)
assert pose.T_target_source is not None
assert pose.covariance is not None
print(f"{pose.num_inliers} of 1000 matches agree, in {pose.seconds * 1e3:.0f} ms; proven: {pose.clique.optimal}")
print(f"{np.isin(pose.inliers, right).sum()} of them are right, of {len(right)} that are")
turn, shift = (error(pose.T_target_source, truth) for error in (cp.rotation_error, cp.translation_error))
print(f"off by {turn:.3f} degrees and {1e3 * shift:.1f} mm")

# The covariance is that of a small motion in the frame of the target: rotation vector, then translation.
deviations = np.sqrt(np.diag(pose.covariance))
print(f"standard deviations: {np.degrees(deviations[:3]).round(3)} degrees, {(1e3 * deviations[3:]).round(1)} mm")

# Evenly spaced pillars: a shift by one of them explains nearly as many matches, so the answer is ambiguous.
pillars = np.column_stack((np.repeat(4.0 * np.arange(15), 4), random.uniform(0.0, 3.0, (60, 2))))
pillars[:, 1:] = np.tile(pillars[:4, 1:], (15, 1))
matches = [(k, k) for k in range(60)] + [(k, k + 4) for k in range(56)]
pose = cp.solve(pillars, pillars, matches, epsilon=0.05)
print(f"pillars: {pose.status.name}; {pose.num_inliers} matches agree")
for other in pose.alternatives:
    print(f"  a shift by {other.T_target_source[:3, 3].round(2)} m: {other.support} matches, score {other.score:.2f}")
