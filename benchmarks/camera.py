"""The pose of a camera from matches of points and pixels, most of them wrong, beside the RANSAC of others.

A camera of 640 × 480 pixels sees 500 points 2 to 10 m away, with a pixel of noise along each axis; some of the matches
have a pixel that is anywhere. A pose is right if it is within 1° and the camera within 10 cm of the truth. Then what
the confidence is worth with fewer and fewer right matches, down to none, and similarities by groups of three.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from common import argument_parser, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.invariants import DistanceRatios

Array = npt.NDArray[np.float64]
Solver = Callable[[Array, Array], Array | None]

FOCAL, SIZE = 600.0, (640.0, 480.0)
INTRINSICS = np.array([[FOCAL, 0.0, SIZE[0] / 2], [0.0, FOCAL, SIZE[1] / 2], [0.0, 0.0, 1.0]])
MATCHES, NOISE, EPSILON = 500, 1.0, 4.0
OUTLIERS = (0.0, 0.5, 0.8, 0.9, 0.95)
MOST_ITERATIONS, CERTAINTY = 100_000, 0.9999
"""Of the others: as many triples as ours may draw."""
FEW_RIGHT = (0, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30)


@dataclass(frozen=True)
class Case:
    """Matches, and the pose that they come from."""

    points: Array
    pixels: Array
    truth: Array

    def errors(self, pose: Array | None) -> tuple[float, float]:
        """Return degrees and metres, infinite without a pose."""
        if pose is None:
            return np.inf, np.inf
        centres = [-other[:3, :3].T @ other[:3, 3] for other in (pose, self.truth)]
        return cp.rotation_error(pose, self.truth), float(np.linalg.norm(centres[0] - centres[1]))

    def is_right(self, pose: Array | None) -> bool:
        """Whether it is as good as the noise allows, and some."""
        turn, shift = self.errors(pose)
        return turn < 1.0 and shift < 0.1


def random_turn(random: np.random.Generator) -> Array:
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return np.asarray(turn * np.sign(np.linalg.det(turn)))


def simulate(seed: int, right: int, count: int = MATCHES) -> Case:
    """Return so many matches, of which some are right."""
    random = np.random.default_rng(seed)
    pixels, depths = random.uniform((0.0, 0.0), SIZE, (count, 2)), random.uniform(2.0, 10.0, count)
    truth = np.eye(4)
    truth[:3, :3], truth[:3, 3] = random_turn(random), random.uniform(-5.0, 5.0, 3)
    rays = np.column_stack((pixels, np.ones(count))) @ np.linalg.inv(INTRINSICS).T
    points = (rays * depths[:, None] - truth[:3, 3]) @ truth[:3, :3]
    pixels += random.normal(0.0, NOISE, (count, 2))
    wrong = random.permutation(count)[right:]
    pixels[wrong] = random.uniform((0.0, 0.0), SIZE, (len(wrong), 2))
    return Case(points, pixels, truth)


def by_clipperplus(points: Array, pixels: Array) -> Array | None:
    return cp.solve_camera(points, pixels, INTRINSICS, epsilon=EPSILON).T_camera_world


def by_poselib(points: Array, pixels: Array) -> Array | None:
    import poselib

    focal = [FOCAL, FOCAL, SIZE[0] / 2, SIZE[1] / 2]
    camera = {"model": "PINHOLE", "width": int(SIZE[0]), "height": int(SIZE[1]), "params": focal}
    settings = {"max_reproj_error": EPSILON, "max_iterations": MOST_ITERATIONS, "success_prob": CERTAINTY}
    found, _ = poselib.estimate_absolute_pose(pixels, points, camera, settings, {})
    pose = np.eye(4)
    pose[:3] = np.column_stack((found.R, found.t))
    return pose if np.isfinite(pose).all() else None


def by_opencv(name: str) -> Solver:
    """Return OpenCV's RANSAC with a minimal solver, or one of its newer ones."""

    def solve(points: Array, pixels: Array) -> Array | None:
        import cv2

        cv2.setNumThreads(1)
        if name.startswith("USAC"):
            settings = cv2.UsacParams()
            settings.threshold, settings.maxIterations, settings.confidence = EPSILON, MOST_ITERATIONS, CERTAINTY
            settings.score = cv2.SCORE_METHOD_MAGSAC if name == "USAC_MAGSAC" else cv2.SCORE_METHOD_MSAC
            settings.sampler, settings.loMethod = cv2.SAMPLING_UNIFORM, cv2.LOCAL_OPTIM_INNER_LO
            settings.loIterations, settings.loSampleSize = 10, 14
            found, _, turn, shift, _ = cv2.solvePnPRansac(points, pixels, INTRINSICS, None, params=settings)
        else:
            found, turn, shift, _ = cv2.solvePnPRansac(
                points,
                pixels,
                INTRINSICS,
                None,
                iterationsCount=MOST_ITERATIONS,
                reprojectionError=EPSILON,
                confidence=CERTAINTY,
                flags=getattr(cv2, f"SOLVEPNP_{name}"),
            )
        if not found:
            return None
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = cv2.Rodrigues(turn)[0], shift.ravel()
        return pose if np.isfinite(pose).all() else None

    return solve


SOLVERS: dict[str, Solver] = {
    "**clipperplus**": by_clipperplus,
    "PoseLib, LO-RANSAC": by_poselib,
    "OpenCV, P3P in RANSAC": by_opencv("P3P"),
    "OpenCV, USAC with MAGSAC": by_opencv("USAC_MAGSAC"),
}
SLOW = "OpenCV, P3P in RANSAC"
"""Gets every fifth case only: it takes seconds."""


def versions() -> str:
    import cv2
    import poselib

    return f"PoseLib {poselib.__version__}, OpenCV {cv2.__version__}"


