from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
from threadpoolctl import threadpool_info

from modeclust.rows.blas import one_blas_thread


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_as_many_as_before_outside():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_threads_that_come_and_go_leave_no_limit_behind():
    before = blas_threads()
    barrier = Barrier(4)

    def use(_):
        for _ in range(20):
            with one_blas_thread():
                pass
        barrier.wait(timeout=30)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    assert blas_threads() == before
