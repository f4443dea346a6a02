"""Local passes of dfSDCA: what a worker does between two reductions, as a pure function of its part of α and of w."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.distributed import passes
from dualfree.distributed.block import Block
from dualfree.distributed.report import Report, report
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn


class Share(NamedTuple):
    """A worker's part of α, the moves that it proposes, and what it reports of them."""

    alpha: Floats
    visited: Indices
    moves: Floats
    account: Report | None

    def taken(self, t: float) -> Floats:
        """α after a share t of the proposed moves."""
        alpha = self.alpha.copy()
        alpha[self.visited] += t * self.moves
        return alpha


def settled(alpha: Floats) -> Share:
    """A share without proposals."""
    return Share(alpha, np.empty(0, dtype=np.int64), np.empty(0), None)


@dataclass(frozen=True)
class Order:
    """What the workers are asked to do in a round.

    Attributes
    ----------
    inverse : float
        ``1/(λn)``, n the examples of all partitions.
    sigma : float
        σ': each partition counts its moves so many times, because others move at the same time.
    shares : tuple of float
        The t for which the dual at ``α + t·moves`` is wanted.
    first, last : float
        Passes over the block behind and after this round: 2.25 is a quarter into the third.
    """

    inverse: float
    sigma: float
    shares: tuple[float, ...]
    first: float
    last: float
    seed: int


def local_pass(block: Block, loss: Loss, number: int, share: Share, taken: float, w: Floats, order: Order) -> Share:
    """Implicit steps on a private copy of w, in shuffled order; the moves are proposed, not made.

    The step of example i solves ``α⁺ = −φ_i'(x_iᵀv + σ'(‖x_i‖²/λn)(α⁺ − α_i))``, then
    ``v += (σ'/λn) x_i (α⁺ − α_i)``: dfSDCA on the local subproblem of CoCoA⁺. Reports
    ``Δw = (v − w)/σ'`` and, for each t, the change of ``Σ φ_i*(−α_i)``.
    """
    alpha = share.taken(taken)
    after, v = alpha.copy(), w.copy()
    indices = _visits(order, number, len(alpha))
    scale = order.sigma * order.inverse * block.examples.square_norms
    kernels.dfsdca(block.examples.native, loss.native, 0.0, scale, order.sigma * order.inverse, indices, None, after, v)
    visited = np.flatnonzero(after != alpha)
    moves = after[visited] - alpha[visited]
    changes = _conjugate_changes(loss, visited, alpha[visited], moves, order.shares)
    return Share(alpha, visited, moves, report(changes, (v - w) / order.sigma))


def certify(block: Block, loss: Loss, share: Share, w: Floats) -> Report:
    """`passes.certify` of a settled share."""
    return passes.certify(block, loss, share.alpha, w)


def account(share: Share) -> Report:
    """What a share reports, without its α, which need not travel."""
    assert share.account is not None
    return share.account


def alpha_of(share: Share, taken: float) -> Floats:
    """α after a share `taken` of its moves."""
    return share.taken(taken)


def _visits(order: Order, number: int, n: int) -> Indices:
    """The examples from `first` to `last`: whole passes and parts of them, each pass in its own order."""
    start, stop = round(order.first * n), round(order.last * n)
    pieces = [np.empty(0, dtype=np.int64)]
    while start < stop:
        epoch, at = divmod(start, n)
        pieces.append(_permutation(order.seed, number, epoch, n)[at : at + stop - start])
        start += len(pieces[-1])
    return np.concatenate(pieces)


@lru_cache(maxsize=2)
def _permutation(seed: int, number: int, epoch: int, n: int) -> Indices:
    """The order of one pass; kept, since its rounds come one after the other."""
    key = int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])
    return np.asarray(kernels.draw_permutation(key, epoch, n))


def _conjugate_changes(
    loss: Loss, visited: Indices, alpha: Floats, moves: Floats, shares: tuple[float, ...]
) -> list[float]:
    """``Σ φ_i*(−α_i − t·move_i) − φ_i*(−α_i)`` for each t."""
    assert isinstance(loss, BuiltIn)
    if len(visited) == 0:
        return [0.0] * len(shares)
    weight = None if loss.weight is None else loss.weight[visited]
    native = (loss.kind, loss.y[visited], weight, *loss.parameters)

    def conjugates(at: Floats) -> float:
        inside = np.empty(len(at))  # rounding may have left an α_i an ulp outside the domain
        kernels.loss_project(native, at, inside)
        return float(kernels.conjugate_sum(native, inside))

    before = conjugates(alpha)
    return [conjugates(alpha + t * moves) - before for t in shares]
