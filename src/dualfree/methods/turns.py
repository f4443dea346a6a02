"""Threads that have to wait for each other need a core each: whether there is one for each, as a run goes on."""

_TOO_LONG = 0.5  # part of a call that the first thread may wait for the others
_LONG = 32  # calls until threads that were late twice are called again


class Turns:
    """Whether the next call is for all threads, or for one that does the work of all.

    Where the first thread waited for most of a call, the others have no core: one does the work. They are called
    again soon, for it may have been chance, and after that not for long, since such a wait may take milliseconds.

    Examples
    --------
    >>> turns, seen = Turns(), ""
    >>> for _ in range(40):  # another program has the second core
    ...     seen += "1" if turns.alone else "T"
    ...     turns.learn(0.0 if turns.alone else 0.8)
    >>> print(seen)
    T1T11111111111111111111111111111111T1111
    """

    def __init__(self) -> None:
        self.alone = False
        self._failures = self._left = 0

    def learn(self, waited: float) -> None:
        """Take in which part of a call the first thread waited."""
        if self.alone:
            self._left -= 1
            self.alone = self._left > 0
        elif waited > _TOO_LONG:
            self._failures += 1
            self.alone, self._left = True, 1 if self._failures == 1 else _LONG
        else:
            self._failures = 0
