"""Every estimator gives the same bits on each instruction set and with any number of threads."""

import json

import pytest
from core_cases import digests_of_variants

PROGRAM = """
import json, warnings
import numpy as np
from core_cases import digest
from scipy import sparse
from sklearn.datasets import make_blobs
from modeclust import KModes, LaplacianKModes, MeanShift
warnings.simplefilter("ignore")
found = {}
for n_features in (3, 20, 70):
    X, _ = make_blobs(3000, n_features, centers=5, cluster_std=3.0, random_state=0)
    forms = {
        "float64": X,
        "float32": X.astype(np.float32),
        "CSR": sparse.csr_array(np.where(X > 0, X, 0.0)),
    }
    for form, rows in forms.items():
        for n_jobs in THREADS:
            models = [
                KModes(6, n_init=2, n_bandwidths=8, random_state=0, n_jobs=n_jobs),
                LaplacianKModes(4, n_init=1, n_bandwidths=3, random_state=0, n_jobs=n_jobs),
                MeanShift(bandwidth=8.0, seeds=200, random_state=0, n_jobs=n_jobs),
            ]
            for model in models:
                rows_used = rows[:600] if isinstance(model, LaplacianKModes) else rows
                model.fit(rows_used)
                bits = digest(model.cluster_centers_, model.labels_, model.predict(rows_used[:50]))
                key = f"{type(model).__name__} {form} {n_features}"
                found.setdefault(key, []).append(bits)
print(json.dumps(found))
"""


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_bits():
    variants = digests_of_variants(PROGRAM.replace("THREADS", "(1, 2)"))
    (first, *others) = variants.values()
    assert len(first) == 27
    assert all(other == first for other in others)
    assert all(len(set(bits)) == 1 for bits in first.values())


def test_any_number_of_threads_gives_the_same_bits():
    printed = []
    exec(PROGRAM.replace("THREADS", "(1, 2, 3, 5)"), {"print": printed.append})
    found = json.loads(printed[0])
    assert {len(bits) for bits in found.values()} == {4}
    assert {key for key, bits in found.items() if len(set(bits)) > 1} == set()
