"""What a worker does in one pass over its block: pure functions of the block, its losses and a point."""

from types import SimpleNamespace

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.distributed.block import Block
from dualfree.distributed.report import Report, report
from dualfree.losses.base import Loss
from dualfree.methods.newton_plan import rough_start


def facts(block: Block, loss: Loss) -> Report:
    """Sums that the choice of a method and the first row of the history need.

    Stored entries, their squares by row, ``Σ l_i``, ``Σ‖x_i‖²``, ``Σ l_i‖x_i‖²``, ``Σ φ_i(0)``, ``Σ φ_i*(0)``, and n.
    """
    examples, zero = block.examples, np.zeros(block.examples.n)
    nonzeros = examples.nonzeros.astype(np.float64)
    value = float(loss.weighted(loss.value(zero, loss.y)).sum())
    conjugate = float(kernels.conjugate_sum(loss.native, zero)) if loss.all_convex else np.inf
    norms = examples.square_norms
    sums = [nonzeros.sum(), nonzeros @ nonzeros, loss.l.sum(), norms.sum(), loss.l @ norms, value, conjugate, len(zero)]
    return report(sums)


def value_and_gradient(block: Block, loss: Loss, w: Floats) -> Report:
    """``Σ φ_i`` and ``Σ A_i φ_i'`` at w."""
    gradient = np.zeros(block.examples.d)
    total = kernels.loss_and_gradient(block.examples.native, loss.native, w, gradient)
    return report([total], gradient)


def rough(block: Block, loss: Loss, lam: float) -> Report:
    """What the block's examples alone say of w, after a fraction of an epoch; times their number."""
    n = block.examples.n
    alone = SimpleNamespace(
        n=n, d=block.examples.d, lam=lam, common_l=loss.common_l, loss=loss, examples=block.examples, intercept=False
    )
    return report([], n * rough_start(alone))


def margins(block: Block, loss: Loss, w: Floats) -> Floats:
    """``x_iᵀw``, which stay where they are."""
    return block.examples.margins(w)


def slopes(block: Block, loss: Loss, z: Floats, b: float) -> Report:
    """The slope in b, its size without cancellation, and the curvature, at margins z + b."""
    return report(kernels.slope_sums(loss.native, z, b))


def gradient_at(block: Block, loss: Loss, z: Floats, b: float) -> Report:
    """``Σ φ_i``, ``Σ φ_i'``, ``Σ |φ_i'|``, ``Σ φ_i'²`` and ``Σ x_i φ_i'`` at margins z + b."""
    derivatives = np.empty(len(z))
    total = kernels.loss_slopes(loss.native, z + b, derivatives)
    numbers = [total, derivatives.sum(), np.abs(derivatives).sum(), derivatives @ derivatives]
    return report(numbers, block.examples.combine(derivatives))


def gram(block: Block, loss: Loss, sample: Indices | None, w: Floats, b: float) -> Report:
    """``Σ φ_i'' x_i x_iᵀ`` (its upper triangle) over a sample, and for the intercept ``Σ φ_i'' x_i``, ``Σ φ_i''``."""
    examples = block.examples
    indices = np.arange(examples.n) if sample is None else sample
    curvatures = np.empty(examples.n)
    kernels.loss_curvature(loss.native, examples.margins(w) + b, curvatures)
    weights = curvatures[indices]
    products = examples.upper_gram(weights, indices)
    return report([float(weights.sum())], np.append(products.ravel(), examples.combine(weights, indices)))


def certify(block: Block, loss: Loss, alpha: Floats, w: Floats) -> Report:
    """``Σ φ_i``, the sum of Fenchel's terms, ``Σ A_i φ_i'`` and ``Σ A_i a_i``, a the α moved into its domain."""
    sums = np.zeros(2 * block.examples.d)
    numbers = kernels.certify(block.examples.native, loss.native, w, alpha, sums)
    return report(numbers, sums)


def combination(block: Block, loss: Loss, alpha: Floats) -> Report:
    """``Σ A_i α_i``."""
    return report([], block.examples.combine(alpha))


def alpha_at(block: Block, loss: Loss, w: Floats, b: float) -> Floats:
    """``α_i = −φ_i'(x_iᵀw + b)``."""
    derivatives = np.empty(block.examples.n)
    kernels.loss_derivative(loss.native, block.examples.margins(w) + b, derivatives)
    return -derivatives
