"""Two robots and 60 loop closures, 70 % of them wrong: which to believe, with a picture of before and after.

The picture, loop_closures.png, needs matplotlib (pip install "clipperplus[viz]").
"""

import importlib.util

import numpy as np

import clipperplus as cp
from clipperplus.synthetic import two_robots

world = two_robots(loops=60, outlier_ratio=0.7, seed=0)
closures = cp.LoopClosures(world.trajectory_a, world.trajectory_b)
for number, ((a, b), measurement) in enumerate(zip(world.loops, world.measurements, strict=True), start=1):
    believed = closures.add(a, b, measurement)
    if number % 20 == 0:
        print(f"after {number} loop closures: {believed.size} agree with each other")

whole = cp.consistent_loop_closures(world.trajectory_a, world.trajectory_b, world.loops, world.measurements)
print(f"all at once: {whole.inliers.size}, the same: {np.array_equal(whole.inliers, believed)}")
print(f"right: {np.isin(believed, world.inliers).sum()} of {world.inliers.size}")


# Where the second robot's map lies in that of the first, by the first loop closure that is believed.
a, b = world.loops[believed[0]]
merged = world.trajectory_a[a] @ world.measurements[believed[0]] @ np.linalg.inv(world.trajectory_b[b])
merged = merged @ world.trajectory_b

if importlib.util.find_spec("matplotlib"):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    panels = figure.subplots(1, 2)
    for panel, title, chosen in (
        (panels[0], "every loop closure", np.arange(60)),
        (panels[1], "those that agree", believed),
    ):
        panel.plot(*world.trajectory_a[:, :2, 3].T, color="#0072B2", label="robot a")
        panel.plot(*merged[:, :2, 3].T, color="#009E73", label="robot b")
        for loop in chosen:
            a, b = world.loops[loop]
            seen = world.trajectory_a[a] @ world.measurements[loop]
            color = "#56B4E9" if loop in world.inliers else "#D55E00"
            panel.plot(*np.array([world.trajectory_a[a, :2, 3], seen[:2, 3]]).T, color=color, linewidth=0.8)
        panel.set(title=title, xlabel="m", aspect="equal", xlim=(-16, 16), ylim=(-8, 22))
        panel.legend(loc="lower left", fontsize=8)
    figure.savefig("loop_closures.png", dpi=150)
    print("loop_closures.png: before and after")
