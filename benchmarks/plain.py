"""Every method as its paper writes it, in plain numpy with dense matrices: the core is tested and timed against it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.bool_]
Vector = npt.NDArray[np.float64]


def greedy(adjacency: Matrix, cores: npt.NDArray[np.int64]) -> list[int]:
    """Algorithm 1 as printed (with the start vertex in its clique), on vertices that are already in its order."""
    n = len(adjacency)
    best: list[int] = []
    for v in range(n):
        if cores[v] < len(best):
            continue
        clique = [v]
        for u in range(n):
            if adjacency[v, u] and cores[u] >= len(best) and adjacency[u, clique].all():
                clique.append(u)
        if len(clique) > len(best):
            best = clique
    return best


def order_by_core(adjacency: Matrix) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the vertices in order of decreasing core number, and the core numbers in that order."""
    n = len(adjacency)
    degrees = adjacency.sum(axis=0).astype(np.int64)
    order, cores, core = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for place in range(n - 1, -1, -1):
        v = int(np.argmin(degrees))
        core = max(core, int(degrees[v]))
        order[place], cores[place] = v, core
        degrees -= adjacency[v]
        degrees[v] = 2 * n  # gone; its neighbours take off less than n
    return order, cores


def clipperplus(adjacency: Matrix) -> list[int]:
    """Algorithm 3 as printed: a greedy clique, pruning, the relaxation from the complement of the clique."""
    order, cores = order_by_core(adjacency)
    ordered = adjacency[np.ix_(order, order)]
    clique = greedy(ordered, cores)
    kept = int(np.count_nonzero(cores >= len(clique)))
    start = np.ones(kept)
    start[[v for v in clique if v < kept]] = 0.0
    if start.any():
        pruned = ordered[:kept, :kept]
        clique = max(clique, round_to_clique(pruned, relaxation(pruned, start)[0]), key=len)
    return [int(order[v]) for v in clique]


def violating_ratios(M: Vector, M_bar: Vector, u: Vector) -> Vector:
    """Return (M u)_i / (M̄ u)_i where u_i and (M̄ u)_i are positive: there the clique constraint is violated."""
    numerator, denominator = M @ u, M_bar @ u
    violating = (u > 1e-9) & (denominator > 1e-9)
    return np.asarray(numerator[violating] / denominator[violating])


def relaxation(adjacency: Matrix, start: Vector, *, max_outer: int = 1000, max_inner: int = 200) -> tuple[Vector, int]:
    """Algorithm 2 as its authors parametrise it. Returns the final u and the number of gradient steps."""
    n = len(adjacency)
    M = adjacency.astype(float) + np.eye(n)
    M_bar = 1.0 - M
    u = M @ start
    u /= np.linalg.norm(u)

    ratios = violating_ratios(M, M_bar, u)
    d = float(ratios.min()) if ratios.size else 0.0
    alpha, steps = 1.0, 0
    for _ in range(max_outer):
        M_d = M - d * M_bar
        F = u @ M_d @ u
        gradient = M_d @ u - F * u
        for _ in range(max_inner):
            for _ in range(20):
                u_new = np.maximum(u + alpha * gradient, 0.0)
                u_new /= np.linalg.norm(u_new)
                F_new = u_new @ M_d @ u_new
                delta_F = F_new - F
                if delta_F >= 0.01 * (gradient @ (u_new - u)):
                    alpha /= np.sqrt(0.5)
                    break
                alpha *= 0.5
            alpha = min(max(alpha, 1e-9), 2.0)
            delta_u = np.linalg.norm(u_new - u)
            u, F = u_new, F_new
            gradient = M_d @ u - F * u
            steps += 1
            if delta_u < 1e-8 or abs(delta_F) < 1e-9:
                break
        ratios = violating_ratios(M, M_bar, u)
        if not ratios.size:
            break
        d += float(ratios.min())
    return u, steps


