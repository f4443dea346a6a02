"""dfSDCA on several threads, each of which moves a copy of w of its own."""

import math
from typing import Any, NamedTuple

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.evaluation import Evaluation
from dualfree.methods.base import About, Glance, Passed, State
from dualfree.methods.dfsdca import DfSDCA, native_step, take_in
from dualfree.methods.rescaling import VISIT
from dualfree.methods.turns import Turns
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Sampling
from dualfree.samplings.restless import Restless
from dualfree.steps import StepRule

# In nonzeros of a dfSDCA step, measured (docs/performance): what adding up costs for each feature, for each popular
# one, which lie apart, and once.
_FEATURE, _SCATTERED, _MERGE = 0.5, 4.0, 500.0
_POPULAR = 1024  # features of which copies hear more often, where there are many others
_SPENT = 0.15  # part of a round's time that adding up may take, where there is a choice
# What the account of rounding has for each visit: a copy may be 1 + σ times as long as w and counts a σ-th, adding it
# up rounds T + 5 times more for each of T or more visits, and a shortened α three times.
_ROUNDINGS = 4
_LEAST = 8  # times in an epoch that copies hear of each other
_UNHEARD = 700.0  # visits of the other thread that a stretch may go without hearing of, where the problem is hard
# Hardness up to which two copies need not hear of each other within a round, and up to which rounds are longer: that
# saves more time than it costs epochs.
_EASY, _LONG = 1.0, 8.0
_FURTHER = 0.17  # of the epochs that each further copy costs where the problem is hard


class CopiesPlan(NamedTuple):
    """Copies, how often they are added up in a round, and the time of plain dfSDCA in that of this, by estimate.

    Between two of these times there are so many stretches of visits, after which popular features are added up.
    """

    threads: int
    merges: int
    stretches: int
    gain: float


def rounds_of(problem: Problem) -> Restless:
    """The rounds to share out.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> X = np.eye(20)
    >>> [rounds_of(df.Problem(X, df.losses.Squared(X[0]), lam=lam)) for lam in (1.0, 1e-3)]
    [Restless(rounds=4), Restless(rounds=8)]
    """
    return Restless(4) if problem.hardness <= _LONG else Restless()


