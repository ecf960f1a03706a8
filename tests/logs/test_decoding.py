"""Encodings, old line ends and JSON arrays: read as text, and written back as they were."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from stream_logs import as_csv, as_jsonl, as_tsv, rows

from querycloak.errors import InputError, OutputError
from querycloak.live import runner
from querycloak.live.runner import Run, run_stream
from querycloak.logs.decoding import Decoder, Encoder, Wrapping
from querycloak.logs.form import LogForm
from querycloak.logs.query_log import QueryLog
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log
from querycloak.methods.stream.stream_statement import StreamSettings

TEXT = "user\tquery\r\n1\tcaf\u00e9\r\n2\t\u00a3 tea\r\n"


def again(tmp_path, data: bytes, options: ReadOptions | None = None) -> tuple[QueryLog, bytes]:
    (tmp_path / "log").write_bytes(data)
    log = read_log(tmp_path / "log", options)
    write_log(log, tmp_path / "out")
    return log, (tmp_path / "out").read_bytes()


@pytest.mark.parametrize(
    ("data", "encoding", "found"),
    [
        (TEXT.encode(), "auto", "utf-8"),
        (TEXT.encode("utf-8-sig"), "utf-8", "utf-8"),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "auto", "utf-16-le"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16", "utf-16-be"),
        (TEXT.encode("utf-16-le"), "utf-16", "utf-16-le"),
        (TEXT.encode("latin-1"), "latin-1", "latin-1"),
        (TEXT.replace("\r\n", "\r").encode("latin-1"), "latin-1", "latin-1"),
        (b"\xff\xfe" + TEXT.replace("\r\n", "\r").encode("utf-16-le"), "auto", "utf-16-le"),
        (b"\xff\xfe" + TEXT[:-2].encode("utf-16-le"), "auto", "utf-16-le"),
    ],
)
def test_encodings(tmp_path, data, encoding, found):
    log, out = again(tmp_path, data, ReadOptions(encoding=encoding))
    assert log.queries.to_list() == ["caf\u00e9", "\u00a3 tea"]
    assert log.form.encoding == found
    assert out == data


def test_utf_16_that_is_cut_or_broken_is_a_bad_line(tmp_path):
    data = b"\xff\xfe" + "user\tquery\na\ttea\nb\tcup\n".encode("utf-16-le")
    broken = data.replace("e".encode("utf-16-le") + "a".encode("utf-16-le"), b"\x00\xd8a\x00")
    with pytest.raises(InputError, match="line 2: expected text in UTF-16, found bytes that are not"):
        again(tmp_path, broken)
    log, _ = again(tmp_path, broken, ReadOptions(on_error="skip"))
    assert log.queries.to_list() == ["cup"]
    with pytest.raises(InputError, match="line 3: expected text in UTF-16"):
        again(tmp_path, data[:-3])


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.integers(1, 9)), st.sampled_from(["le", "be"]))
def test_utf_16_in_pieces(text, sizes, order):
    data, out = text.encode(f"utf-16-{order}"), b""
    decoder = Decoder(Wrapping(f"utf-16-{order}"))
    for size in sizes:
        out += decoder.decode(data[:size])
        data = data[size:]
        assert decoder.raw_size(out) == len(text.encode(f"utf-16-{order}")) - len(data)
    assert out + decoder.decode(data, final=True) == text.encode()


def test_what_has_no_place_in_latin_1_is_refused(tmp_path):
    with pytest.raises(OutputError, match="write UTF-8 instead"):
        write_log(QueryLog.of(["a"], ["\u4f60"]), tmp_path / "out", LogForm("tsv", (), encoding="latin-1"))
    assert not (tmp_path / "out").exists()


ROWS = [{"user": 1, "query": 'tea "[{,}]"', "more": [{"a": 1}]}, {"user": "b", "query": "cup\n", "more": {}}]


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("end", ["", "\n", " \r\n\n"])
def test_arrays(tmp_path, indent, end):
    log, out = again(tmp_path, (json.dumps(ROWS, indent=indent) + end).encode())
    assert log.queries.to_list() == ['tea "[{,}]"', "cup\n"]
    assert log.extra["more"].to_list()[1] == "{}"
    assert log.problems == {}
    assert out.startswith(b"[\n{")
    written = json.loads(out)
    assert [(str(row["user"]), row["query"], row["more"]) for row in written] == [
        (str(row["user"]), row["query"], row["more"]) for row in ROWS
    ]
    assert again(tmp_path, out)[1] == out


def test_an_array_of_nothing(tmp_path):
    with pytest.raises(InputError, match="no line that can be read"):
        again(tmp_path, b"[ ]\n")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'[{"user":1,"query":"a"},{"user":2,"query":"b"', "object 2: expected one JSON object"),
        (b'[{"user":1,"query":"a"},{"user":2,"query":"b"},', "object 3: expected one JSON object"),
        (b'[{"user":1,"query":"a"},{"user":2,"query":"b\nc"}]', "object 2: expected one JSON object"),
        (b'[{"user":1,"query":"a"}] x', "object 2: expected one JSON object"),
        (b'[{"user":1,"query":"a"},7]', "object 2: expected one JSON object"),
    ],
)
def test_broken_arrays(tmp_path, data, sentence):
    with pytest.raises(InputError, match=sentence):
        again(tmp_path, data)
    log, _ = again(tmp_path, data, ReadOptions(on_error="skip"))
    assert log.queries.to_list()[0] == "a"
    assert log.problems == {"malformed lines, left out": 1}


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), min_size=1), min_size=1), st.integers(1, 9))
def test_arrays_in_pieces(elements, size):
    data = json.dumps(elements, indent=1, ensure_ascii=False).encode(errors="replace")
    decoder = Decoder(Wrapping(array=True))
    out = b"".join(decoder.decode(data[i : i + size]) for i in range(0, len(data), size)) + decoder.decode(
        b"", final=True
    )
    lines = [json.loads(line) for line in out.split(b"\n") if line.strip()]
    assert lines == json.loads(data)
    encoder = Encoder(Wrapping(array=True))
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    assert json.loads(encoder.head(b"") + bytes(encoder.lines(text)) + encoder.tail()) == lines


def live(tmp_path, data: bytes, **options):
    (tmp_path / "log").write_bytes(data)
    settings = StreamSettings(k=3, depth=2, ids="original", as_in_paper=True)
    out = tmp_path / options.pop("name", "release")
    run_stream(Run("self-adjusting", settings, tmp_path / "log", out, seed=1, **options))
    return out.read_bytes()


@pytest.mark.parametrize("make", [as_tsv, as_csv, as_jsonl])
@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"", "latin-1")]
)
def test_live_in_other_encodings_is_the_same_stream(tmp_path, make, mark, encoding):
    plain = live(tmp_path, make(rows(600)))
    coded = mark + make(rows(600)).decode().encode(encoding)
    asked = "latin-1" if encoding == "latin-1" else "auto"
    assert live(tmp_path, coded, options=ReadOptions(encoding=asked)) == mark + plain.decode().encode(encoding)


def test_live_with_old_line_ends(tmp_path):
    plain = live(tmp_path, as_tsv(rows(600)))
    assert live(tmp_path, as_tsv(rows(600), "\r")) == plain.replace(b"\n", b"\r")


def test_live_over_an_array(tmp_path):
    lines = live(tmp_path, as_jsonl(rows(600)))
    table = [json.loads(line) for line in as_jsonl(rows(600)).splitlines()]
    out = live(tmp_path, json.dumps(table, indent=1, ensure_ascii=False).encode())
    assert json.loads(out) == [json.loads(line) for line in lines.splitlines()]


@pytest.mark.parametrize("kind", ["array", "utf-16", "cr"])
def test_live_goes_on_after_a_checkpoint_in_every_wrapping(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(runner, "PIECE", 20_000)
    monkeypatch.setattr("querycloak.live.pipes.LONGEST_LINE", 20_000)  # without a line feed, so much is read at first
    table = rows(9000, users=200)
    if kind == "array":
        data = json.dumps([json.loads(line) for line in as_jsonl(table).splitlines()], ensure_ascii=False).encode()
    else:
        data = as_tsv(table, "\r" if kind == "cr" else "\n").decode().encode("utf-16" if kind == "utf-16" else "utf-8")
    whole = live(tmp_path, data, name="whole")
    save, done = runner.Checkpoint.save, []

    def dying(self, saved):
        save(self, saved)
        done.append(1)
        if len(done) == 2:
            raise RuntimeError("killed")

    options = {"checkpoint": tmp_path / "state", "checkpoint_records": 500}
    with monkeypatch.context() as patch:
        patch.setattr(runner.Checkpoint, "save", dying)
        with pytest.raises(RuntimeError):
            live(tmp_path, data, **options)
    assert live(tmp_path, data, **options) == whole


def packed(text: bytes, pack: str, size: int) -> bytes:
    """A bomb: `size` bytes of a text, packed."""
    whole = text * (size // len(text))
    return gzip.compress(whole, 1) if pack == "gz" else zstandard.ZstdCompressor().compress(whole)


@pytest.mark.parametrize("pack", ["gz", "zst"])
@pytest.mark.parametrize(
    ("head", "text", "sentence"),
    [
        (b"", b"\0" * 1024, "a binary file"),
        (b"", b"x" * 1024, "a line of more than 1,048,576 bytes"),
        (b"user\tquery\n", b"x" * 1024, "a line of more than 1,048,576 bytes"),
        (b"user\tquery\n", b"u\ttea\n", r"more than the 8 MB that reading may take: stopped after .* --max-memory"),
    ],
)
def test_a_bomb_is_stopped(tmp_path, pack, head, text, sentence):
    data = packed(head, pack, len(head)) if head else b""
    (tmp_path / "log").write_bytes(data + packed(text, pack, 1 << 26))
    with pytest.raises(InputError, match=sentence):
        read_log(tmp_path / "log", ReadOptions(max_memory=8 << 20))


def test_a_bomb_takes_little_memory(tmp_path):
    """Half a gigabyte of zeros in 50 KB is refused by a process that takes little more than its libraries."""
    bomb = tmp_path / "log.zst"
    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    bomb.write_bytes(b"".join([compressor.compress(b"\0" * (1 << 20)) for _ in range(512)] + [compressor.flush()]))
    code = (
        "import re, sys, querycloak.logs.source as s\n"
        "try: s.read_log(sys.argv[1])\n"
        "except s.InputError as e: print(e)\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"  # ru_maxrss counts the parent, too
    )
    found = subprocess.run([sys.executable, "-c", code, str(bomb)], capture_output=True, text=True, check=True)
    sentence, peak = found.stdout.splitlines()
    assert "a binary file" in sentence
    assert int(peak) < 600_000


def test_a_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    data = gzip.compress(as_tsv(rows(500)))
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    writer.start()
    log = read_log(tmp_path / "pipe")
    writer.join()
    assert (len(log), log.form.compression) == (500, "gz")


def test_standard_input():
    code = "import querycloak.logs.source as s; print(len(s.read_log('-')))"
    found = subprocess.run([sys.executable, "-c", code], input=as_csv(rows(50)), capture_output=True, check=True)
    assert found.stdout.strip() == b"50"