def replicator(
    adjacency: Matrix,
    start: Vector,
    *,
    beta: float = 1.0,
    regularisation: float = 0.0,
    tolerance: float = 1e-7,
    max_steps: int = 3000,
) -> tuple[Vector, int]:
    """Pelillo's method, and with beta above 1 Ding's. Returns the final x and the number of steps."""
    A = adjacency.astype(float) + regularisation * np.eye(len(adjacency))
    x = start / np.sum(start**beta) ** (1.0 / beta)
    for step in range(1, max_steps + 1):
        gradient = A @ x
        value = x @ gradient
        if value <= 0.0:
            return x, step - 1
        x_new = (x * gradient / value) ** (1.0 / beta)
        change = np.abs(x_new - x).max() / x_new.max()
        x = x_new
        if change < tolerance:
            return x, step
    return x, max_steps


def largest_root(p: float, q: float) -> float:
    """Return the largest real root of w³ + p w + q, by Cardano's formulas."""
    discriminant = q * q / 4.0 + p * p * p / 27.0
    if discriminant >= 0.0:
        root = math.sqrt(discriminant)
        return float(np.cbrt(-q / 2.0 + root) + np.cbrt(-q / 2.0 - root))
    cosine = 3.0 * q / (2.0 * p) * math.sqrt(-3.0 / p)
    return 2.0 * math.sqrt(-p / 3.0) * math.cos(math.acos(max(-1.0, min(1.0, cosine))) / 3.0)


def belachew(
    adjacency: Matrix,
    start: Vector,
    *,
    first_d: float = 0.01,
    growth: float = 1.5,
    max_sweeps: int = 20,
    tolerance: float = 1e-6,
) -> tuple[Vector, int]:
    """Belachew and Gillis' method. Returns the final w and the number of sweeps."""
    n = len(adjacency)
    M = adjacency.astype(float) + np.eye(n)
    M_bar = 1.0 - M
    w, d, sweeps = start / start.max(), 0.0, 0
    while True:
        M_d = M - d * M_bar
        for _ in range(max_sweeps):
            change = 0.0
            for k in range(n):
                old = w[k]
                w[k] = 0.0
                p, q = w @ w - 1.0, -(M_d[k] @ w)
                root = largest_root(p, q)
                if root > 0.0 and root**4 / 4.0 + p * root**2 / 2.0 + q * root < 0.0:
                    w[k] = root
                change = max(change, abs(w[k] - old))
            sweeps += 1
            if change < tolerance:
                break
        if d >= n or not ((w > 1e-9) & (M_bar @ w > 1e-9)).any():
            return w, sweeps
        d = min(float(n), max(first_d, growth * d))


def clipper(
    weights: npt.NDArray[np.float64],
    adjacency: Matrix,
    start: Vector,
    *,
    max_outer: int = 1000,
    max_inner: int = 200,
) -> tuple[Vector, float, int]:
    """CLIPPER as its authors parametrise it. Returns the final u, its value and the number of gradient steps."""
    n = len(adjacency)
    M = weights + np.eye(n)
    M_bar = 1.0 - adjacency - np.eye(n)
    u = M @ start
    u /= np.linalg.norm(u)

    ratios = violating_ratios(M, M_bar, u)
    d = float(ratios.mean()) if ratios.size else 0.0
    F, steps = 0.0, 0
    for _ in range(max_outer):
        M_d = M - d * M_bar
        F = float(u @ M_d @ u)
        for _ in range(max_inner):
            gradient, alpha = M_d @ u, 1.0
            for _ in range(99):
                u_new = np.maximum(u + alpha * gradient, 0.0)
                if u_new.any():
                    u_new /= np.linalg.norm(u_new)
                    F_new = float(u_new @ M_d @ u_new)
                    if F_new - F >= -1e-9:
                        break
                alpha *= 0.25
            else:
                break
            delta_u, delta_F = np.linalg.norm(u_new - u), F_new - F
            u, F = u_new, F_new
            steps += 1
            if delta_u < 1e-8 or abs(delta_F) < 1e-9:
                break
        ratios = violating_ratios(M, M_bar, u)
        if not ratios.size:
            break
        d += float(ratios.mean())
    return u, F, steps


def round_to_clique(adjacency: Matrix, vector: Vector) -> list[int]:
    """Take the vertices in decreasing order of their entries, each while they stay a clique."""
    clique: list[int] = []
    for v in np.argsort(-vector, kind="stable"):
        if adjacency[v, clique].all():
            clique.append(int(v))
    return clique