def plan_copies(problem: Problem, n_threads: int, sampling: Restless) -> CopiesPlan:
    """The best of up to `n_threads` copies.

    Each of T threads makes a T-th of the visits, and adds up a T-th of the features of T copies. Since a copy hears of
    the others' moves at the end of a stretch alone, the epochs become ``1 + 0.17 (T − 1) √(h/(1 + h))`` times as many,
    ``h = l ‖A‖²/(λn)``, by what was seen on texts; with several stretches, which are for two threads, half of that
    more.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.random(4000, 500, 0.1, "csr", rng=np.random.default_rng(0))
    >>> problem = df.Problem(X, df.losses.Squared(np.ones(4000)), lam=1.0)
    >>> chosen = plan_copies(problem, 2, rounds_of(problem))
    >>> chosen.threads, chosen.merges, chosen.stretches, round(chosen.gain, 1)
    (2, 7, 1, 1.7)
    """
    further = _FURTHER * math.sqrt(problem.hardness / (1 + problem.hardness))
    work = (problem.examples.products + VISIT * problem.n) / sampling.rounds
    merge, exchange = _FEATURE * problem.d + _MERGE, _SCATTERED * _POPULAR + _MERGE
    plans = [CopiesPlan(1, 1, 1, 1.0)]
    for threads in {min(2**k, n_threads) for k in range(1, 11)} - {1}:
        spare = _SPENT * work / threads
        stretches = _stretches(problem, sampling, spare / exchange) if threads == 2 else 1
        easy = threads == 2 and problem.hardness <= _EASY
        least = 1 if easy else max(_LEAST // sampling.rounds, 1)
        merges = 1 if stretches > 1 else max(least, int(spare / merge))
        adding = merges * merge + (stretches - 1) * exchange
        cost = (work / threads + adding) * (1 + further / min(stretches, 2) * (threads - 1))
        plans.append(CopiesPlan(threads, merges, stretches, work / cost))
    return max(plans, key=lambda each: (each.gain, -each.threads))


def _stretches(problem: Problem, sampling: Restless, affordable: float) -> int:
    """Of a round on two threads: 1 where it is easy, or adding up a few features costs about as much as adding up all.

    With more threads the moves of rare features are too much alike as well: epochs were as many or more.
    """
    if problem.hardness <= _EASY or _FEATURE * problem.d < 2 * _SCATTERED * _POPULAR:
        return 1
    visits = problem.n / sampling.rounds / 2
    wanted = max(_LEAST // sampling.rounds, math.ceil(visits / _UNHEARD * problem.hardness / (1 + problem.hardness)))
    return max(1, min(wanted, 1 + int(affordable), int(visits / 4)))  # each has some visits


class DfSDCACopies(DfSDCA):
    """dfSDCA in the rounds of `Restless`, whose visits are dealt out at random to T copies of w.

    Each copy is moved by its own visits, as dfSDCA would with a λ that is σ times smaller, and by ``σ m_t`` in the end.
    Then ``w ← w + γ Σ m_t``, and α moves by γ times what the visits moved it. With ``r = ‖Σ m_t‖²/Σ ‖m_t‖²``, between 0
    and T, each ``γ ≤ σ/r`` raises the dual by at least γ times what the visits have won by their own reckoning: γ is
    ``min(1, σ/r)``, and the next σ is ``max(1, 1.1 r, 1 + 0.9 (σ − 1))``. σ = T would always be safe, and slow: moves
    of texts have little in common, and r is near 1.

    What they have in common is mostly in a few features, the popular ones. Where there are many others, these are added
    up more often, after each of several stretches of visits, and r has their moves in each stretch for themselves:
    ``r = (Σ_s ‖Σ_t m_ts‖² + ‖Σ_t m_t‖²)/(Σ_s Σ_t ‖m_ts‖² + Σ_t ‖m_t‖²)``, with m_ts the moves of popular features in
    all stretches but the last, and m_t all others. Then ``γ = 1 − (r − σ) Σ‖m‖²/‖Δw‖²`` where r is above σ, with the
    same denominator as r and all of w's way; without stretches this is σ/r.

    Threads that wait for each other need a core each. Where other programs keep them from it, one thread goes on by
    itself, as plain dfSDCA, until they are free again (`Turns`).

    The answer depends on the number of threads, within the tolerance. For one number it is always the same, as long as
    each thread has a core.
    """

    takes_l1 = False
    takes_outputs = False
    about = About(
        title="dfSDCA on T threads, each with a copy of w",
        needs="built-in or compiled convex losses; restless; implicit steps",
        memory="n + Td",
        cost="O(z/T) for each example on each thread, and O(d) for each thread each time that copies are added up",
        rate="every round raises the dual",
        origin="Ma, Smith, Jaggi, Jordan, Richtárik, Takáč 2015 (adding up copies); σ by what is seen is ours",
    )

    whole_epochs = True
    sparing = True
    resumable = False  # σ is in no checkpoint
    copies = True

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        problem.require_convex("method='dfsdca-copies'")
        if problem.loss.native is None:
            raise ValueError(
                "method='dfsdca-copies' takes built-in and compiled losses, since Python runs on one thread; "
                "method='dfsdca' takes any."
            )
        if not rule.implicit or not isinstance(sampling.sampling, Restless):
            raise ValueError(
                "method='dfsdca-copies' takes sampling='restless' and step='implicit', 'nearly-implicit' or "
                f"'rescaled', not {sampling.sampling!r} and step={rule.name!r}; method='dfsdca' takes all of them."
            )
        self._turns = Turns()
        self._crew: Any
        self._plan: CopiesPlan
        self._room: Floats
        self._popular: Indices
        self._pace: tuple[float, int]  # σ, and stretches from one time that all is added up to the next

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return rounds_of(problem)

    @property
    def takes_rounds(self) -> bool:
        return True

    def advance_by_rounds(self, state: State, rounds: Any) -> list[Passed]:
        if not self._together():
            return super().advance_by_rounds(state, rounds)
        rows = self.problem.examples.shifted(state.centre)
        step = (rows, *native_step(self.problem, self.problem.lam, self.rule))
        rescaling = None if self._rescaling is None else self._rescaling.told(state)
        course = (rounds.native, rescaling, self._plan.merges, self._popular, *self._pace)
        told = kernels.dfsdca_copies(self._crew, *step, *course, self._room, state.alpha, state.w)
        moved, unit, sure, self._pace, walked, deserted, became = told
        self._turns.learn(deserted)
        take_in(state, rounds.end(unit, sure, len(moved)), moved, walked, _ROUNDINGS)
        if self._rescaling is not None:
            self._rescaling.take_in(state, became, _ROUNDINGS)
        return []

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        self._prepare()
        return super().start(alpha, intercept)

    def _together(self) -> bool:
        """Whether the next rounds are for all threads."""
        return self._turns.begin() and self._crew.present()

    def _prepare(self) -> None:
        sampling = self.sampling.sampling
        assert isinstance(sampling, Restless)
        self._plan = plan_copies(self.problem, self.n_threads, sampling)
        self._crew = kernels.Crew(self._plan.threads)
        most = _POPULAR if self._plan.stretches > 1 else 0
        self._popular = kernels.popular(self.problem.examples.native, most, memory.empty(self.problem.d))
        self._room = memory.empty(kernels.copies_room(self._plan.threads, self.problem.d, len(self._popular)))
        self._pace = (1.0, self._plan.stretches)

    def glance(self, state: State) -> Glance | None:
        self._rest()
        return super().glance(state)

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        self._rest()
        return super().evaluate(state)

    def _rest(self) -> None:
        """A pass has threads of its own, and ours would keep their cores, waiting for the next round."""
        self._crew.rest()
