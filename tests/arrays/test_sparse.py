"""Sparse matrices against SciPy's, with empty rows, equal pairs and no entries at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from querycloak.arrays.sparse import Sparse


@st.composite
def entries(draw, width=None):
    rows, width = draw(st.integers(1, 6)), width or draw(st.integers(1, 6))
    pairs = draw(
        st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, width - 1), st.integers(1, 9)), max_size=30)
    )
    row, column, value = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in range(3))
    return row, column, value.astype(np.float32), (rows, width)


def both(made):
    row, column, value, shape = made
    theirs = coo_array((value, (row, column)), shape=shape).tocsr()
    return Sparse.of(row, column, value, shape), theirs


@given(entries())
def test_equal_pairs_are_added_up(made):
    found, theirs = both(made)
    assert found.start.tolist() == theirs.indptr.tolist()
    assert found.column.tolist() == theirs.indices.tolist()
    assert found.value.tolist() == theirs.data.tolist()
    assert (found.rows, found.value.dtype, found.column.dtype) == (theirs.shape[0], np.float32, np.int32)


@given(entries(), st.data())
def test_rows_columns_and_zeros(made, data):
    found, theirs = both(made)
    assert found.dense().tolist() == theirs.toarray().tolist()
    turned = theirs.T.tocsr()
    assert [a.tolist() for a in found.transposed()[:3]] == [
        turned.indptr.tolist(),
        turned.indices.tolist(),
        turned.data.tolist(),
    ]
    which = np.array(data.draw(st.lists(st.integers(0, found.rows - 1), max_size=8)), dtype=np.int64)
    assert found.take(which).dense().tolist() == theirs[which].toarray().tolist()


@given(st.data())
def test_products(data):
    """A row of a product has its columns in SciPy's order, so that sums over it are the same to the last bit."""
    left = data.draw(entries())
    found, theirs = both(left)
    _, column, value, (_, width) = data.draw(entries())
    row = np.array(
        data.draw(st.lists(st.integers(0, left[3][1] - 1), min_size=len(column), max_size=len(column))), dtype=np.int64
    )
    other, theirs_other = both((row, column, value, (left[3][1], width)))
    product, expected = found.times(other), theirs @ theirs_other
    assert product.start.tolist() == expected.indptr.tolist()
    assert product.column.tolist() == expected.indices.tolist()
    assert product.value.tolist() == expected.data.tolist()
    assert (product.width, product.value.dtype) == (width, np.float32)


def test_products_with_dense_matrices_are_the_same_to_the_last_bit():
    random = np.random.default_rng(1)
    row, column = random.integers(0, 40, 500), random.integers(0, 60, 500)
    keep = np.unique(row * 60 + column, return_index=True)[1]
    row, column = row[keep], column[keep]
    value, dense = random.random(len(row)), random.random((60, 7))
    found = Sparse.of(row, column, value, (40, 60))
    theirs = csr_array((value, (row, column)), shape=(40, 60))
    assert found.times_dense(dense).tolist() == (theirs @ dense).tolist()
    assert found.times_dense(np.asfortranarray(dense)).tolist() == (theirs @ dense).tolist()
    single, which = dense[:, 0].astype(np.float32), np.array([3, 3, 0, 39])
    found, theirs = found._replace(value=value.astype(np.float32)), theirs.astype(np.float32)
    assert found.dot_rows(which, single).tolist() == (theirs[which] @ single).tolist()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing(shape):
    none = np.empty(0, dtype=np.int64)
    found = Sparse.of(none, none, np.empty(0), shape)
    assert found.dense().shape == shape
    assert found.transposed().dense().shape == shape[::-1]
