"""Threads that have to wait for each other need a core each: whether there is one for each, as a run goes on."""

_LONG = 32  # calls until threads that were late twice are called again


class Turns:
    """Whether the next call is for all threads, or for one that does the work of all.

    Where the first thread waited for most of two rounds, the others have no core: it let them go, and did the rest of
    the call by itself. They are called again soon, for it may have been chance, and after that not for many calls.

    Examples
    --------
    >>> turns, seen = Turns(), ""
    >>> for _ in range(40):  # another program has the second core
    ...     seen += "1" if turns.alone else "T"
    ...     turns.learn(deserted=not turns.alone)
    >>> print(seen)
    T1T11111111111111111111111111111111T1111
    """

    def __init__(self) -> None:
        self.alone = False
        self._failures = self._left = 0

    def learn(self, deserted: bool) -> None:
        """Take in whether the first thread let the others go."""
        if self.alone:
            self._left -= 1
            self.alone = self._left > 0
        elif deserted:
            self._failures += 1
            self.alone, self._left = True, 1 if self._failures == 1 else _LONG
        else:
            self._failures = 0
