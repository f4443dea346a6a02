"""How far rounding can have taken w off ``ᾱ = (1/λn) Σ A_i α_i``, without a pass to see."""

import math
from dataclasses import dataclass

_UNIT = 2.0**-53  # the largest relative error of one rounding
_SAFE = 8.0  # in the place of 2, and of terms with higher powers of the unit


@dataclass
class Drift:
    """An account of the moves of α since both w and α were zero, and a bound on ``‖w − ᾱ‖`` that follows.

    A visit adds δ to α_i and ``A_ij δ/(λn)`` to each w_j, and each sum is off by at most a unit u of its result. Over k
    visits no α_i and no ``λn‖w‖/max‖A_i‖`` was ever above ``Σ |δ| ≤ √(k Σ δ²)``, so all that is
    off adds up to at most ``(2k + 4) u √(k Σ δ²) max‖A_i‖/(λn)``, but for terms in u² k².

    Examples
    --------
    >>> drift = Drift(at=0)
    >>> drift.add(0, 100, visits=100, squares=4.0)
    >>> drift.bound(100, reach=1.0), drift.bound(101, reach=1.0)
    (1.794120407794253e-12, inf)
    """

    at: int = -1
    """The iteration up to which all moves are accounted for; -1 where some are not."""
    visits: int = 0
    squares: float = 0.0
    stretched: float = 0.0
    """Roundings beyond those of the visits: what others have become by extrapolation."""

    def add(self, before: int, after: int, visits: int, squares: float) -> None:
        """So many visits between two iterations, with ``Σ δ²`` of all their moves."""
        self.at = after if self.at == before else -1
        self.visits += visits
        self.squares += squares

    def rescale(self, times: int, growth: float) -> None:
        """α and w were multiplied so many times, and by all that grew no more than `growth` times.

        Each time all α_i, w, and the number that w is multiplied by are rounded: no more than by three visits, for
        ``Σ |α_i|`` and ``λn‖w‖/max‖A_i‖`` are below ``Σ |δ|``. What has become smaller still is.
        """
        self.visits += 3 * times
        self.squares *= growth * growth

    def extrapolate(self, moves: int, roundings: float, squares: float) -> None:
        """α and w went along lines through where they were before, by so many `moves` of α_i with ``Σ δ²`` of these.

        ``α + t (α − β)`` is off by t times what was off between β and α beside what α was off by: that counts as so
        many `roundings`, those of the way itself with it.
        """
        self.visits += moves
        self.stretched += roundings
        self.squares += squares

    def bound(self, iteration: int, reach: float) -> float:
        """``‖w − ᾱ‖`` is at most this; `reach` is ``max‖A_i‖/(λn)``."""
        roundings = self.visits + self.stretched + 1
        if self.at != iteration or roundings * _UNIT > 1e-3:
            return math.inf
        return reach * _SAFE * _UNIT * roundings * math.sqrt(self.visits * self.squares)
