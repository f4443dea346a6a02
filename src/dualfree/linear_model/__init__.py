"""Linear models with scikit-learn's names, parameters and manners, and a certificate after every fit.

>>> from sklearn.datasets import load_iris
>>> from dualfree.linear_model import LogisticRegression
>>> X, y = load_iris(return_X_y=True)
>>> model = LogisticRegression(C=0.1).fit(X, y == 2)
>>> bool(model.certificate_.relative_gap <= 1e-6)
True
"""

from dualfree.linear_model.callbacks import EarlyStopping
from dualfree.linear_model.conditional_logit import ConditionalLogit
from dualfree.linear_model.elastic_net import ElasticNet
from dualfree.linear_model.huber import HuberRegressor
from dualfree.linear_model.logistic import LogisticRegression
from dualfree.linear_model.logistic_cv import LogisticRegressionCV
from dualfree.linear_model.ridge import Ridge
from dualfree.linear_model.ridge_classifier import RidgeClassifier
from dualfree.linear_model.ridge_cv import RidgeCV
from dualfree.linear_model.ridge_paths import RidgePath, ridge_path
from dualfree.linear_model.svc import LinearSVC
from dualfree.linear_model.unlabelled import PUClassifier

__all__ = [
    "ConditionalLogit",
    "EarlyStopping",
    "ElasticNet",
    "HuberRegressor",
    "LinearSVC",
    "LogisticRegression",
    "LogisticRegressionCV",
    "PUClassifier",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgePath",
    "ridge_path",
]
