from __future__ import annotations

import gzip
import io
import os
import stat

import numpy as np
import polars as pl
import pytest
from samples import Notes

from querycloak.knowledge import cache, table
from querycloak.knowledge.cache import cache_folder, find_slot
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.packed import _CONCEPTS, _SITES, pack, unpack
from querycloak.knowledge.paths import tree_of_paths
from querycloak.knowledge.table import read_directory, read_taxonomy

HOSTS = (
    "host\tcategory\n"
    + "".join(f"www.S{i}.com/\tTop/{'ABC'[i % 3]}/Film_{i % 7}\n" for i in range(50))
    + "s1.com\tTop\n"
)
DUMP = (
    '<?xml version="1.0"?>\n<RDF xmlns:r="x">\n<Topic r:id="Top/R&B">\n<d:Title>Rhythm\x03</d:Title>\n'
    '<link r:resource="http://songs.com/"/>\n</Topic>\n</RDF>\n'
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache, switched on for files of any size."""
    monkeypatch.setattr(cache, "WORTH_KEEPING", 1)
    monkeypatch.setenv("QUERYCLOAK_CACHE", str(tmp_path / "cache" / "deep"))
    return tmp_path / "cache" / "deep"


@pytest.fixture
def reads(monkeypatch):
    """What was really read, rather than taken from the cache."""
    seen = []
    for name in ("_read_directory", "read_structure"):
        real = getattr(table, name)
        monkeypatch.setattr(table, name, lambda *args, real=real: seen.append(args[0]) or real(*args))
    return seen


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def same_tree(one, other):
    for name in ("parent", "depth", "size", "leaves"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        assert np.array_equal(first, second)
    assert (one.name, one.labels, one.keys, one.paths) == (other.name, other.labels, other.keys, other.paths)
    assert list(map(type, one.labels)) == list(map(type, other.labels))


def same(one, other):
    same_tree(one.taxonomy, other.taxonomy)
    assert one.sites.equals(other.sites)
    assert one.sites.schema == other.sites.schema
    assert one.site_count.dtype == other.site_count.dtype
    assert np.array_equal(one.site_count, other.site_count)


@pytest.mark.parametrize("text", [HOSTS, HOSTS.replace("\t", ","), gzip.compress(HOSTS.encode()), DUMP])
def test_what_is_kept_equals_what_is_read(tmp_path, folder, reads, text):
    path = write(tmp_path / "sites", text)
    fresh, kept = read_directory(path), read_directory(path)
    assert reads == [path]
    same(kept, fresh)
    assert len(list(folder.iterdir())) == 1


def test_a_taxonomy_of_a_dump_is_kept_with_its_titles_and_notes(tmp_path, folder, reads):
    fresh_notes, kept_notes = Notes(), Notes()
    fresh = read_taxonomy(write(tmp_path / "one", DUMP), fresh_notes)
    kept = read_taxonomy(write(tmp_path / "two", DUMP), kept_notes)
    assert reads == [tmp_path / "one"]
    same_tree(kept, fresh)
    assert kept.labels[-1] == ("R&B", "Rhythm")
    assert kept_notes.notes == [note.replace("/one", "/two") for note in fresh_notes.notes] != []


def test_a_directory_and_a_taxonomy_of_one_file_are_two_things(tmp_path, folder):
    path = write(tmp_path / "dump", DUMP)
    for _ in range(2):
        assert len(read_taxonomy(path)) == len(read_directory(path).taxonomy) == 2
    assert len(list(folder.iterdir())) == 2


def test_another_content_is_read_though_size_and_time_are_the_same(tmp_path, folder):
    path = write(tmp_path / "sites", "a.com\tTop/Arts\n")
    before = path.stat()
    assert read_directory(path).taxonomy.paths == ["Top", "Top/Arts"]
    write(path, "a.com\tTop/News\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert read_directory(path).taxonomy.paths == ["Top", "Top/News"]


def test_another_reader_reads_again(tmp_path, folder, reads, monkeypatch):
    path = write(tmp_path / "sites", HOSTS)
    read_directory(path)
    monkeypatch.setattr(cache, "_readers", lambda: b"edited")
    read_directory(path)
    assert len(reads) == 2


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "foreign"])
def test_a_damaged_file_is_read_again_and_written_again(tmp_path, folder, reads, damage):
    path = write(tmp_path / "sites", HOSTS)
    fresh = read_directory(path)
    (kept,) = folder.iterdir()
    good = kept.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    foreign = cache._digest(b"something else") + b"something else"
    kept.write_bytes({"cut": good[:-9], "flip": bytes(flipped), "empty": b"", "foreign": foreign}[damage])
    same(read_directory(path), fresh)
    assert len(reads) == 2
    assert kept.read_bytes() == good


def test_only_the_user_can_read_it(tmp_path, folder):
    read_directory(write(tmp_path / "sites", HOSTS))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, folder, reads):
    write(folder.parent, "a file where the folder should be")
    path = write(tmp_path / "sites", HOSTS)
    same(read_directory(path), read_directory(path))
    assert len(reads) == 2


def test_a_source_that_changes_while_it_is_read_is_not_kept(tmp_path, folder, monkeypatch):
    path = write(tmp_path / "sites", HOSTS)
    real = table._read_directory

    def slowly(*args):
        write(path, "a.com\tTop/News\n")
        return real(*args)

    monkeypatch.setattr(table, "_read_directory", slowly)
    read_directory(path)
    assert not folder.exists()


def test_old_files_are_removed_and_used_ones_stay(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_KEPT", 2)
    paths = [write(tmp_path / name, HOSTS + f"{name}.com\tTop\n") for name in "abc"]
    for number, path in enumerate(paths[:2]):
        read_directory(path)
        os.utime(find_slot(path, "directory").path, (number, number))
    read_directory(paths[0])  # now b was not used for the longest time
    read_directory(paths[2])
    assert [find_slot(path, "directory").path.exists() for path in paths] == [True, False, True]


def test_where_it_is_and_how_it_is_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for chosen, xdg, expected in [
        ("", "", tmp_path / ".cache" / "querycloak"),
        ("", "relative", tmp_path / ".cache" / "querycloak"),
        ("", str(tmp_path / "x"), tmp_path / "x" / "querycloak"),
        (str(tmp_path / "mine"), str(tmp_path / "x"), tmp_path / "mine"),
        ("off", "", None),
        ("0", "", None),
    ]:
        monkeypatch.setenv("QUERYCLOAK_CACHE", chosen)
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
        assert cache_folder() == expected
    assert find_slot(tmp_path / "none", "directory") is None


def test_small_files_are_not_kept(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(cache, "WORTH_KEEPING", 1 << 18)
    read_directory(write(tmp_path / "sites", HOSTS))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("parent", "category"),
    [([-1, 0, 0, 1], 0), ([-1, 2, 0], 0), ([-1, -1, 0], 0), ([0, 0, 0], 0), ([-1, 0, 9], 0), ([-1, 0, 0], 3)],
)
def test_what_is_not_a_tree_in_depth_first_order_is_refused(parent, category):
    tree = tree_of_paths([f"Top/{i}" for i in range(1, len(parent))], name="t")[0]
    sites = SiteDirectory.of(["a.com"], ["Top/1"], tree)
    object.__setattr__(tree, "parent", np.array(parent, np.int32))
    object.__setattr__(sites, "sites", sites.sites.with_columns(category=np.array([category], np.int32)))
    with pytest.raises(ValueError, match=r"tree|depth-first|category"):
        unpack(pack(tree, sites))


def part(table):
    out = io.BytesIO()
    table.write_ipc(out, compression="lz4")
    return len(out.getvalue()).to_bytes(8, "little") + out.getvalue()


@pytest.mark.parametrize("wrong", ["parent", "label", "key", "count", "no sites", "deep"])
def test_a_kept_file_that_somebody_else_made_is_read_again(tmp_path, folder, reads, wrong):
    path = write(tmp_path / "sites", HOSTS)
    fresh = read_directory(path)
    (kept,) = folder.iterdir()
    columns = {"parent": [-1, 0], "label": ["a", "b"], "title": [None, None], "key": ["a", "b"], "count": [0, 1]}
    if wrong in columns:
        columns[wrong][1] = None
    sites = {"site": [], "category": []} if wrong == "no sites" else {"site": ["a.com"], "category": [1]}
    about = b"[" * 100_000 if wrong == "deep" else b'{"name": "x", "notes": []}'
    tables = pl.DataFrame(columns, schema=_CONCEPTS), pl.DataFrame(sites, schema=_SITES)
    data = b"".join(map(part, tables)) + about
    kept.write_bytes(cache._digest(data) + data)
    same(read_directory(path), fresh)
    assert len(reads) == 2
