# SPDX-License-Identifier: BSL-1.0
"""The module from Python: memory is shared in both directions, and mistakes are exceptions with Tenure's messages."""
import gc
import sys
import threading

import numpy as np
import pytest

import tenure_example as te


def points(n=5):
    random = np.random.default_rng(0)
    return random.normal(size=(n, 3)), random.uniform(1, 2, size=n)


def test_a_function_reads_numpy_arrays():
    x, m = points()
    np.testing.assert_allclose(te.center_of_mass(x, m), m @ x / m.sum(), rtol=1e-14)


def test_strides_are_read_as_they_are():
    x, m = points(20)
    wide = np.zeros((3, 40))
    wide[:, ::2] = x.T
    np.testing.assert_allclose(te.center_of_mass(wide.T[::2], m), m @ x / m.sum(), rtol=1e-14)


def test_a_compiled_gradient():
    x, y = points()
    w = np.array([1.0, -2.0, 0.5])
    value, gradient = te.loss_and_gradient(w, x, y)
    error = x @ w - y
    np.testing.assert_allclose(value, np.mean(error**2), rtol=1e-14)
    np.testing.assert_allclose(gradient, 2 * x.T @ error / len(y), rtol=1e-13)


def test_numpy_sees_what_cpp_writes():  # torch.from_numpy shares memory, too
    x = np.full((2, 8), 3.0, np.float32)
    te.normalize_(x[:, ::2])
    np.testing.assert_allclose(x, np.where(np.arange(8) % 2 == 0, 1 / np.sqrt(8), 3.0) * np.ones((2, 1)), rtol=1e-6)


def test_read_only_arrays_are_const_types():  # torch.from_numpy only warns, and writes
    x, m = points()
    x.flags.writeable = False
    assert te.center_of_mass(x, m).shape == (3,)
    frozen = np.ones((2, 2), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="tenure: from_dlpack: the memory is read-only"):
        te.normalize_(frozen)
    assert (frozen == 1).all()


def test_arrays_of_a_model_show_each_step():  # as x.detach().numpy() shares memory
    x, y = (a.astype(np.float32) for a in points(64))
    trainer = te.Trainer()
    w, b = trainer.w, trainer.b
    before = w.copy()
    losses = [trainer.step(x, y) for _ in range(300)]
    assert losses[-1] < 0.1 * losses[0]
    assert (w != before).all() and np.shares_memory(w, trainer.w)
    np.testing.assert_allclose(np.mean((x @ w + b - y) ** 2), trainer.step(x, y), rtol=1e-4)
    w[:] = 0  # and the model sees what NumPy writes
    assert trainer.step(x, y) > losses[-1]


def test_memory_outlives_its_trainer():
    trainer = te.Trainer()
    last = trainer.w[1:]
    last[:] = [2, 3]
    del trainer
    gc.collect()
    others = [te.Trainer() for _ in range(100)]
    assert (last == [2, 3]).all() and len(others) == 100


def test_memory_of_an_argument_is_released():
    x, m = points()
    held = sys.getrefcount(x)
    for _ in range(3):
        te.center_of_mass(x, m)
    assert sys.getrefcount(x) == held


@pytest.mark.parametrize("x, m, message", [
    (np.ones((2, 4)), np.ones(2), r"tenure: from_dlpack: shape 2x4 does not fit shape \?x3"),
    (np.ones(3), np.ones(1), "tenure: from_dlpack: 1 axes, but the shape has 2"),
    (np.ones((2, 3), np.float32), np.ones(2), "tenure: from_dlpack: the elements are not float64"),
    (np.ones((2, 3)), np.ones(5), "tenure: matmul"),
    (np.ones((4, 3))[::-1], np.ones(4), "tenure: from: stride -3 of axis 0 is negative"),
])
def test_wrong_arrays_are_value_errors(x, m, message):
    with pytest.raises(ValueError, match=message):
        te.center_of_mass(x, m)


