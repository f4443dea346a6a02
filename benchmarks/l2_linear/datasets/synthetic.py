"""Generated shapes that no setting was chosen on."""

from benchmark_utils.dataset import NamedDataset


class Dataset(NamedDataset):
    """Dense and tall, dense and wide, badly conditioned, sparse like text."""

    name = "synthetic"
    parameters = {"dataset": ["tall-dense", "wide-dense", "ill-conditioned", "text-like"]}  # noqa: RUF012
