"""A checkpoint is data: one that was crafted, damaged or written by an older version is refused, and runs nothing."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stream_logs import as_tsv, rows

from querycloak.arrays.checks import BadStateError
from querycloak.arrays.container import HEAD, MAGIC, read_container, write_container
from querycloak.arrays.vocabulary import ByteCodes
from querycloak.errors import InputError, OutputError
from querycloak.live import runner
from querycloak.live.runner import Run, run_stream
from querycloak.methods.stream.stream_statement import StreamSettings


class StopError(Exception):
    pass


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A run that was killed after its second checkpoint, its files, and what it should come to."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "log").write_bytes(as_tsv(rows(900, users=40)))
    run = Run(
        "self-adjusting",
        StreamSettings(k=3, depth=2, min_query_users=2),
        folder / "log",
        folder / "release",
        checkpoint=folder / "state",
        checkpoint_records=300,
        seed=7,
    )
    patch = pytest.MonkeyPatch()
    patch.setattr(runner, "PIECE", 10_000)
    run_stream(run)
    whole = run.output.read_bytes()
    (run.checkpoint / "finished").unlink()
    save, done = runner.Checkpoint.save, []

    def dying(self, saved):
        save(self, saved)
        done.append(1)
        if len(done) == 2:
            raise StopError

    with patch.context() as dead:
        dead.setattr(runner.Checkpoint, "save", dying)
        with pytest.raises(StopError):
            run_stream(run)
    yield run, (folder / "state" / "state").read_bytes(), run.output.read_bytes(), whole
    patch.undo()


def go_on(started, state):
    """Continue the run from this state; None = refused."""
    run, _, output, _ = started
    run.checkpoint.mkdir(exist_ok=True)
    run.checkpoint.joinpath("finished").unlink(missing_ok=True)
    run.checkpoint.joinpath("state").write_bytes(state)
    run.checkpoint.joinpath("state").chmod(0o600)
    run.output.write_bytes(output)
    run_stream(run)
    return run.output.read_bytes()


def parts(state):
    arrays, values = read_container(io.BytesIO(state), len(state))
    return {name: array.copy() for name, array in arrays.items()}, values


def sealed(arrays, values):
    file = io.BytesIO()
    write_container(file, arrays, values)
    return file.getvalue()


def test_it_goes_on(started):
    assert go_on(started, started[1]) == started[3]
    assert go_on(started, sealed(*parts(started[1]))) == started[3]


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_pickle_is_not_opened(started, tmp_path, protocol):
    bomb = pickle.dumps(Payload(tmp_path / "pwned"), protocol=protocol)
    for state in (bomb, bomb + bytes(200), MAGIC + bomb):
        with pytest.raises(InputError, match="remove it to begin again"):
            go_on(started, state)
    with pytest.raises(InputError, match="made by an older version"):
        go_on(started, bomb + bytes(200))
    assert not (tmp_path / "pwned").exists()


def header(text, payload=b""):
    body = HEAD.pack(MAGIC, 1, len(text)) + text + payload
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"no state",
        MAGIC,
        MAGIC + struct.pack("<IQ", 1, 1 << 60),
        header(b"{}"),
        header(b"[" * 100_000),
        header(b'{"arrays": [], "values": NaN}'),
        header(b'{"arrays": [], "values": {}}'),
        header(b'{"arrays": [["a", "|O", 1]], "values": {}}', bytes(8)),
        header(b'{"arrays": [["a", "<i8", 1000000000000000]], "values": {}}', bytes(8)),
        header(b'{"arrays": [["a", "<i8", -1]], "values": {}}', bytes(8)),
        header(b'{"arrays": [["a", "<i8", 1.0]], "values": {}}', bytes(8)),
        header(b'{"arrays": [["a", "<i8", 1], ["a", "<i8", 1]], "values": {}}', bytes(16)),
        header(b'{"arrays": [["a", "<i8", 1]], "values": {}}', bytes(9)),
        header(b'{"arrays": [["a", "<i8", 1]], "values": {"version": ' + b"9" * 5000 + b"}}", bytes(8)),
    ],
)
def test_no_container(started, state):
    with pytest.raises(InputError, match=r"the checkpoint cannot be read.*remove it to begin again"):
        go_on(started, state)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_damage_is_found(started, data):
    """A flipped, added or missing byte anywhere."""
    state = bytearray(started[1])
    at = data.draw(st.integers(0, len(state) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    if kind == "flip":
        state[at] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del state[at:]
    else:
        state.insert(at, data.draw(st.integers(0, 255)))
    with pytest.raises(InputError):
        go_on(started, bytes(state))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_a_crafted_state_is_refused_or_harmless(started, data):
    """Values changed and sealed again, with a digest that fits: refused in one sentence, or a run to its end."""
    arrays, values = parts(started[1])
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(sorted(arrays)))
        array = arrays[name]
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        number = st.sampled_from([0, 1, high, low, high // 2]) | st.integers(max(low, -5), min(high, 2000))
        kind = data.draw(st.sampled_from(["set", "swap", "shorten", "lengthen", "type", "drop"]))
        if kind == "set" and len(array):
            array[data.draw(st.integers(0, len(array) - 1))] = data.draw(number)
        elif kind == "swap" and len(array):
            i, j = (data.draw(st.integers(0, len(array) - 1)) for _ in range(2))
            array[[i, j]] = array[[j, i]]
        elif kind == "shorten":
            arrays[name] = array[: data.draw(st.integers(0, len(array)))]
        elif kind == "lengthen":
            arrays[name] = np.append(array, np.array([data.draw(number)], dtype=array.dtype))
        elif kind == "type":
            arrays[name] = array.astype(data.draw(st.sampled_from([np.uint8, np.int32, np.int64, np.uint64])))
        elif kind == "drop":
            del arrays[name]
    try:
        out = go_on(started, sealed(arrays, values))
    except InputError:
        return
    assert out.startswith(started[2][:100])


def test_categories_that_are_no_texts_are_refused(started):
    arrays, values = parts(started[1])
    arrays["reader.categories.texts"][13] = 0xFF
    with pytest.raises(InputError, match="categories are texts"):
        go_on(started, sealed(arrays, values))


def numbers(values, path=()):
    """Every number in nested values, by its path."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from numbers(value, (*path, key))
        elif isinstance(value, int | float):
            yield (*path, key)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_crafted_values_are_refused_or_harmless(started, data):
    arrays, values = parts(started[1])
    path = data.draw(st.sampled_from(sorted(numbers(values))))
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = data.draw(
        st.sampled_from([-1, 0, 1, 1 << 31, 1 << 62, 1 << 63, 1 << 90, 1.5, "x", None, [], {}, True])
    )
    with contextlib.suppress(InputError, OutputError):  # the latter where the output is shorter than it says
        go_on(started, sealed(arrays, values))