def compare(cases: int) -> list[tuple[str, ...]]:
    """Return a row for every share of outliers and solver."""
    rows: list[tuple[str, ...]] = []
    for outliers in OUTLIERS:
        problems = [simulate(seed, round((1.0 - outliers) * MATCHES)) for seed in range(cases)]
        for name, solver in SOLVERS.items():
            given = problems[::5] if name == SLOW else problems
            solver(problems[0].points, problems[0].pixels)  # what is loaded at the first call is not counted
            times, right = [], []
            for problem in given:
                start = time.process_time()
                pose = solver(problem.points, problem.pixels)
                times.append(time.process_time() - start)
                if problem.is_right(pose):
                    right.append(problem.errors(pose))
            turn, shift = np.median(right, axis=0) if right else (np.nan, np.nan)
            numbers = (f"{turn:.3f}", f"{1e3 * shift:.1f}", f"{1e3 * np.median(times):.1f}", f"{1e3 * max(times):.1f}")
            rows.append((f"{outliers:.0%}", name, f"{len(right)} of {len(given)}", *numbers))
            print(rows[-1], flush=True)
    return rows


def trust(cases: int) -> list[tuple[str, ...]]:
    """Return what becomes of ever fewer right matches."""
    rows: list[tuple[str, ...]] = []
    for few in FEW_RIGHT:
        confidences, right_ok, wrong_ok, right, covered = [], 0, 0, 0, 0
        for seed in range(cases):
            problem = simulate(10_000 + seed, few, 100)
            pose = cp.solve_camera(problem.points, problem.pixels, INTRINSICS, epsilon=EPSILON)
            within = near(problem, pose)
            is_right = few > 3 and (within or problem.is_right(pose.T_camera_world))
            right += is_right
            right_ok += is_right and pose.status is cp.Status.OK
            covered += within and pose.status is cp.Status.OK
            wrong_ok += not is_right and pose.status is cp.Status.OK
            confidences.append(pose.confidence)
        counts = map(str, (few, right, right_ok, covered, wrong_ok))
        rows.append((*counts, f"{np.mean(confidences):.3f}"))
    return rows


def near(problem: Case, pose: cp.CameraPose) -> bool:
    """Whether the truth is within what the covariance of a pose allows: of few matches, none is precise."""
    if pose.T_camera_world is None or pose.covariance is None:
        return False
    motion = problem.truth @ np.linalg.inv(pose.T_camera_world)
    angle = np.radians(cp.rotation_error(motion, np.eye(4)))
    skew = (motion[:3, :3] - motion[:3, :3].T) / (2.0 * np.sinc(angle / np.pi))
    error = np.array([skew[2, 1], skew[0, 2], skew[1, 0], *motion[:3, 3]])
    return bool(error @ np.linalg.solve(pose.covariance, error) < 40.0)


def similarities(cases: int) -> list[tuple[str, ...]]:
    """Return how many similarities are found by ratios of distances, with 90 % outliers."""
    rows: list[tuple[str, ...]] = []
    for count, scale in ((500, 0.1), (500, 1.0), (500, 10.0), (1000, 2.7), (5000, 2.7)):
        found, times = 0, []
        tries = cases if count < 1000 else max(1, cases // 10)
        for seed in range(tries):
            random = np.random.default_rng(seed)
            source, target = random.uniform(0.0, 10.0, (count, 3)), random.uniform(0.0, 10.0 * scale, (count, 3))
            right = random.permutation(count)[: count // 10]
            noise = random.uniform(-0.03, 0.03, (len(right), 3)) * scale
            target[right] = scale * source[right] @ random_turn(random).T + 5.0 + noise
            start = time.process_time()
            graph = cp.consistency_graph(source, target, invariant=DistanceRatios(), epsilon=0.15 * scale)
            clique = cp.find_clique(graph)
            times.append(time.process_time() - start)
            found += bool(np.isin(clique.vertices, right).all() and clique.size >= 0.9 * len(right))
        rows.append((str(count), f"{scale:g}", f"{found} of {tries}", f"{1e3 * np.median(times):.0f}"))
    return rows


def main() -> None:
    """Compare, look at few right matches, look at similarities."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--cases", type=int, default=100, help="simulated cases of each row")
    cases = parser.parse_known_args()[0].cases
    titles = ("outliers", "solver", "right", "rotation error (°)", "position error (mm)", "median CPU ms", "slowest")
    compared = markdown_table(titles, compare(cases))
    trusted = markdown_table(
        ("right matches", "right poses", "right and OK", "of these covered", "wrong and OK", "confidence"), trust(cases)
    )
    similar = markdown_table(("matches", "scale", "found", "median CPU ms"), similarities(max(1, cases // 5)))
    problem = f"{MATCHES} matches of points and pixels, {NOISE:g} px of noise"
    body = f"""{problem}, {cases} simulated cases a row, one thread, CPU time.
Right: within 1° and 10 cm, of points 2 to 10 m away; errors are medians of what is right. All have a bound of
{EPSILON:g} px and may draw {MOST_ITERATIONS} samples; the others are to be certain to {CERTAINTY}. {versions()}.

{compared}
100 matches, of which ever fewer are right: how many poses are right (as above, or with the truth within their
covariance), how many of these are reported as `OK`, of how many of those the covariance covers the truth (not where a
wrong match that happens to be within the bound moves a pose of few), how many others are `OK`, and the mean confidence:

{trusted}
Similarities by ratios of the distances of three matches (`DistanceRatios`), 90 % outliers: all members of the clique
are right, and nine of ten right matches are among them. CPU time of graph and clique:

{similar}"""
    write_report("camera", "Cameras and groups of matches", "python benchmarks/camera.py", body)


if __name__ == "__main__":
    main()
