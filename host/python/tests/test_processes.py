"""Threads, processes, signals, progress."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import trioxide
from trioxide import _device


def polygon_count(n):
    return len(trioxide.polylla(trioxide.generate("random", n, device="cpu", seed=1), device="cpu").offsets) - 1


def test_threads_compute_at_the_same_time(plane):
    expected = trioxide.smooth(plane, max_iterations=50, device="cpu").points
    polygons = trioxide.polylla(plane, device="cpu").vertices
    results = [None] * 12

    def work(i):
        if i % 2:
            results[i] = trioxide.smooth(plane, max_iterations=50, device="cpu").points
        else:
            results[i] = trioxide.polylla(plane, device="cpu").vertices

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, expected if i % 2 else polygons)


def test_other_threads_run_meanwhile(plane):
    """Without the GIL: a thread counts while another computes."""
    ticks, done = 0, threading.Event()

    def work():
        try:
            trioxide.smooth(plane, max_iterations=2000, device="cpu")
        finally:
            done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 5


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()])
def test_processes(method):
    # Threads and the device of this process are started before.
    expected = polygon_count(500)
    context = multiprocessing.get_context(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with context.Pool(2) as pool:
            assert pool.map_async(polygon_count, [500, 500, 500]).get(timeout=120) == [expected] * 3


def test_a_forked_process_uses_what_was_on_the_device(plane):
    """Meshes in the CPU's memory, and those of another device object."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork")
    there = plane.to_device("cpu")
    expected = trioxide.smooth(there, max_iterations=5).points.numpy()
    again = trioxide.smooth(there, max_iterations=5, device=trioxide.Device("cpu", threads=1)).points.numpy()
    np.testing.assert_array_equal(again, expected)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def work():
        queue.put(trioxide.smooth(there, max_iterations=5).points.numpy())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = context.Process(target=work)
        child.start()
    np.testing.assert_array_equal(queue.get(timeout=120), expected)
    child.join()
    assert child.exitcode == 0


