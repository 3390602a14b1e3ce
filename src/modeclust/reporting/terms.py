"""Terms of each cluster: the words of its texts, or its largest features, that others lack."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from modeclust.data.reading import Doubles, is_sparse
from modeclust.plotting.exemplars import Labels
from modeclust.reporting.typical import Weights

N_TERMS = 12
MAX_WORDS = 20_000
# With more texts than this, words of a single text, and of more than half of them, are left out.
FEW_TEXTS = 20
WORD = r"(?u)\b[^\W\d_][\w'’-]*\w\b"  # noqa: RUF001

Terms = list[list[list[Any]]]  # [term, score] by cluster


def words_of_texts(
    texts: Sequence[str | None], labels: Labels, n_clusters: int, weight: Doubles | None
) -> Terms:
    """Return the words with the largest c-TF-IDF of each cluster (Grootendorst 2022).

    All texts of a cluster count as one document, not only those around the mode. The score of a
    word is its share of the words of the cluster, times log(1 + A / f): f is how often it occurs
    in all clusters, A the mean number of words of a cluster.
    """
    known = [text or "" for text in texts]
    many = sum(map(bool, known)) > FEW_TEXTS
    vectorizer = CountVectorizer(
        stop_words="english",
        token_pattern=WORD,
        min_df=2 if many else 1,
        max_df=0.5 if many and n_clusters > 1 else 1.0,
        max_features=MAX_WORDS,
    )
    try:
        counts = vectorizer.fit_transform(known)
    except ValueError:  # no words, or none is left
        return [[] for _ in range(n_clusters)]
    weights = np.ones(len(known)) if weight is None else weight
    sums = np.stack([counts.T @ np.where(labels == k, weights, 0.0) for k in range(n_clusters)])
    totals = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    frequency = sums.sum(axis=0)
    inverse = np.log1p(
        np.divide(totals.mean(), frequency, out=np.zeros_like(frequency), where=frequency > 0)
    )
    return largest(shares * inverse, vectorizer.get_feature_names_out())


def contrasting_features(X: Any, weights: Weights, weight: Doubles | None) -> Doubles:
    """Return how much larger each feature is in each cluster than in all rows.

    It is the difference between the mean with the weights of the mode and the mean of all rows;
    for dense rows, in standard deviations.
    """
    own = weights.labels >= 0
    rows = np.flatnonzero(own)
    total = weights.sums(np.ones(len(own)))
    values = np.zeros((weights.n_clusters, len(own)))
    values[weights.labels[rows], rows] = weights.values[rows]
    values /= np.where(total > 0, total, 1.0)[:, None]
    share = np.ones(len(own)) if weight is None else weight
    share = share / share.sum()
    means = np.asarray(X.T @ share).ravel()
    contrast = np.asarray((X.T @ values.T).T) - means
    if not is_sparse(X):
        spread = np.sqrt(np.maximum(share @ (X - means) ** 2, 0.0))
        contrast = np.divide(contrast, spread, out=np.zeros_like(contrast), where=spread > 0)
    return np.where(total[:, None] > 0, contrast, 0.0)


def largest(scores: Doubles, names: Sequence[str], n_terms: int = N_TERMS) -> Terms:
    """Return the names of the largest positive scores of each cluster, with the scores."""
    top = np.argsort(-scores, axis=1, kind="stable")[:, :n_terms]
    return [
        [[str(names[d]), round(float(own[d]), 5)] for d in order if own[d] > 0]
        for own, order in zip(scores, top, strict=True)
    ]
