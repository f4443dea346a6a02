"""Examples: the data `A_1, ..., A_n` of a problem, seen through the operations that methods need.

`Rows` (one vector for each example, m = 1) is a view on a CSR matrix or a dense array; nothing is copied.
`MultiOutput`, `Blocks` and the examples of a store have the same interface; no method, sampling or loop looks at X.
Inside, w and α are flat vectors of length `size` and `total`; `w_shape` and `alpha_shape` are what people see.
"""

from dualfree.examples.blocks import Blocks
from dualfree.examples.multi_output import MultiOutput
from dualfree.examples.rows import Rows
from dualfree.examples.shapes import Flat

__all__ = ["Blocks", "Flat", "MultiOutput", "Rows"]
