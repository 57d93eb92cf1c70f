"""Two scans of a room from different places: find the motion between them, and ask how far to trust it."""

import numpy as np

import clipperplus as cp
from clipperplus.synthetic import room_scans

scans = room_scans(seed=1)  # or cp.read_cloud("source.ply"), cp.read_cloud("target.ply")
pose = cp.register(scans.source, scans.target)

print(f"{pose.status.name}, confidence {pose.confidence:.2f}, in {pose.seconds:.2f} s")
print(f"{len(pose.associations)} matches, {pose.clique.size} agree (proven: {pose.clique.optimal})")
print(f"overlap {pose.overlap:.0%}; {pose.evidence.conflict:.1%} of the points where the other sensor saw through")
print(f"best alternative: score {pose.evidence.runner_up:.2f} of this one's")

assert pose.T_target_source is not None  # it is where at least three matches agree
turn = cp.rotation_error(pose.T_target_source, scans.T_target_source)
shift = cp.translation_error(pose.T_target_source, scans.T_target_source)
print(f"off by {turn:.2f} degrees and {100 * shift:.1f} cm from the truth")

# Several scans against one map: prepare each once. Generalized ICP on the raw points makes the answer more precise.
target = cp.prepare(scans.target, voxel_size=0.1)
again = cp.register(cp.prepare(scans.source, voxel_size=0.1), target)
assert again.T_target_source is not None
refined = cp.refine_transform(scans.source, scans.target, again.T_target_source, voxel_size=0.05)
print(f"refined: off by {100 * cp.translation_error(refined, scans.T_target_source):.1f} cm")

# A wall alone says nothing about shifts along it, and the answer says so instead of making one up.
random = np.random.default_rng(0)
walls = [np.column_stack((random.uniform(-2.0, 2.0, (4000, 2)), np.full(4000, 3.0))) for _ in range(2)]
wall = cp.register(*walls)
print(f"two scans of a wall: {wall.status.name}, {len(wall.degenerate_directions)} directions are not determined")
