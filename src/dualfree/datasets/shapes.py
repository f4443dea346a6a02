"""What a stand-in imitates, in few numbers: measured on the real files once.

A shape is the quantiles of nonzeros per row, the popularity of the features by rank, and the style of values.
"""

from dataclasses import dataclass
from typing import Literal

# fmt: off
LEVELS = (0, .01, .02, .05, .10, .15, .20, .25, .30, .35, .40, .45, .50, .55, .60, .65, .70, .75, .80, .85,
          .90, .925, .95, .97, .98, .99, .995, .998, .999, 1)


@dataclass(frozen=True)
class Shape:
    """`row_lengths` at `LEVELS`; `popularity`: rank from 1 -> rows with that feature, power laws between."""

    row_lengths: tuple[int, ...]
    popularity: dict[int, float]
    values: Literal["ones", "hundredths", "unit rows", "cover type"]


SHAPES = {
    "w8a": Shape(
        (0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 21, 25, 28, 33, 39, 45, 54, 64, 78,
         84, 114),
        {1: 17488, 5: 12196, 14: 7412, 31: 5412, 66: 2986, 140: 1293, 187: 196, 300: 11}, "ones"),
    "dorothea": Shape(
        (657, 685, 690, 707, 720, 728, 738, 746, 757, 762, 767, 776, 786, 795, 809, 829, 857, 882, 943,
         1049, 1214, 1300, 1520, 1852, 2043, 2947, 4289, 5524, 6061, 6061),
        {1: 208, 10: 140, 100: 84, 1000: 44, 4642: 24, 21544: 11, 46416: 5, 88000: 1, 100000: .01}, "ones"),
    "protein": Shape(
        (17, 17, 17, 28, 40, 48, 55, 62, 69, 76, 85, 92, 100, 107, 115, 122, 130, 139, 148, 160, 176, 185,
         196, 207, 214, 226, 236, 257, 272, 286),
        {1: 8540, 16: 8245, 50: 7214, 110: 6241, 219: 5419, 279: 3705, 356: 1000, 357: 1}, "hundredths"),
    "rcv1": Shape(
        (2, 10, 12, 16, 21, 24, 28, 32, 36, 40, 45, 51, 56, 62, 68, 76, 85, 97, 112, 130, 155, 167, 185,
         204, 220, 247, 280, 328, 371, 1023),
        {1: 7552, 4: 6410, 18: 3992, 74: 2146, 311: 877, 1307: 222, 5488: 26, 23049: 3, 45000: 1, 47236: .01},
        "unit rows"),
    "cov1": Shape(
        (8, 10, 10, 11) + 26 * (12,),
        {1: 115247, 2: 57752, 4: 45154, 6: 33373, 10: 25666, 14: 13806, 20: 7525, 30: 1899, 36: 179, 40: 3},
        "cover type"),
}

# Quantiles of protein's values.
HUNDREDTHS = {0: .01, .1: .01, .2: .02, .3: .03, .4: .04, .5: .06, .6: .09, .7: .14, .8: .25, .85: .35,
              .9: .52, .95: .8, 1: 1}
# The spread of the logarithm of rcv1's values.
LOG_SPREAD = .62
# Cover type's ten numerical columns: least, greatest, mean, standard deviation, rows with a zero.
NUMERICAL = (
    (1859, 3858, 2959.4, 280.0, 0), (0, 360, 155.7, 111.9, 4914), (0, 66, 14.1, 7.5, 656),
    (0, 1397, 269.4, 212.5, 24603), (-173, 601, 46.4, 58.3, 38665), (0, 7117, 2350.1, 1559.3, 124),
    (0, 254, 212.1, 26.8, 13), (0, 254, 223.3, 19.8, 5), (0, 254, 142.5, 38.3, 1338), (0, 7173, 1980.3,
    1324.2, 51),
)
# Its four wilderness areas; the soil types that follow are in its shape's popularity.
AREAS = (260796, 29884, 253364, 36968)
