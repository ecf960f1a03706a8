"""Numbers of pairs, against NumPy's own over an axis."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from querycloak.arrays.pairs import number_pairs

FEW = st.integers(-3, 3)
ANY = st.integers(-(2**63), 2**63 - 1)


@given(pairs=st.integers(0, 30).flatmap(lambda n: arrays(np.int64, (n, 2), elements=st.one_of(FEW, ANY))))
def test_equals_numpy_over_rows(pairs):
    _, of, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    found = number_pairs(pairs[:, 0], pairs[:, 1])
    np.testing.assert_array_equal(found[0], of.ravel())
    np.testing.assert_array_equal(found[1], counts)
