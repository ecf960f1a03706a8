"""The plural of an English noun, after Conway's "An Algorithmic Approach to English Pluralization" (1998).

The word lists are those of Pattern, which TextBlob carries (mapping/tagger-NOTICE.txt), and so are the plurals:
classical where there is a classical one ("index", "indices"). Different here: words in -s and -z ("virus", "viruses",
not "viruss"; "gymnastics" stays) and those that only look like compounds of "man" ("humans", not "humen").
`tests/methods/dp/test_plurals.py` compares with TextBlob over the nouns of WordNet.

>>> [plural(word) for word in ("cat", "wolf", "mouse", "index", "city", "potato", "mother-in-law", "trout")]
['cats', 'wolves', 'mice', 'indices', 'cities', 'potatoes', 'mothers-in-law', 'trout']
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["plural"]


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(old, new) for old, _, new in (pair.partition(":") for pair in text.split())]


UNCHANGED: Final = frozenset(
    _words(
        "advice aircraft antelope bison bread bream breeches britches butter cannabis carp cattle chassis cheese "
        "clippers cod contretemps corps debris diabetes djinn eland electricity elk equipment flounder fruit "
        "furniture gallows garbage graffiti gravel happiness headquarters herpes homework information innings "
        "jackanapes jeans ketchup knowledge love luggage mackerel mathematics mayonnaise measles meat mews moose "
        "mumps mustard news offspring pincers pliers proceedings progress rabies research rice salmon sand "
        "scissors series shears software species swine trout tuna understanding water whiting wildebeest you"
    )
)
UNCHANGED_ENDING: Final = re.compile(
    "(?:fish|ois|sheep|deer|pox|itis|[A-Z].*ese|(?:fruct|gluc|galact|lact|ket|malt|rib|sacchar|cellul)ose)$"
)

WHOLE_WORDS: Final = dict(
    _pairs(
        "a:some an:some this:these that:those any:all my:our your:your thy:your her:their his:their its:their "
        "their:their mine:ours yours:yours thine:yours hers:theirs theirs:theirs I:we me:us myself:ourselves "
        "thou:ye thee:ye yourself:yourself thyself:yourself she:they he:they it:they they:they him:them them:them "
        "herself:themselves himself:themselves itself:themselves themself:themselves oneself:oneselves cow:kine "
        "ox:oxen"
    )
)

IRREGULAR_ENDINGS: Final = _pairs(
    "atlas:atlantes beef:beeves brother:brethren child:children corpus:corpora ephemeris:ephemerides "
    "ganglion:ganglia genie:genii genus:genera graffito:graffiti loaf:loaves lynx:lynxes money:monies "
    "mongoose:mongooses mythos:mythoi octopus:octopodes opus:opera penis:penes quiz:quizzes soliloquy:soliloquies "
    "testis:testes trilby:trilbys turf:turves numen:numena occiput:occipita man:men person:people louse:lice "
    "mouse:mice tooth:teeth goose:geese foot:feet zoon:zoa cis:ces sis:ses xis:xes"
)
"""The first ending that fits is replaced."""

NOT_OF_MAN: Final = frozenset(_words("brahman caiman cayman german human norman ottoman roman shaman talisman"))

BY_WORD: Final = {
    word: word[: len(word) - len(ending)] + new
    for ending, new, words in (
        ("ex", "ices", "apex codex cortex index latex murex pontifex silex simplex vertex vortex"),
        (
            "um",
            "a",
            (
                "agendum aquarium bacterium candelabrum compendium consortium cranium curriculum datum desideratum "
                "dictum emporium enconium erratum extremum gymnasium honorarium interregnum lustrum maximum medium "
                "memorandum millenium minimum momentum optimum ovum phylum quantum rostrum spectrum speculum stadium "
                "stratum trapezium ultimatum vacuum velum"
            ),
        ),
        ("on", "a", "aphelion asyndeton criterion hyperbaton noumenon organon perihelion phenomenon prolegomenon"),
        (
            "a",
            "ae",
            (
                "abscissa alga alumna amoeba antenna aurora formula hydra hyperbola lacuna medusa nebula nova "
                "parabola vertebra"
            ),
        ),
        ("en", "ina", "foramen lumen stamen"),
        (
            "a",
            "ata",
            (
                "anathema bema carcinoma charisma diploma dogma drama edema enema enigma gumma lemma lymphoma magma "
                "melisma miasma oedema sarcoma schema soma stigma stoma trauma"
            ),
        ),
        ("is", "ides", "clitoris iris"),
        ("us", "i", "focus fungus genius incubus nimbus nucleolus radius stylus succubus torus umbilicus uterus"),
        ("us", "us", "apparatus cantus coitus hiatus impetus nexus plexus prospectus sinus status"),
        ("o", "i", "alto basso canto contralto crescendo solo soprano tempo"),
        ("", "i", "afreet afrit efreet"),
        ("", "im", "cherub goy seraph"),
        (
            "s",
            "ses",
            (
                "acropolis aegis alias asbestos bathos bias bus caddis canvas chaos christmas cosmos dais digitalis "
                "epidermis ethos gas glottis ibis lens mantis marquis metropolis pathos pelvis polis rhinoceros "
                "sassafras trellis"
            ),
        ),
        (
            "o",
            "os",
            (
                "albino archipelago armadillo commando ditto dynamo embryo fiasco generalissimo ghetto guano inferno "
                "jumbo lingo lumbago magneto manifesto medico octavo photo pro quarto rhino stylo"
            ),
        ),
    )
    for word in _words(words)
}

ENDINGS: Final = tuple(
    (re.compile(ending + "$"), new)
    for ending, new in (
        ("trix", "trices"),
        ("eau", "eaux"),
        ("ieu", "ieu"),
        ("([iay])nx", r"\1nges"),
        ("([cs]h|ss|x|z|[aiou]s)", r"\1es"),
        ("s", "s"),  # "gymnastics", "trousers": a plural already
        ("([aeo]l|[^d]ea|ar)f", r"\1ves"),
        ("([nlw]i)fe", r"\1ves"),
        ("([aeiou]y|[A-Z].*y)", r"\1s"),  # "days", and names: "Marys"
        ("y", "ies"),
        ("([aeiou]o)", r"\1s"),
        ("o", "oes"),
        ("", "s"),
    )
)
"""For all other words: the first that fits is replaced."""

PREPOSITIONS: Final = frozenset(
    _words(
        "about above across after among around at athwart before behind below beneath beside besides between "
        "betwixt beyond but by during except for from in into near of off on onto out over since till to under "
        "until unto upon with"
    )
)


def plural(word: str) -> str:
    """Return the plural of a word; in a compound with hyphens, of the part that is counted."""
    if word.endswith(("'", "'s")):  # dog's: dogs'
        owners = plural(word.removesuffix("s").removesuffix("'"))
        return owners + ("'" if owners.endswith("s") else "'s")
    parts = word.split("-")
    if len(parts) > 1:
        counted = 0 if parts[1] in PREPOSITIONS or parts[1].lower() == "general" else len(parts) - 1
        parts[counted] = plural(parts[counted])
        return "-".join(parts)
    if not word or word in UNCHANGED:
        return word
    listed = WHOLE_WORDS.get(word) or BY_WORD.get(word)
    if listed is not None:
        return listed
    if UNCHANGED_ENDING.search(word):
        return word
    if word.lower() in NOT_OF_MAN:
        return word + "s"
    for ending, new in IRREGULAR_ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + new
    pattern, new = next(rule for rule in ENDINGS if rule[0].search(word))
    return pattern.sub(new, word)
