"""English words of the closed classes, which never name a concept by themselves, and the short words that do."""

from __future__ import annotations

from typing import Final

__all__ = ["DETERMINERS", "SHORT_WORDS", "STOP_WORDS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS: Final = _words(
    "a an the this that these those my your his her its our their some any each every another both either neither "
    "no all such what which whose"
)

STOP_WORDS: Final = DETERMINERS | _words(
    # prepositions and particles
    "aboard about above across after against along amid among around as at before behind below beneath beside besides "
    "between beyond but by concerning despite down during except for from in inside into like near of off on onto out "
    "outside over past per regarding round since than through throughout till to toward towards under underneath "
    "until unto up upon versus via vs with within without "
    # conjunctions
    "and or nor so yet because although though if unless whereas whether while et "
    # pronouns
    "i me mine myself we us ours ourselves you yours yourself yourselves he him himself she hers herself it itself "
    "they them theirs themselves who whom someone something anyone anything everyone everything nobody nothing one "
    "ones "
    # auxiliaries and the verbs of questions
    "am is are was were be been being do does did doing done have has had having can could will would shall should "
    "may might must ought cannot let lets get gets got getting "
    # contractions, with and without their apostrophe
    "i'm i've i'll i'd you're you've you'll he'll she'll it'll we're we've we'll they're they've they'll isn't aren't "
    "wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't shan't shouldn't mustn't "
    "im ive ill youre youve isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt cant couldnt wont wouldnt "
    "shouldnt s t d ll re ve "
    # adverbs and question words
    "how when where why here there now then again always ever never often sometimes too very just only also even "
    "still already almost quite rather really more most much many few less least other others same own not else "
    "away back soon together thus hence therefore however maybe perhaps "
    # courtesy, company endings, and what web addresses leave
    "please thanks inc ltd corp llc plc gmbh aka etc www http https com html htm"
)

SHORT_WORDS: Final = _words(
    "ad ax cv dj gp hq iq ox pc pi rv tv uk uv kg km "
    "ak ct dc fl ia il ks ky nc nh nj nv ny ri sd tn tx va vt wa wi wv wy"
)
"""Words of two letters that may name a concept by themselves.

The others are function words in some language (in, it, us, la, de) or symbols whose commonest sense is a chemical
element or a unit (ca is calcium before California). Chosen by reading the first sense of all labels of two letters in
WordNet. Words of one letter and numbers never name a concept by themselves.
"""
