"""The problem: examples, losses and λ, with every number that methods and certificates need of them."""

from dualfree.problem.problem import Problem

__all__ = ["Problem"]
