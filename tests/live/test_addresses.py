"""Addresses of brokers: what is shown of them, and what is refused before anything is connected."""

from __future__ import annotations

import pytest

from querycloak.cli.command_line import shown_command
from querycloak.errors import ParameterError, UserError
from querycloak.live.address import parse_place
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
