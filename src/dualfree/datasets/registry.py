"""The facts about the paper's five datasets: shapes, classes, public homes.

The public homes publish no checksums. A download is therefore checked against what is known of its content,
and its SHA-256 is remembered when it enters the cache, so that later damage is noticed.
"""

from dataclasses import dataclass

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
_DOROTHEA = "https://archive.ics.uci.edu/ml/machine-learning-databases/dorothea/DOROTHEA/dorothea_train"


@dataclass(frozen=True)
class Reconstruction:
    """A file that stands for the original but is known to differ from it.

    `fingerprint` (see `files.fingerprint`) tells it from the original where the number of nonzeros does not.
    """

    nnz: int
    difference: str
    fingerprint: str | None = None


@dataclass(frozen=True)
class Entry:
    """One dataset. `classes` maps the file's labels to their counts, by rising margin in a stand-in.

    The counts are those of the original, unless there is a `reconstruction`: then they are that one's.
    """

    name: str
    n: int
    d: int
    nnz: int
    classes: dict[int, int]
    positive: int
    source: str
    urls: tuple[str, ...]
    reconstruction: Reconstruction | None = None


_ENTRIES = (
    Entry(
        name="w8a",
        n=49_749,
        d=300,
        nnz=579_586,
        classes={-1: 48_270, 1: 1_479},
        positive=1,
        source="LIBSVM w8a (web pages, Platt 1998)",
        urls=(_LIBSVM + "binary/w8a",),
    ),
    Entry(
        name="dorothea",
        n=800,
        d=100_000,
        nnz=727_760,
        classes={-1: 722, 1: 78},
        positive=1,
        source="UCI Dorothea, training set (drug discovery, NIPS 2003)",
        urls=(_DOROTHEA + ".data", _DOROTHEA + ".labels"),
    ),
    Entry(
        name="protein",
        n=17_766,
        d=357,
        nnz=1_839_250,
        classes={0: 8_146, 2: 5_504, 1: 4_116},
        positive=1,
        source="LIBSVM protein (secondary structure, Wang 2002); class 1 against the rest",
        urls=(_LIBSVM + "multiclass/protein.bz2",),
        reconstruction=Reconstruction(
            nnz=1_839_250,
            difference="4,272 of the labels are imputed and the rows are in another order",
            fingerprint="3eb06e320485fa92952857cf776c51f236d0cd0686d21ed27bb3e79bf7aa4411",
        ),
    ),
    Entry(
        name="rcv1",
        n=20_242,
        d=47_236,
        nnz=1_498_952,
        classes={-1: 9_751, 1: 10_491},
        positive=1,
        source="LIBSVM rcv1_train.binary (Reuters news, Lewis 2004)",
        urls=(_LIBSVM + "binary/rcv1_train.binary.bz2",),
        reconstruction=Reconstruction(
            nnz=1_474_518, difference="the documents are vectorised again, with other columns"
        ),
    ),
    Entry(
        name="cov1",
        n=581_012,
        d=54,
        nnz=6_901_775,
        classes={1: 283_301, 2: 297_711},
        positive=2,
        source="LIBSVM covtype.binary (UCI cover type, raw); label 1 is cover type 2, label 2 the rest",
        urls=(_LIBSVM + "binary/covtype.libsvm.binary.bz2",),
    ),
)
ENTRIES = {entry.name: entry for entry in _ENTRIES}


def find_entry(name: str) -> Entry:
    """Return the entry of `name`, or raise a ValueError that lists the names there are."""
    if name not in ENTRIES:
        raise ValueError(f"There is no dataset called {name!r}; the names are {', '.join(ENTRIES)}.")
    return ENTRIES[name]