def test_an_array_may_be_optional():
    x, _ = points()
    np.testing.assert_allclose(te.center_of_mass(x), x.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(te.center_of_mass(x, masses=None), x.mean(axis=0), rtol=1e-14)
    with pytest.raises(ValueError, match="tenure: from_dlpack: the elements are not float64"):
        te.center_of_mass(x, np.ones(5, np.float32))
    with pytest.raises(TypeError):
        te.center_of_mass(x, "masses")


def test_a_list_of_arrays():
    a, b = np.array([1, 2, 3], np.float32), np.array([3, 2, 1], np.float32)
    assert (te.average([a, b]) == 2).all()
    assert (te.average(np.stack([a, b])) == 2).all()  # rows
    with pytest.raises(ValueError, match="tenure: from_dlpack: 2 axes, but the shape has 1"):
        te.average([a, np.ones((2, 2), np.float32)])
    with pytest.raises(ValueError, match="tenure: add: shapes 3 and 2 disagree"):
        te.average([a, np.ones(2, np.float32)])
    with pytest.raises(TypeError):
        te.average([a, "b"])
    with pytest.raises(TypeError):
        te.average(3)
    with pytest.raises(IndexError):
        te.average([])
    held = sys.getrefcount(a)
    for _ in range(3):
        te.average((a, b))
    assert sys.getrefcount(a) == held


def test_what_is_no_array_is_a_type_error():
    with pytest.raises(TypeError):
        te.center_of_mass("points", np.ones(2))


def test_other_threads_run_meanwhile():
    x = np.ones((1000, 10000), np.float32)
    iterations, stop = [0], []

    def count():
        while not stop:
            iterations[0] += 1

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.2)  # so the thread counts only while this one has no GIL
    try:
        thread.start()
        before = iterations[0]
        te.normalize_(x)
        counted = iterations[0] - before
    finally:
        stop.append(True)
        sys.setswitchinterval(interval)
        thread.join()
    assert counted > 0


def test_pytorch():
    torch = pytest.importorskip("torch")
    x, m = points()
    np.testing.assert_allclose(te.center_of_mass(torch.from_numpy(x), torch.from_numpy(m)), m @ x / m.sum(), rtol=1e-14)
    t = torch.full((2, 2), 2.0)
    te.normalize_(t)
    assert torch.equal(t, torch.full((2, 2), 0.5))
    trainer = te.Trainer()
    w = torch.from_dlpack(trainer.w)
    w.fill_(7)
    assert (trainer.w == 7).all()


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((2, 3), "float32")
    trainer = te.Trainer()
    assert trainer.step(x, x[:, 0]) >= 0
    with pytest.raises(ValueError, match="tenure: from_dlpack: the memory is read-only"):  # arrays of JAX do not change
        te.normalize_(x)
    before = np.asarray(trainer.w).copy()
    assert (jax.dlpack.from_dlpack(trainer.w) == before).all()


def test_tensors_of_pytorch():  # by DLPack's functions of C, from PyTorch 2.10 on
    torch = pytest.importorskip("torch")
    x, m = map(torch.from_numpy, points())
    held = sys.getrefcount(x)
    np.testing.assert_allclose(te.center_of_mass(x, m), (m @ x / m.sum()).numpy(), rtol=1e-14)
    np.testing.assert_allclose(te.center_of_mass(x[::2], m[::2]), (m[::2] @ x[::2] / m[::2].sum()).numpy(), rtol=1e-14)
    assert sys.getrefcount(x) == held
    rows = torch.full((2, 8), 3.0)
    te.normalize_(rows[:, ::2])
    np.testing.assert_allclose(rows[:, ::2], np.full((2, 4), 1 / np.sqrt(8)), rtol=1e-6)
    assert (rows[:, 1::2] == 3).all()
    with pytest.raises(ValueError, match="tenure: from_dlpack: 1 axes, but the shape has 2"):
        te.center_of_mass(m, m)
    negatives = torch.complex(torch.zeros(5, 3, dtype=torch.float64), x).conj().imag
    assert negatives.is_neg()
    with pytest.raises(ValueError, match="the memory has the negatives of the elements"):
        te.center_of_mass(negatives, m)
    with pytest.raises(ValueError, match="the tensor requires a gradient"):
        te.normalize_(torch.ones(2, 2, requires_grad=True))
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        te.center_of_mass(torch.empty(5, 3, dtype=torch.float64, device="meta"), m)
    np.testing.assert_allclose(te.center_of_mass(torch.resolve_neg(negatives), m), -(m @ x / m.sum()).numpy(), rtol=1e-14)
