"""The mapper against its plain twin, over generated taxonomies and queries and over real ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA
from reference.mapping import NaiveMapper

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper

MODES = ["segments", "phrases"]

TEXT = (
    "diving swim universe university universities new news york water sports sport goose geese cheap the of "
    "and in stores offering phones apple make sleep free us tv 95 c ii used irish policemen's qwyjibo plays "
    "u.s. st. very"
)
WORDS = TEXT.split()
GLUE = [" ", " ", " ", " ", ", ", " & ", "-", " -", ". ", '"', " www.apple.com "]


@st.composite
def texts(draw, most=7):
    out = ""
    for word in draw(st.lists(st.sampled_from(WORDS), max_size=most)):
        out += word + draw(st.sampled_from(GLUE))
    return out


@st.composite
def taxonomies(draw):
    labels = draw(st.lists(st.lists(texts(most=3), min_size=1, max_size=3), min_size=1, max_size=12))
    parents = [-1] + [draw(st.integers(0, i)) for i in range(len(labels) - 1)]
    return Taxonomy.from_parents(parents, labels, names=[str(i) for i in range(len(labels))])


@pytest.mark.slow
@settings(max_examples=150)
@given(taxonomies(), st.lists(texts(), min_size=1, max_size=5), st.sampled_from(MODES))
def test_generated(taxonomy, queries, mode):
    mapper, naive = Mapper(taxonomy, mode), NaiveMapper(taxonomy, mode)
    for query in queries:
        assert mapper.concepts(query) == naive.concepts(query)


@pytest.fixture(scope="module", params=MODES)
def pair(request) -> tuple[Mapper, NaiveMapper]:
    return Mapper(load_wordnet(), request.param), NaiveMapper(load_wordnet(), request.param)


@settings(max_examples=300)
@given(query=st.one_of(texts(), st.text(max_size=40)))
@pytest.mark.slow
def test_generated_queries_on_wordnet(pair, query):
    mapper, naive = pair
    assert mapper.concepts(query) == naive.concepts(query)


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the real logs are not next to the checkout")
def test_real_queries(pair):
    mapper, naive = pair
    lines = [
        *((DATA / "excite-small.log").read_text("utf-8", errors="replace").splitlines()),
        *((DATA / "kdd2005-labelled-queries.tsv").read_text("utf-8", errors="replace").splitlines()),
    ]
    queries = sorted({line.split("\t")[2 if i < 4501 else 0] for i, line in enumerate(lines)})
    unlike = sum(mapper.concepts(query) != naive.concepts(query) for query in queries)
    assert (len(queries) > 2_000, unlike) == (True, 0)
    share = sum(max(mapper.concepts(query)) >= 0 for query in queries) / len(queries)
    assert share > {"segments": 0.75, "phrases": 0.65}[mapper.mapping]  # 80 % and 74 % when this was written
