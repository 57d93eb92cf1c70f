"""Points and pixels, 90 % of the matches wrong: where the camera is, how precisely, and when not to believe it."""

import numpy as np

import clipperplus as cp

random = np.random.default_rng(0)
intrinsics = (600.0, 600.0, 320.0, 240.0)  # fx, fy, cx, cy of a camera of 640 × 480 pixels
angle = 0.5
truth = np.eye(4)  # from the world to the camera, which looks along z
truth[:3, :3] = [[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]]
truth[:3, 3] = [0.5, -0.3, 7.0]

points = random.uniform(-2.5, 2.5, (500, 3))
seen = cp.apply_transform(truth, points)
pixels = 600.0 * seen[:, :2] / seen[:, 2:] + [320.0, 240.0] + random.normal(0.0, 1.0, (500, 2))
wrong = random.permutation(500)[:450]
pixels[wrong] = random.uniform((0.0, 0.0), (640.0, 480.0), (450, 2))

pose = cp.solve_camera(points, pixels, intrinsics, epsilon=4.0)
assert pose.T_camera_world is not None
assert pose.covariance is not None
print(f"{pose.status.name}, confidence {pose.confidence:.3f}: {pose.num_inliers} of 500 matches agree")
print(f"off by {cp.rotation_error(pose.T_camera_world, truth):.3f} degrees; {pose.inlier_rmse:.1f} px are left")
deviations = np.sqrt(np.diag(pose.covariance))
print(f"standard deviations: {np.degrees(deviations[:3]).round(3)} degrees, {(1e3 * deviations[3:]).round(1)} mm")
for stage in pose.stages:
    print(f"  {stage.name}: {stage.count} in {1e3 * stage.seconds:.1f} ms")

# A poster on a wall, far away: tilted one way or the other, it looks the same.
poster = np.column_stack((random.uniform(-1.0, 1.0, (60, 2)), np.zeros(60)))
far = truth.copy()
far[:3, 3] = [0.0, 0.0, 40.0]
seen = cp.apply_transform(far, poster)
pixels = 600.0 * seen[:, :2] / seen[:, 2:] + [320.0, 240.0] + random.normal(0.0, 0.5, (60, 2))
pose = cp.solve_camera(poster, pixels, intrinsics, epsilon=2.0)
print(f"poster: {pose.status.name}; {pose.reasons[0].text if pose.reasons else 'no doubt'}")
for other in pose.alternatives:
    print(f"  another pose, off by {cp.rotation_error(other.T_camera_world, far):.0f} degrees: score {other.score:.2f}")
