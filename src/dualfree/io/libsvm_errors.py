"""What can be wrong with LIBSVM text, in words."""

from typing import Literal

# The order of ``Status`` in libsvm_read.hpp.
(
    BAD_LABEL, BAD_QUERY, NO_QUERY, BAD_INDEX, HUGE_INDEX, NO_COLON,
    BAD_VALUE, NOT_FINITE, DUPLICATE, ZERO_INDEX, ABOVE_LIMIT,
) = range(2, 13)  # fmt: skip

_LONGEST_QUOTE = 40


class LibsvmError(ValueError):
    """A LIBSVM file that cannot be read. The message is one sentence with the place of the problem.

    Attributes
    ----------
    path : str
        The file's name as it was given.
    line, column : int or None
        Where, counted from 1 in the decompressed text; None if the problem has no single place.
    """

    def __init__(self, problem: str, path: str, line: int | None = None, column: int | None = None) -> None:
        self.path, self.line, self.column = path, line, column
        place = "" if line is None else f", line {line}" + ("" if column is None else f", column {column}")
        super().__init__(f"{path}{place}: {problem}.")
        self._arguments = (problem, path, line, column)

    def __reduce__(self) -> tuple[type["LibsvmError"], tuple[str, str, int | None, int | None]]:
        return type(self), self._arguments


def describe_problem(
    status: int,
    number: int,
    line: bytes,
    column: int,
    n_features: int | None,
    zero_based: bool | Literal["auto"],
    cut_off: bool,
) -> str:
    """Say what was expected and what was found at `column` of `line` (or nothing, for ABOVE_LIMIT)."""
    found = _quote(line[column - 1 :], cut_off)
    if status == NOT_FINITE:
        what = f"value of feature {number}" if b":" in line[: column - 1] else "label"
        return f"expected a finite number as the {what}, found {found}"
    if status == ABOVE_LIMIT:
        last = (n_features or 0) - 1 if zero_based is True else n_features
        return f"feature index {number} is beyond n_features={n_features} (the last index allowed is {last})"
    return {
        BAD_LABEL: f"expected a number as the label, found {found}",
        BAD_QUERY: f"expected 'qid:' and a whole number, found {found}",
        NO_QUERY: f"expected 'qid:' and a whole number because query_id=True, found {found}",
        BAD_INDEX: f"expected a feature index (a whole number, 0 or more), found {found}",
        HUGE_INDEX: f"expected a feature index of at most 18 digits, found {found}",
        NO_COLON: f"expected ':' after feature index {number}, found {found}",
        BAD_VALUE: f"expected a number as the value of feature {number}, found {found}",
        DUPLICATE: f"feature index {number} appears twice in this line, where once is allowed",
        ZERO_INDEX: "found feature index 0, but zero_based=False counts from 1 (pass zero_based=True)",
    }[status]


def _quote(rest: bytes, cut_off: bool) -> str:
    """Name what stands at the start of `rest`: the word, or the end of the line."""
    words = rest.split(b"#", 1)[0].split()
    if words and not rest[:1].isspace():
        word = words[0][:_LONGEST_QUOTE].decode("utf-8", "backslashreplace")
        return repr(word) + ("..." if len(words[0]) > _LONGEST_QUOTE else "")
    if words:
        return "a blank"
    return "end of line" + (" (is the file cut off?)" if cut_off else "")
