"""Addresses of brokers: what is shown of them, and what is refused before anything is connected."""

from __future__ import annotations

from pathlib import Path

import pytest
from stream_logs import as_tsv, rows

from querycloak.cli import main
from querycloak.cli.command_line import shown_command
from querycloak.errors import ParameterError, UserError
from querycloak.live.address import Address, parse_place
from querycloak.live.runner import Run, run_stream
from querycloak.live.watch.door import read_door_address
from querycloak.methods.stream.stream_statement import StreamSettings

SECRET = "s3cr3t"


@pytest.mark.parametrize("between", ["", "/", "#", "?", " ", "@", ":", "%2F", "\n"])
@pytest.mark.parametrize("scheme", ["nats", "redis", "kafka", "ftp"])
def test_no_password_is_shown_whatever_is_in_it(scheme, between):
    text = f"{scheme}://ann:{SECRET}{between}{SECRET}@host:1/name"
    try:
        shown = str(parse_place(text)) + repr(parse_place(text))
    except UserError as error:
        shown = str(error)
    assert SECRET not in shown
    for words in (["--from", text], [f"--from={text}"]):
        assert SECRET not in shown_command(["querycloak", "stream", *words])


@pytest.mark.parametrize("scheme", ["nats", "redis", "kafka"])
def test_a_stream_is_not_published_into_itself(scheme):
    """Each record would come again, for ever."""
    places = [parse_place(f"{scheme}://{who}127.0.0.1:1/searches{end}") for who, end in [("ann:x@", ""), ("", "?a=b")]]
    with pytest.raises(ParameterError, match="is also where the records come from"):
        run_stream(Run("self-adjusting", StreamSettings(), *places))


def test_a_port_has_the_digits_of_ports():
    with pytest.raises(ParameterError, match="--metrics must be"):
        read_door_address("\uff11\uff10")


MISTYPED = [
    "nats//ann:{}@host/x",
    "nats:ann:{}@host/x",
    "nats:/ann:{}@host/x",
    "redis:/ann:{}@host:1/x",
    "redis;//ann:{}@host/x",
    "Kafka\\\\ann:{}@host/x",
    "nast//ann:{}@host/x",
    "nast:/{}@host/x",
    "rediss:/{}@host/x",
    "ann:{}@host/x",
    "//ann:{}@host/x",
    "://ann:{}@host/x",
    " nats://ann:{}@host/x",
    '"nats://ann:{}@host/x"',
    "nats://ann:{}%40host/x",
    "nats//ann:{}%40host/x",
    "nats://ann:{}/x",
    "redis://host?password={}",
    "nats://host/a/b?password={}",
]
"""addresses with a password in which something is wrong"""


@pytest.mark.parametrize("secret", [SECRET, f"{SECRET}/a:b {SECRET}", f"{SECRET}@{SECRET}"])
@pytest.mark.parametrize("look", MISTYPED)
def test_what_looks_like_an_address_is_no_file(look, secret):
    """Its name would be printed, with the password in it."""
    text = look.format(secret if "@" in look else secret.replace("@", "!"))
    with pytest.raises(ParameterError, match="nats://host:port/SUBJECT") as error:
        parse_place(text)
    assert SECRET not in str(error.value)
    for words in (["--from", text], [f"--from={text}"]):
        assert SECRET not in shown_command(["querycloak", "stream", *words])


@pytest.mark.parametrize("scheme", ["NATS", "Redis", "KAFKA"])
def test_capital_letters_are_no_mistake(scheme):
    place = parse_place(f"{scheme}://ann:{SECRET}@host/x")
    assert isinstance(place, Address)
    assert place.scheme == scheme.lower()
    assert place.password == SECRET
    assert SECRET not in str(place) + repr(place)


@pytest.mark.parametrize(
    "text",
    ["log.tsv", "a@b.tsv", "logs/a:b@c", "/data/a:b@c", "./ann:x@host", "../redis:/x", "kafka.tsv", "nats/x", "12:30"],
)
def test_names_of_files_stay_names_of_files(text):
    assert parse_place(text) == Path(text)


def test_an_at_sign_in_an_option_is_none_of_a_user():
    with pytest.raises(ParameterError) as error:
        parse_place(f"redis://host?password={SECRET}@{SECRET}")
    assert SECRET not in str(error.value)


def test_options_are_shown_and_what_nobody_knows_is_not():
    text = f"nats://ann:{SECRET}@host/x?end=now&password={SECRET}"
    assert shown_command(["querycloak", "stream", text]) == "querycloak stream 'nats://host/x?end=now&password=HIDDEN'"


OPTIONS = [
    ["stream", "--from"],
    ["stream", "--to"],
    ["stream"],
    ["stream", "--truth"],
    ["stream", "--stats"],
    ["stream", "--statement"],
    ["stream", "--checkpoint"],
    ["stream", "--log"],
    ["survey", "--original", "log.tsv", "--from"],
    ["survey", "--from", "log.tsv", "--original"],
    ["survey", "--from", "log.tsv", "--original", "log.tsv", "--truth"],
    ["anonymize"],
]


@pytest.mark.parametrize("json", [[], ["--json"]])
@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("look", ["nats://ann:{}@127.0.0.1:1/x", "nats//ann:{}@host/x", "redis:/ann:{}@host/x"])
def test_no_command_prints_or_writes_a_password(tmp_path, monkeypatch, capfd, look, words, json):
    monkeypatch.chdir(tmp_path)
    Path("log.tsv").write_bytes(as_tsv(rows(60)))
    text = look.format(SECRET)
    more = ["--from", "log.tsv"] if words[0] == "stream" and words[-1] not in {"stream", "--from"} else []
    more += ["--idle", "0"] if words[0] == "survey" else []
    monkeypatch.setattr("sys.argv", ["querycloak", *words, text, *more, *json])
    with pytest.raises(SystemExit) as code:
        main()
    assert code.value.code == 2
    assert SECRET not in "".join(capfd.readouterr())
    made = list(tmp_path.rglob("*"))
    assert not [path for path in made if SECRET in str(path) or (path.is_file() and SECRET in path.read_text())]
