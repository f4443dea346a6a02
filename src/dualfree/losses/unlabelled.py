"""The loss of learning from positive and unlabelled examples."""

from dualfree.losses.builtin import Labelled


class PositiveUnlabelled(Labelled):
    """``−z`` for a positive example (the larger of the two labels), ``log(1 + exp(z))`` for an unlabelled one.

    The risk of the logistic loss ℓ on positive and negative examples, of which a share π is positive, is
    ``π E₊[ℓ(z)] + E[ℓ(−z)] − π E₊[ℓ(−z)]``: the negative ones are all without the positive ones. So positive examples
    have a weight of −π for the label −1; but ``ℓ(z) − ℓ(−z) = −z``, and what is left is convex, example by example (du
    Plessis, Niu and Sugiyama 2015). With weights of ``π n/n₊`` for the positive and ``n/n_u`` for the unlabelled
    examples, the average of these losses is that risk. 1/4-smooth: a line is that too.

    Examples
    --------
    >>> loss = PositiveUnlabelled([1, 0])
    >>> loss.y.tolist(), loss.derivative([3.0, 0.0], loss.y).tolist()
    ([1.0, -1.0], [-1.0, 0.5])
    """

    kind = "positive-unlabelled"
    largest_curvature = 0.25
