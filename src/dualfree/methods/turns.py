"""Threads that have to wait for each other need a core each: whether there is one for each, as a run goes on."""

_LONG = 32  # calls until threads that were late twice are called again


class Turns:
    """Whether the next call is for all threads, or for the first one alone.

    Where the first thread waited for most of two rounds, the others have no core, and it let them go. They are called
    again soon, for it may have been chance, and after that not for many calls.

    Examples
    --------
    >>> turns, seen = Turns(), ""
    >>> for _ in range(40):  # another program has the second core
    ...     if turns.begin():
    ...         turns.learn(deserted=True)
    ...         seen += "T"
    ...     else:
    ...         seen += "1"
    >>> print(seen)
    T1T11111111111111111111111111111111T1111
    """

    def __init__(self) -> None:
        self._failures = self._left = 0

    def begin(self) -> bool:
        """Whether a call that is about to begin is for all."""
        self._left = max(self._left - 1, -1)
        return self._left < 0

    def learn(self, deserted: bool) -> None:
        """Take in whether the first thread let the others go in such a call."""
        self._failures = self._failures + 1 if deserted else 0
        if deserted:
            self._left = 1 if self._failures == 1 else _LONG
