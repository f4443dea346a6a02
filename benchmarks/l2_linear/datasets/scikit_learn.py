"""Data that scikit-learn ships."""

from benchmark_utils.dataset import NamedDataset


class Dataset(NamedDataset):
    """Breast cancer, standardised; digits, even against odd."""

    name = "scikit-learn"
    parameters = {"dataset": ["breast-cancer", "digits"]}  # noqa: RUF012  (benchopt's form)