def test_a_link_is_not_followed(started, tmp_path):
    (tmp_path / "elsewhere").write_bytes(started[1])
    run = started[0]
    run.checkpoint.mkdir(exist_ok=True)
    for name in ("state", "finished"):
        (run.checkpoint / name).unlink(missing_ok=True)
    (run.checkpoint / "state").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="cannot be opened"):
        run_stream(run)
    (run.checkpoint / "state").unlink()


def test_the_header_is_plain_json_and_holds_no_query(started):
    _, _, length = HEAD.unpack(started[1][: HEAD.size])
    text = started[1][HEAD.size : HEAD.size + length]
    assert json.loads(text)["values"]["run"]["k"] == 3
    assert b"query, number" not in text


@given(st.lists(st.binary(min_size=1, max_size=12), max_size=40))
def test_byte_codes_there_and_back(words):
    codes = ByteCodes()
    for word in words:
        codes.add(word)
    back = ByteCodes.from_arrays(codes.to_arrays())
    assert [back.text(c) for c in range(len(back))] == [codes.text(c) for c in range(len(codes))]
    assert [back.add(word) for word in words] == [codes.add(word) for word in words]


@pytest.mark.parametrize(
    ("texts", "ends"), [(b"abab", [2, 4]), (b"ab", [0, 2]), (b"ab", [1]), (b"ab", [2, 1]), (b"ab", [3]), (b"", [1])]
)
def test_texts_that_cannot_be(texts, ends):
    with pytest.raises(BadStateError):
        ByteCodes.from_arrays({"texts": np.frombuffer(texts, np.uint8), "ends": np.array(ends, np.int64)})
