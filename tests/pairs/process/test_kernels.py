import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from accord.errors import InputError
from accord.pairs.process.kernels import FAMILIES, Factor, Inputs, Kernel, Term, squared_distances
from accord.pairs.process.length_scales import half_mean_square, median_by_feature, median_distance
from accord.pairs.process.matern_product import product_gradient, product_matrix, product_rows


def plain_product(x, z, lengths):
    """Twin of the compiled product kernel: [SG18] section 5, feature by feature."""
    u = np.sqrt(3.0) * np.abs(x[:, None, :] - z[None, :, :]) / lengths
    return np.prod((1.0 + u) * np.exp(-u), axis=2)


def rows(rng, n, d, *, empty=0.6):
    return rng.normal(size=(n, d)) * (rng.random((n, d)) > empty)


@pytest.mark.parametrize("d", [1, 5, 64, 90])
def test_the_product_kernel_equals_its_plain_twin_dense_and_sparse(d):
    rng = np.random.default_rng(0)
    x, z, lengths = rows(rng, 7, d), rows(rng, 4, d), rng.uniform(0.5, 5.0, d)
    expected = plain_product(x, z, lengths)
    assert_allclose(product_matrix(x, z, lengths), expected, rtol=1e-10)
    assert_allclose(product_matrix(sp.csr_array(x), sp.csr_array(z), lengths), expected, rtol=1e-10)
    assert_allclose(product_matrix(x, x, lengths), plain_product(x, x, lengths), rtol=1e-10)
    assert_allclose(product_matrix(x[:4], z, lengths, paired=True), np.diag(expected[:4]), rtol=1e-10)


