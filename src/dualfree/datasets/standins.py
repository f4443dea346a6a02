"""Generated data with the shape of a real dataset."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.stats import beta

from dualfree.datasets.registry import Entry
from dualfree.datasets.shapes import AREAS, HUNDREDTHS, LEVELS, LOG_SPREAD, NUMERICAL, SHAPES, Shape

# The standard deviation of the labels' noise, in those of the planted model's margins.
_NOISE = 0.5
# Up to so many columns, drawing looks at every one of them in every row.
_FEW_COLUMNS = 1000


def generate(entry: Entry, seed: int, n: int | None = None) -> tuple[csr_matrix, NDArray[np.float64]]:
    """Generate the stand-in of a dataset, with the labels of its file.

    Examples
    --------
    >>> from dualfree.datasets.registry import find_entry
    >>> X, y = generate(find_entry("protein"), seed=0, n=200)
    >>> X.shape, np.unique(y).tolist()
    ((200, 357), [0.0, 1.0, 2.0])
    """
    n_rows = entry.n if n is None else n
    if n_rows < 1:
        raise ValueError(f"n must be at least 1, not {n_rows}.")
    rng = np.random.default_rng(seed)
    shape = SHAPES[entry.name]
    X = (
        _cover_type(rng, n_rows, shape)
        if shape.values == "cover type"
        else _sparse(rng, n_rows, entry.d, shape)
    )
    return X, _planted_labels(rng, X, entry)


def _row_lengths(rng: np.random.Generator, n: int, shape: Shape) -> NDArray[np.int64]:
    """Read the quantile function at equal distances and shuffle: the true maximum and a sum without noise."""
    lengths = np.interp(np.linspace(0, 1, n), LEVELS, shape.row_lengths).round().astype(np.int64)
    return rng.permutation(lengths)


def _popularity(d: int, shape: Shape) -> NDArray[np.float64]:
    ranks, counts = np.log(list(shape.popularity)), np.log(list(shape.popularity.values()))
    return np.exp(np.interp(np.log(np.arange(1, d + 1)), ranks, counts))


def draw_distinct(
    rng: np.random.Generator, lengths: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw `lengths[i]` distinct columns for each row i, likelier ones by `weights`; sorted in each row.

    Examples
    --------
    >>> draw_distinct(np.random.default_rng(0), np.array([3, 1]), np.array([1.0, 2.0, 1e-9]))
    array([0, 1, 2, 0])
    """
    if weights.size > _FEW_COLUMNS:
        return _draw_again(rng, lengths, weights)
    rows = np.flatnonzero(lengths)
    blocks = [rows[first : first + 1024] for first in range(0, rows.size, 1024)]
    return np.concatenate(
        [_race(rng, lengths[block], weights) for block in blocks] or [np.empty(0, np.int64)]
    )


def _race(
    rng: np.random.Generator, lengths: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Give each column of each row an exponential time at the rate of its weight; the first ones win."""
    with np.errstate(divide="ignore"):  # a column of weight 0 never arrives
        times = rng.standard_exponential((lengths.size, weights.size)) / weights
    last_winners = np.sort(times, axis=1)[np.arange(lengths.size), lengths - 1]
    return np.nonzero(times <= last_winners[:, None])[1]


def _draw_again(
    rng: np.random.Generator, lengths: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw with replacement; what came twice is drawn again until nothing is missing. For many columns."""
    d = weights.size
    cumulative = np.cumsum(weights) / weights.sum()
    missing = lengths.copy()
    complete: list[NDArray[np.int64]] = []
    kept = np.empty(0, np.int64)
    while missing.any():
        rows = np.repeat(np.arange(lengths.size), missing)
        columns = np.minimum(np.searchsorted(cumulative, rng.random(rows.size), side="right"), d - 1)
        kept = np.unique(np.concatenate([kept, rows * d + columns]))
        here = np.bincount(kept // d, minlength=lengths.size)
        missing = np.where(missing > 0, lengths - here, 0)
        unfinished = missing[kept // d] > 0
        complete.append(kept[~unfinished])
        kept = kept[unfinished]
    return np.sort(np.concatenate([*complete, kept])) % d


def _sparse(rng: np.random.Generator, n: int, d: int, shape: Shape) -> csr_matrix:
    lengths = _row_lengths(rng, n, shape)
    columns = draw_distinct(rng, lengths, rng.permutation(_popularity(d, shape)))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    if shape.values == "ones":
        values = np.ones(columns.size)
    elif shape.values == "hundredths":
        values = np.interp(rng.random(columns.size), list(HUNDREDTHS), list(HUNDREDTHS.values())).round(2)
    else:
        values = np.exp(LOG_SPREAD * rng.standard_normal(columns.size))
        rows = np.repeat(np.arange(n), lengths)
        values /= np.sqrt(np.bincount(rows, weights=values**2, minlength=n))[rows]
    return csr_matrix((values, columns.astype(np.int32), indptr.astype(np.int32)), shape=(n, d))


def _cover_type(rng: np.random.Generator, n: int, shape: Shape) -> csr_matrix:
    """Ten numerical columns, of which few are zero, then one of four areas, then one of forty soil types."""
    values = np.ones((n, 12))
    columns = np.tile(np.arange(12, dtype=np.int32), (n, 1))
    for j, (least, greatest, mean, deviation, _) in enumerate(NUMERICAL):
        values[:, j] = rng.choice(_beta_table(least, greatest, mean, deviation), n)
    soils = _popularity(40, shape)
    columns[:, 10] = 10 + rng.choice(4, n, p=np.array(AREAS) / sum(AREAS))
    columns[:, 11] = 14 + rng.choice(rng.permutation(40), n, p=soils / soils.sum())
    zeros = 12 - _row_lengths(rng, n, shape)
    zero_columns = draw_distinct(rng, zeros, np.array([column[4] for column in NUMERICAL], dtype=float))
    values[np.repeat(np.arange(n), zeros), zero_columns] = 0
    stored = values != 0
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int32)
    return csr_matrix((values[stored], columns[stored], indptr), shape=(n, 54))


def _beta_table(least: float, greatest: float, mean: float, deviation: float) -> NDArray[np.float64]:
    """Quantiles of the beta distribution with these moments, as whole numbers other than zero."""
    width = greatest - least
    centre, spread = (mean - least) / width, deviation / width
    total = centre * (1 - centre) / spread**2 - 1
    levels = (np.arange(4096) + 0.5) / 4096
    table = np.round(least + width * beta.ppf(levels, centre * total, (1 - centre) * total))
    table[[0, -1]] = least, greatest
    return np.where(table == 0, 1.0, table)


def _planted_labels(rng: np.random.Generator, X: csr_matrix, entry: Entry) -> NDArray[np.float64]:
    """Rank the rows by a planted linear model plus noise, and cut that at the true shares of the classes."""
    largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    model = rng.standard_normal(X.shape[1]) / np.where(largest > 0, largest, 1)
    margins = X @ model
    margins += _NOISE * margins.std() * rng.standard_normal(X.shape[0])
    shares = np.cumsum(list(entry.classes.values())) / entry.n
    ends = np.round(shares * X.shape[0]).astype(np.int64)
    y = np.empty(X.shape[0])
    y[np.argsort(margins)] = np.repeat(
        np.array(list(entry.classes), dtype=np.float64), np.diff(ends, prepend=0)
    )
    return y
