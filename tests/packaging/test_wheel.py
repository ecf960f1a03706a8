"""The wheel in a clean environment, away from the checkout: first without extras, then with all of them.

The two environments are one that grows, so that kernels are compiled once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from places import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]

NEED_OPENDP = {"histogram-dp", "frequent-queries", "synthetic-dp"}
CORE = 550
"""MB, as docs/install.md says, with some room: what the core may add to an empty environment"""
BIG = {"llvmlite", "_polars_runtime_32", "polars", "numpy", "numpy.libs", "numba"}
OUTSIDE_THE_CORE = {"scipy", "zstandard", "vl_convert", "opendp", "starlette", "cryptography", "pandas", "pyarrow"}


def run(*command, cwd, timeout=900):
    """Run a command without anything of this checkout or of its environment."""
    names = ("HOME", "PATH", "LANG", "TMPDIR")
    own = {name: value for name, value in os.environ.items() if name in names or name.startswith(("PIP_", "SSL_"))}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=own, check=False, capture_output=True, text=True, timeout=timeout
    )


def pip(*arguments, cwd):
    done = run(sys.executable, "-m", "pip", *arguments, "--quiet", cwd=cwd, timeout=900)
    assert done.returncode == 0, done.stderr


def wheel_of(source, folder):
    pip("wheel", source, "--no-deps", "--no-build-isolation", "--wheel-dir", folder, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheel_of(ROOT, tmp_path_factory.mktemp("wheel"))


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}


def test_everything_of_the_package_is_in_the_wheel(wheel):
    inside = contents(wheel)
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/querycloak"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    if not tracked:  # no repository: all files that are not made by running
        tracked = [str(p.relative_to(ROOT)) for p in (ROOT / "src").rglob("*") if p.is_file()]
        tracked = [name for name in tracked if "__pycache__" not in name]
    missing = {name.removeprefix("src/") for name in tracked if (ROOT / name).exists()} - set(inside)
    assert not missing
    for name in (
        "querycloak/py.typed",
        "querycloak/knowledge/wordnet-nouns.npz",
        "querycloak/knowledge/wordnet-NOTICE.txt",
        "querycloak/knowledge/vectors.bin",
        "querycloak/knowledge/vectors-NOTICE.txt",
        "querycloak/mapping/tagger-NOTICE.txt",
        "querycloak/texts/names-NOTICE.txt",
    ):
        assert name in inside
    (man,) = [name for name in inside if name.endswith("share/man/man1/querycloak.1")]
    assert inside[man] == (ROOT / "man" / "querycloak.1").read_bytes()
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    assert not [name for name in inside if "test" in name.split("/")[0] or name.endswith((".nbi", ".nbc", ".pyc"))]


def test_the_source_archive_makes_the_same_wheel(wheel, tmp_path):
    build = "from hatchling.build import build_sdist; import sys; print(build_sdist(sys.argv[1]))"
    done = run(sys.executable, "-c", build, tmp_path, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / done.stdout.split()[-1]) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    (tmp_path / "again").mkdir()
    assert contents(wheel_of(source, tmp_path / "again")) == contents(wheel)


def test_a_clean_environment(wheel, tmp_path):
    environment, work = tmp_path / "venv", tmp_path / "elsewhere"
    work.mkdir()
    venv.create(environment, with_pip=False, symlinks=True)
    python, command = environment / "bin" / "python", environment / "bin" / "querycloak"
    (packages,) = (environment / "lib").glob("python3*/site-packages")

    _install(python, wheel, work)
    installed = {path.name for path in packages.iterdir()}
    assert installed >= BIG
    assert not OUTSIDE_THE_CORE & installed
    assert _megabytes(packages) <= CORE
    assert (environment / "share" / "man" / "man1" / "querycloak.1").exists()

    done = run(command, "demo", cwd=work)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (work / "demo").iterdir()}
    assert {"log.tsv", "release.tsv", "release.tsv.statement.json"} <= made
    pages = list((work / "demo").rglob("*.html"))
    assert pages
    assert all("<svg" in page.read_text() or "<table" in page.read_text() for page in pages)

    log, directory = _small_log(command, work)
    found = _every_method(python, work, log, directory)
    for method, (code, said) in found.items():
        if method in NEED_OPENDP:
            assert (code, "pip install 'querycloak[dp]'" in said) == (2, True), (method, said)
        else:
            assert code == 0, (method, said)
            assert (work / f"{method}.tsv.statement.json").exists()
    assert len(found) == 18
    done = run(command, "studio", work, cwd=work)
    assert (done.returncode, "querycloak[studio]" in done.stderr) == (2, True), done.stderr
    done = run(command, "keys", "new", "key", cwd=work)
    assert (done.returncode, "querycloak[sign]" in done.stderr) == (2, True)

    _install(python, f"{wheel}[all]", work)
    assert run(sys.executable, "-m", "pip", "--python", python, "check", cwd=work).returncode == 0
    for path in work.glob("*.statement.json"):
        path.unlink()
    found = _every_method(python, work, log, directory)
    assert {method: code for method, (code, _) in found.items() if code} == {}
    assert len(list(work.glob("*.statement.json"))) == len(found)
    assert run(command, "keys", "new", "key", cwd=work).returncode == 0
    imports = (
        "import narwhals, starlette, uvicorn, multipart, vl_convert; import querycloak; print(querycloak.__file__)"
    )
    done = run(python, "-c", imports, cwd=work)
    assert done.returncode == 0, done.stderr
    assert str(packages) in done.stdout


def _install(python, what, cwd):
    pip("--python", python, "install", "--constraint", ROOT / "constraints.txt", what, cwd=cwd)


def _megabytes(folder):
    """As `du -sm` counts: blocks on the disk."""
    return sum(path.lstat().st_blocks for path in Path(folder).rglob("*")) * 512 / 2**20


def _small_log(command, work):
    """A log of 60 people, and its directory of sites."""
    done = run(command, "generate", "--output", "small.tsv", "--users", 60, "--queries", 1500, "--seed", 1, cwd=work)
    assert done.returncode == 0, done.stderr
    return "small.tsv", "small.directory.tsv"


def _every_method(python, work, log, directory):
    done = run(python, ROOT / "tests" / "packaging" / "every_method.py", log, directory, cwd=work)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
