"""Files in and out: LIBSVM text natively, CSV and Parquet through pyarrow."""

from dualfree.io.libsvm import read_libsvm
from dualfree.io.libsvm_errors import LibsvmError
from dualfree.io.libsvm_writer import write_libsvm
from dualfree.io.reading import LabelledData, read
from dualfree.io.tables import TableData, read_table

__all__ = ["LabelledData", "LibsvmError", "TableData", "read", "read_libsvm", "read_table", "write_libsvm"]
