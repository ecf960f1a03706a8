"""The compose file of a survey: its commands, run without containers beside a real NATS server."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from broker_servers import Nats, free_port
from prometheus_client.parser import text_string_to_metric_families
from stream_logs import as_tsv, rows

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]
COMPOSE = Path(__file__).parents[2] / "deploy" / "survey.yaml"


def figures(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[(sample.name, *sorted(sample.labels.values()))] = sample.value
    return found, text


def test_the_commands_of_the_compose_file_run_together(tmp_path):
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    server, running, ports = Nats(tmp_path), {}, {}
    (tmp_path / "truth").mkdir()
    try:
        made = services["streams"]["command"][-1]
        assert "stream add $$name --subjects $$name" in made
        for subject in re.search(r"for name in ([a-z ]+);", made)[1].split():
            server.make(subject)
        table = as_tsv(rows(3000, users=60)).splitlines(keepends=True)
        server.publish("searches", [b"".join(table[i : i + 100]) for i in range(0, len(table), 100)])
        for name in ("anonymizer", "surveyor"):
            ports[name] = free_port()
            words = [
                re.sub(r"0\.0\.0\.0:\d+", f"127.0.0.1:{ports[name]}", word)
                .replace("nats:4222", f"127.0.0.1:{server.port}")
                .replace("=/truth/", f"={tmp_path}/truth/")
                for word in services[name]["command"]
            ]
            words += ["--window=500"] if name == "surveyor" else []
            with (tmp_path / f"{name}.log").open("wb") as log:
                command = [sys.executable, "-m", "querycloak", *words]
                running[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 180
        found, stream = {}, {}
        while (
            found.get(("querycloak_survey_windows_total",), 0) < 3
            or found[("querycloak_survey_originals_total",)] < 3000
            or stream.get(("querycloak_records_in_total",), 0) < 3000
        ):
            assert time.monotonic() < deadline, [path.read_text() for path in tmp_path.glob("*.log")]
            assert all(one.poll() is None for one in running.values()), [
                path.read_text() for path in tmp_path.glob("*.log")
            ]
            with suppress(OSError):
                found, text = figures(ports["surveyor"])
                stream, _ = figures(ports["anonymizer"])
            time.sleep(0.2)
        assert stream[("querycloak_records_in_total",)] == 3000
        assert found[("querycloak_survey_originals_total",)] == 3000
        assert found[("querycloak_survey_reidentified_high_ratio", "all", "simple")] < 0.2
        assert 0 < found[("querycloak_survey_emd_ratio", "all")] < 1
        assert "number" not in text
    finally:
        for one in running.values():
            if one.poll() is None:
                one.send_signal(signal.SIGTERM)
        codes = {name: one.wait(timeout=60) for name, one in running.items()}
        server.stop()
    assert codes["anonymizer"] == 0
    assert codes["surveyor"] in {0, 143}
    assert "all" in (tmp_path / "surveyor.log").read_text().splitlines()[-2]