def test_threads_share_what_is_on_the_device(plane):
    there = plane.to_device("cpu")
    expected = trioxide.refine(there, rounds=2).points.numpy()
    results = [None] * 6

    def work(i):
        results[i] = trioxide.refine(there, rounds=2).points.numpy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_optimised_python():
    code = "import trioxide; print(len(trioxide.polylla(trioxide.generate('random', 1000, device='cpu', seed=1), device='cpu').offsets) - 1)"
    for option in ("-O", "-OO"):
        result = subprocess.run([sys.executable, option, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout.strip() == "316"


without_signals = pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a process there")


@pytest.fixture
def ctrl_c():
    """Lets SIGINT raise `KeyboardInterrupt`, which Python does not where a script's background job inherits an ignored one.

    The function sends it, half a second after it is called, and returns a list that then has the time.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def send_soon():
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timers.append(threading.Timer(0.5, send))
        timers[-1].start()
        return sent

    yield send_soon
    for timer in timers:
        timer.cancel()
    signal.signal(signal.SIGINT, before)


def minutes(mesh, **options):
    """Smooths for half a minute and more, unless something ends it; a test that fails does not hang."""
    return trioxide.smooth(mesh, max_iterations=100_000, device="cpu", **options)


@without_signals
def test_ctrl_c_ends_a_computation(ctrl_c):
    """Smoothing of a long while ends between two batches of sweeps, and the next computation runs."""
    mesh = trioxide.generate("random", 20000, device="cpu", seed=2)
    sent = ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        minutes(mesh)
    # A second on an idle machine.
    assert time.monotonic() - sent[0] < 5
    assert trioxide.smooth(mesh, max_iterations=1, device="cpu").sweeps == 1


@without_signals
@pytest.mark.parametrize("name", ["selftest", "vem"])
def test_ctrl_c_ends_what_has_no_stages_on_a_device(name, cpu, ctrl_c):
    """The whole call takes several times as long as the bound."""
    large = trioxide.generate("jittered", 400_000) if name == "vem" else None
    works = {
        "selftest": lambda: trioxide.selftest(device=cpu),
        "vem": lambda: trioxide.vem(large),
    }
    sent = ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        works[name]()
    assert time.monotonic() - sent[0] < 5


@without_signals
@pytest.mark.parametrize(("sent", "expected"), [(signal.SIGINT, 7), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_ignored_ctrl_c_stays_ignored(sent, expected):
    """A background job of a script inherits an ignored SIGINT; SIGTERM ends it."""
    code = (
        "import sys, trioxide\n"
        "mesh = trioxide.generate('random', 20000, device='cpu', seed=2)\n"
        "calls = []\n"
        "def progress(*now):\n"
        "    calls.append(now)\n"
        "    if len(calls) == 1:\n"
        "        print('sweeps', flush=True)\n"
        "        sys.stdin.readline()\n"
        "    elif len(calls) == 3:\n"
        "        sys.exit(7)\n"
        "trioxide.smooth(mesh, max_iterations=100_000, device='cpu', progress=progress)\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        assert started.stdout.readline() == "sweeps\n"
        started.send_signal(sent)
        started.communicate("\n", timeout=120)
    finally:
        started.kill()
    assert started.returncode == expected


def test_progress_is_told_and_an_exception_there_ends_the_computation():
    class Enough(Exception):
        pass

    seen = []

    def stop(*now):
        seen.append(now)
        if now[1] == "sweep":
            raise Enough

    mesh = trioxide.generate("random", 20000, device="cpu", seed=2)
    with pytest.raises(Enough):
        minutes(mesh, progress=stop)
    stage, _, done, total = seen[-1]
    assert isinstance(stage, str) and done <= total == 100_000


def test_progress_as_a_bar(plane):
    pytest.importorskip("tqdm")
    trioxide.smooth(plane, max_iterations=2000, device="cpu", progress=True)
    with pytest.raises(TypeError, match="progress"):
        trioxide.smooth(plane, device="cpu", progress=3)


def test_stages_are_timed(plane):
    device = trioxide.Device("cpu")
    trioxide.polylla(plane, device=device)
    names = [name for name, milliseconds in device.timings]
    assert len(names) > 3 and len(set(names)) == len(names)
    assert all(milliseconds >= 0 for _, milliseconds in device.timings)


def test_devices_by_name():
    with pytest.raises(ValueError, match='device "gpu" is not known'):
        trioxide.Device("gpu")
    with pytest.raises(ValueError, match="command line"):
        trioxide.Device("serial")
    assert trioxide.Device("cpu", threads=1).name == "CPU, 1 thread"
    if not trioxide.devices()["devices"]:
        # A device that is asked for by name is never another one.
        with pytest.raises(RuntimeError):
            trioxide.Device("cuda:0")
        with pytest.raises(RuntimeError):
            trioxide.weld([[0, 0]], epsilon=1.0, device="cuda:0")


def test_the_fallback_is_told_once():
    if trioxide.devices()["devices"]:
        pytest.skip("there is a GPU: nothing to fall back from")
    code = (
        "import warnings, trioxide\n"
        "mesh = trioxide.generate('grid', 9)\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    trioxide.polylla(mesh); trioxide.polylla(mesh); trioxide.smooth(mesh)\n"
        "print([str(w.message) for w in seen])"
    )
    told = eval(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert len(told) == 1 and told[0].startswith("device='auto' is the CPU: ")


def test_auto_goes_on_with_the_cpu_where_the_memory_of_a_gpu_does_not_suffice(monkeypatch):
    class Full:
        is_gpu = True
        fallback = None

    full = Full()
    monkeypatch.setattr(_device, "opened", lambda name: full if name in ("auto", full) else trioxide.Device(name))

    def work(on):
        if on is full:
            raise MemoryError("1 byte is free")
        return on.is_gpu

    with pytest.warns(RuntimeWarning, match="goes on with the CPU: 1 byte is free"):
        assert _device.run_on("auto", work) is False
    # A device that was named is never another one.
    with pytest.raises(MemoryError):
        _device.run_on(full, work)


def test_transfers_are_counted(plane):
    device = trioxide.Device("cpu")
    assert device.transferred == (0, 0)
    trioxide.polylla(plane, device=device)
    to_device, to_host = device.transferred
    # Points of the plane in two columns, triangles; offsets and vertices come back.
    assert to_device >= 16 * len(plane.points) + 12 * len(plane.triangles)
    assert to_host > 0
