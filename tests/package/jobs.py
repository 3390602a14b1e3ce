"""What the installed package does: `python jobs.py JOB`, in an environment without the sources."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

X = load_iris().data
QUICK = {"n_bandwidths": 2, "n_init": 1, "random_state": 0}
FEW = ("--n-bandwidths", "2", "--n-init", "1")


def core():
    import modeclust

    fits()
    model = modeclust.KModes(3, **QUICK).fit(X)
    model.report(X, path="page.html")
    assert "<html" in Path("page.html").read_text(encoding="utf-8")
    model.save("kmodes.npz")
    assert (modeclust.load("kmodes.npz").predict(X) == model.labels_).all()


def fits():
    """Fit every estimator, and write nothing."""
    import modeclust

    assert "site-packages" in modeclust.__file__
    assert distribution("modeclust").version == modeclust.__version__
    model = modeclust.KModes(3, **QUICK).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert model.transform(X[:2]).shape == (2, 3)
    modeclust.KModes(3, bandwidth=1.0, random_state=0).partial_fit(X)
    shift = modeclust.MeanShift(bandwidth=1.0).fit(X)
    assert (shift.predict(X) == shift.labels_).all()
    soft = modeclust.LaplacianKModes(2, **QUICK).fit(X)
    np.testing.assert_allclose(soft.assignments_.sum(axis=1), 1)
    path = modeclust.kmodes_path(X, 3, bandwidths=[np.inf, modeclust.estimate_bandwidth(X)])
    assert isinstance(path.to_frame(), dict)  # as there is no library of frames
    assert modeclust.modes_by_bandwidth(X, [1.0, 2.0]).n_modes[-1] == 1


def loaded():
    """Print what the use of all names loads, beside what scikit-learn loads of what is there."""
    if find_spec("sklearn.callback") is not None:
        import_module("sklearn.callback")
    before = set(sys.modules)
    import modeclust

    for name in modeclust.__all__:
        getattr(modeclust, name)
    print(*{name.partition(".")[0] for name in sys.modules.keys() - before})


def displays():
    from modeclust import KModes
    from modeclust.plotting import ModesDisplay, PathDisplay, ScheduleDisplay

    model = KModes(3, **QUICK).fit(X)
    shown = (
        PathDisplay.from_estimator(model, X),
        ModesDisplay.from_estimator(model, X),
        ScheduleDisplay.from_estimator(model),
    )
    for number, display in enumerate(shown):
        display.figure_.savefig(f"{number}.png")


def approximate():
    from modeclust import LaplacianKModes

    soft = LaplacianKModes(2, neighbor_search="approximate", **QUICK).fit(X)
    assert len(np.unique(soft.labels_)) == 2


def command():
    run("fit", "iris", "-k", "3", *FEW)
    assert Path("iris.modes", "report.html").is_file()
    lines = ["a,b", *(f"{a},{b}" for a, b in X[:, :2])]
    Path("rows.csv").write_text("\n".join(lines), encoding="utf-8")
    run("predict", "iris.modes", "iris", "-o", "labels.csv")
    run("explore", "rows.csv", "-k", "2", "--no-open", "-o", "rows.html")


def stream():
    np.save("rows.npy", X)
    run("fit", "rows.npy", "-k", "3", "--stream", *FEW)


def zarr_file():
    if find_spec("zarr") is None:
        Path("rows.zarr").mkdir()
    else:
        import zarr

        zarr.save("rows.zarr", X)
    run("fit", "rows.zarr", "-k", "3", *FEW)


def hdf5_file():
    if find_spec("h5py") is None:
        Path("rows.h5").touch()
    else:
        import h5py

        with h5py.File("rows.h5", "w") as file:
            file["rows"] = X
    run("fit", "rows.h5", "-k", "3", *FEW)


def dask():
    import dask.array as da
    from distributed import Client

    fit_chunks(da.from_array(X, chunks=(50, 4)))
    with Client(processes=False, dashboard_address=None):
        fit_chunks(da.from_array(X, chunks=(50, 4)))


def zarr():
    import dask.array as da
    import zarr

    zarr.save("rows.zarr", X)
    fit_chunks(da.from_zarr("rows.zarr"))


def hdf5():
    import dask.array as da
    import h5py

    with h5py.File("rows.h5", "w") as file:
        file["rows"] = X
        fit_chunks(da.from_array(file["rows"], chunks=(50, 4)))


def fit_chunks(rows):
    from modeclust import KModes

    model = KModes(3, bandwidth=1.0, **QUICK)
    assert (model.fit(rows).labels_.compute() == model.fit(X).labels_).all()


def run(*arguments):
    """Run the command that was installed beside this Python."""
    command = Path(sys.executable).with_name("modeclust")
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