@pytest.mark.parametrize("values", ["presence", "counts", "many"])
def test_the_sparse_product_kernel_equals_its_plain_twin_for_few_and_many_different_values(values):
    rng = np.random.default_rng(2)
    x, z = rows(rng, 60, 8), rows(rng, 50, 8)
    if values != "many":
        most = 1 if values == "presence" else 6
        x, z = (np.minimum(np.ceil(np.abs(3.0 * part)), most) for part in (x, z))
    lengths, weights = rng.uniform(0.5, 5.0, 8), rng.normal(size=(60, 50))
    a, b = sp.csr_array(x), sp.csr_array(z)
    b.data[0] = 0.0  # a zero that is stored is a zero
    z = b.toarray()
    assert_allclose(product_matrix(a, b, lengths), plain_product(x, z, lengths), rtol=1e-10)
    assert_allclose(product_matrix(a, a, lengths), plain_product(x, x, lengths), rtol=1e-10)
    assert_allclose(product_matrix(a[:50], b, lengths, paired=True), np.diag(plain_product(x[:50], z, lengths)))
    dense = product_gradient(x, z, lengths, weights)
    assert_allclose(product_gradient(a, b, lengths, weights), dense, rtol=1e-9)
    paired = product_gradient(x[:50], z, lengths, weights[:50, 0], paired=True)
    assert_allclose(product_gradient(a[:50], b, lengths, weights[:50, 0], paired=True), paired, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_that_were_put_in_order_once_serve_all_length_scales(form):
    rng = np.random.default_rng(3)
    x, z, weights = rows(rng, 6, 40), rows(rng, 5, 40), rng.normal(size=(6, 5))
    a, b = product_rows(form(x)), product_rows(form(z))
    for lengths in rng.uniform(0.5, 5.0, (3, 40)):
        assert_allclose(product_matrix(a, b, lengths), plain_product(x, z, lengths), rtol=1e-10)
        assert_allclose(product_matrix(a, a, lengths), plain_product(x, x, lengths), rtol=1e-10)
        assert_allclose(product_gradient(a, b, lengths, weights), product_gradient(x, z, lengths, weights), atol=1e-12)
        assert_allclose(product_matrix(a, a, lengths, paired=True), 1.0)
        assert_allclose(product_gradient(a, a, lengths, weights[:, 0], paired=True), 0.0)


def test_the_product_kernel_survives_many_large_distances():
    x = sp.csr_array(np.full((1, 500), 1e6))
    assert product_matrix(x, sp.csr_array((1, 500)), np.ones(500))[0, 0] == 0.0
    assert_allclose(product_matrix(x, x, np.ones(500)), 1.0, rtol=1e-4)


def test_the_product_gradient_is_the_same_sparse_and_dense():
    rng = np.random.default_rng(1)
    x, z, lengths, weights = rows(rng, 6, 9), rows(rng, 5, 9), rng.uniform(1, 3, 9), rng.normal(size=(6, 5))
    dense = product_gradient(x, z, lengths, weights)
    assert_allclose(product_gradient(sp.csr_array(x), sp.csr_array(z), lengths, weights), dense, atol=1e-12)
    numeric = approx_fprime(
        np.log(lengths), lambda t: float(np.sum(weights * np.log(plain_product(x, z, np.exp(t))))), 1e-7
    )
    assert_allclose(dense, numeric, atol=1e-5)


def kernels(d):
    one, many = np.array([1.3]), np.linspace(0.8, 2.0, d)
    yield "sum", Kernel((Term("a", (Factor("matern", 0, one),)), Term("b", (Factor("linear", 1, one),)), Term("i", ())))
    yield "product", Kernel((Term("p", (Factor("rbf", 0, many, True), Factor("matern_product", 1, many, True))),))
    yield "ard", Kernel((Term("a", (Factor("matern", 1, many, True),)),))
    yield "published", Kernel((Term("p", (Factor("matern_product", 0, many), Factor("matern_product", 1, many))),))


@pytest.mark.parametrize("name", ["sum", "product", "ard", "published"])
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_kernel_gradient_matches_central_differences(name, paired, sparse):
    rng = np.random.default_rng(2)
    kernel = dict(kernels(4))[name]
    a, b, c, e = (rows(rng, 5, 4) for _ in range(4))
    form = sp.csr_array if sparse else np.asarray
    x = Inputs((form(a), form(b)), np.array([0, 1, 2, -1, 4]))
    z = Inputs((form(c), form(e)), np.array([0, 5, 2, -1, 7]))
    block = kernel.block(x, z, paired=paired)
    theta = rng.normal(size=kernel.n_parameters) * 0.3
    weights = rng.normal(size=block.value(theta).shape)
    numeric = [
        (np.sum(weights * block.value(theta + h)) - np.sum(weights * block.value(theta - h))) / 2e-6
        for h in 1e-6 * np.eye(theta.size)
    ]
    assert_allclose(block.gradient(theta, weights), numeric, atol=1e-6)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_sparse_features_give_the_same_kernel_as_dense_ones(family):
    rng = np.random.default_rng(3)
    x = rows(rng, 8, 6)
    kernel = Kernel((Term("t", (Factor(family, 0, np.array([1.0])),)),))
    index = np.arange(8)
    dense = kernel.block(Inputs((x,), index)).value(np.zeros(kernel.n_parameters))
    sparse = kernel.block(Inputs((sp.csr_array(x),), index)).value(np.zeros(kernel.n_parameters))
    assert_allclose(dense, sparse, atol=1e-12)
    assert_allclose(np.linalg.eigvalsh(dense).min(), 0.0, atol=np.linalg.eigvalsh(dense).max())
    assert np.linalg.eigvalsh(dense).min() > -1e-9


def test_the_item_effect_joins_only_the_same_item():
    kernel = Kernel((Term("item", ()),))
    x = Inputs((), np.array([3, -1, 5]))
    z = Inputs((), np.array([5, -1]))
    assert_allclose(kernel.block(x, z).value(np.log([2.0])), [[0, 0], [0, 0], [2, 0]])


def test_matern_at_one_length_scale_is_the_known_number():
    # (1 + √3) e^(−√3) = 0.4833577…, Rasmussen and Williams eq. 4.17
    kernel = Kernel((Term("m", (Factor("matern", 0, np.array([2.0])),)),))
    value = kernel.block(Inputs((np.array([[0.0], [2.0]]),), np.arange(2))).value(np.zeros(2))[0, 1]
    assert_allclose(value, 0.4833577, atol=1e-7)


def test_an_unknown_family_is_refused():
    with pytest.raises(InputError, match="must be one of"):
        Factor("cubic", 0, np.ones(1))
    with pytest.raises(InputError, match="at least one term"):
        Kernel(())


def test_medians_take_only_differences_that_are_not_zero():
    rng = np.random.default_rng(0)
    x = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 4.0], [1.0, 1.0, 7.0], [0.0, 1.0, 2.0]])
    # non-zero |differences|: first column all 1; second none; third 2, 5, 3, 2, 5 → median 3
    assert_allclose(median_by_feature(x, rng), 3 * np.array([1.0, 1.0, 3.0]))
    assert_allclose(median_by_feature(sp.csr_array(x), rng), median_by_feature(x, rng))


def test_distances_and_their_summaries():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4))
    expected = ((x[:, None] - x[None]) ** 2).sum(-1)
    assert_allclose(squared_distances(x, x), expected, atol=1e-12)
    upper = expected[np.triu_indices(30, 1)]
    assert_allclose(median_distance(x, rng), np.sqrt(np.median(upper)))
    assert_allclose(half_mean_square(sp.csr_array(x), rng), upper.mean() / 2)
    assert median_distance(np.ones((3, 2)), rng) == 1.0
