from __future__ import annotations

import gzip
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import Notes

from querycloak.errors import InputError, UserError
from querycloak.knowledge import _rdf
from querycloak.knowledge._rdf import Dump
from querycloak.knowledge.odp import read_content, read_structure
from querycloak.knowledge.table import read_directory, read_taxonomy

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="http://www.w3.org/TR/RDF/">\n'

STRUCTURE = (
    HEAD
    + """  <Topic r:id="">
    <catid>1</catid>
  </Topic>
  <Topic r:id="Top/Arts">
    <catid>2</catid>
    <d:Title>Arts</d:Title>
    <narrow2 r:resource="Top/Arts/Film_&amp;_TV"></narrow2>
    <narrow r:resource="Top/Arts/Music"></narrow>
    <letterbar r:resource="Top/Arts/A"></letterbar>
    <symbolic1 r:resource="Songs:Top/Elsewhere"></symbolic1>
  </Topic>
  <Alias r:id="Fonts:Top/Computers/Fonts">
    <d:Title>Fonts</d:Title>
    <Target r:resource="Top/Computers/Fonts"></Target>
  </Alias>
  <Topic r:id="Top/World/Espanol"><d:Title>Espa\u00f1ol</d:Title></Topic>
</RDF>
"""
)

CONTENT = (
    HEAD
    + """  <Topic r:id="Top/Arts/Music">
    <catid>4</catid>
    <link1 r:resource="http://www.songs.com/"></link1>
    <link r:resource="http://free.net/~ann/a&amp;b/"></link>
    <rss r:resource="http://feeds.net/x>y"></rss>
  </Topic>
  <ExternalPage about="http://www.songs.com/">
    <d:Title>Songs</d:Title>
    <d:Description>A page</d:Description>
    <topic>Top/Arts/Music</topic>
  </ExternalPage>
  <ExternalPage about="http://only-a-page.org/">
    <topic>Top/News</topic>
  </ExternalPage>
</RDF>
"""
)


@pytest.fixture
def write(tmp_path):
    def write(data, name="dump.rdf.u8"):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("block", [1 << 22, 50])
def test_structure(write, monkeypatch, pack, block):
    monkeypatch.setattr(_rdf, "_BLOCK", max(block, len(HEAD)))
    taxonomy = read_structure(write(pack(STRUCTURE.encode())))
    assert taxonomy.paths == [
        "Top",
        "Top/Arts",
        "Top/Arts/A",
        "Top/Arts/Film & TV",
        "Top/Arts/Music",
        "Top/World",
        "Top/World/Espanol",
    ]
    assert taxonomy.labels[6] == ("Espanol", "Espa\u00f1ol")
    assert taxonomy.labels[1] == ("Arts",)
    assert not taxonomy.find("Fonts")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("block", [1 << 22, 50])
def test_content(write, monkeypatch, pack, block):
    monkeypatch.setattr(_rdf, "_BLOCK", max(block, len(HEAD)))
    directory = read_content(write(pack(CONTENT.encode())))
    assert {site: directory.taxonomy.paths[c] for site, c in directory.sites.iter_rows()} == {
        "songs.com": "Top/Arts/Music",
        "free.net/~ann/a&b": "Top/Arts/Music",
        "feeds.net/x>y": "Top/Arts/Music",
        "only-a-page.org": "Top/News",
    }
    assert directory.site_count[directory.taxonomy.concept("Top/Arts/Music")] == 3


def test_content_in_the_taxonomy_of_the_structure(write):
    taxonomy = read_taxonomy(write(STRUCTURE))
    directory = read_directory(write(CONTENT, "content"), taxonomy)
    assert dict(directory.sites.iter_rows())["songs.com"] == taxonomy.concept("Top/Arts/Music")
    assert dict(directory.sites.iter_rows())["only-a-page.org"] == 0


def test_malformed_is_tolerated_and_counted(write):
    bad = HEAD.encode() + (
        b'<Topic r:id="Top/R&B">\n<d:Title>R&B &nosuch; \x03\x0b</d:Title>\n</Topic>\n'
        b'<Topic r:id="Top/Caf\xe9">\n</Topic>\n'
        b'<Topic r:id="Top/Unclosed>\n<narrow r:resource="Top/Fine"/>\n<Topic >\n&amp;&#233;\n'
        b'<Topic r:id="Top/Ho\x00me">\n</RDF>\n'
    )
    notes = Notes()
    path = write(bad)
    taxonomy = read_structure(path, notes)
    assert taxonomy.paths == ["Top", "Top/Caf\ufffd", "Top/Fine", "Top/Home", "Top/R&B"]
    dump = Dump(path)
    assert sum(text.count("\n") for text in dump) == dump.lines == bad.count(b"\n")
    assert (dump.bad_bytes, dump.controls, dump.bare_ampersands) == (1, 3, 3)
    assert len(notes.notes) == 1
    assert "1 sequences of bytes that are not UTF-8, 3 control characters and 3 bare ampersands" in notes.notes[0]


def test_well_formed_says_nothing(write):
    notes = Notes()
    read_structure(write(STRUCTURE), notes)
    assert notes.notes == []


@pytest.mark.parametrize("read", [read_structure, read_content])
def test_cut_short(write, read):
    text = STRUCTURE if read is read_structure else CONTENT
    half = text.encode()[: len(text) // 2]
    with pytest.raises(InputError, match=rf"line {half.count(10) + 1}: the file is cut short"):
        read(write(half))
    packed = gzip.compress(text.encode() * 50)
    with pytest.raises(InputError, match="cut short"):
        read(write(packed[: len(packed) // 2]))


@pytest.mark.parametrize("read", [read_structure, read_content])
def test_not_a_dump(write, read):
    with pytest.raises(InputError, match="expected an Open Directory dump"):
        read(write("Top/Arts\n"))
    with pytest.raises(InputError, match="expected an Open Directory dump"):
        read(write(HEAD + "</RDF>\n"))
    with pytest.raises(InputError, match="cut short"):
        read(write(""))


def test_a_line_without_end(write, monkeypatch):
    monkeypatch.setattr(_rdf, "_LONGEST_LINE", 1000)
    with pytest.raises(InputError, match="line 3: more than 64 MB without a line end"):
        read_structure(write(HEAD + "x" * 2000))


pieces = st.sampled_from(
    [
        b'<Topic r:id="Top/',
        b'">',
        b"<d:Title>",
        b"</d:Title>",
        b'<link r:resource="',
        b"<topic>",
        b"\n",
        b"&",
        b"&#999999999;",
        b'<ExternalPage about="',
        b"Top/Arts",
        b"\xff",
        b"\x00",
        b"</Topic>",
        b'<Alias r:id="x">',
        b"\xef\xbf\xbd",
        b"/" * 150,
    ]
)


@pytest.mark.slow
@given(st.lists(pieces | st.binary(max_size=8), max_size=30), st.booleans())
def test_any_bytes_are_read_or_refused(tmp_path_factory, data, closed):
    path = tmp_path_factory.mktemp("fuzz") / "dump"
    path.write_bytes(HEAD.encode() + b"".join(data) + (b"\n</RDF>\n" if closed else b""))
    for read in (read_structure, read_content):
        with suppress(UserError):
            read(path)
