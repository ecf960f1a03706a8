"""A log on the bench: what methods, attacks and measures need next to it is made once, when first asked for.

>>> from querycloak.logs.query_log import QueryLog
>>> log = QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
>>> Workbench(log).anonymize("sweep", seed=7, min_query_users=2)
LogRelease(sweep, 2 rows)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from querycloak.attacks.halves import Halves, halves
from querycloak.attacks.result import CannotAttackError, NothingToAttackError
from querycloak.catalog import ATTACKS, MEASURES
from querycloak.catalog import method as find_method
from querycloak.display import ResultList
from querycloak.errors import GateError, ParameterError, UnknownNameError
from querycloak.evaluation.learning import check_learning, refuse_learning
from querycloak.evaluation.room import check_room
from querycloak.evaluation.trials import NOT_RERUN, MethodTrials, NoTrials
from querycloak.knowledge.named import load_taxonomy, usual_categories
from querycloak.mapping.mappers import mapper_of
from querycloak.mapping.modes import check_mapping, mapping_of_statement, stated_mapping
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from os import PathLike

    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.trials import Trials
    from querycloak.catalog import Check, Need
    from querycloak.evaluation.exposure import Exposure
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.click_categories import ClickCategories
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.mapping.row_paths import PathsOf, RowPaths
    from querycloak.measures.score import Score
    from querycloak.plugins import Catalog
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release
    from querycloak.texts.sensitive import SensitiveWords

MOST_REMEMBERED: Final = 24
LEARNED: Final = frozenset({"click_categories", "concepts", "paths"})
"""Needs that what is learned from clicks changes."""
INVENTED: Final = "published ids are invented, and none of them stands for a person"
T = TypeVar("T")

__all__ = ["Attacked", "Workbench", "load_taxonomy", "mapper_of"]


class Attacked(NamedTuple):
    """What the attacks on one release found."""

    results: list[AttackResult]
    not_run: dict[str, str]
    """name of each attack that fits the release and could not be run → what it lacked"""
    nothing: dict[str, str]
    """name of each attack that found nothing to attack → what is not there"""


@dataclass(frozen=True)
class Workbench:
    """A log with its background knowledge, on which methods, attacks and measures are run.

    It has the methods `anonymize`, `attack` and `measure` of the package, and makes what they need next to the log,
    such as the concepts of its queries, once.

    >>> from querycloak.logs.query_log import QueryLog
    >>> bench = Workbench(QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"]))
    >>> bench.anonymize("sweep", min_query_users=2)
    LogRelease(sweep, 2 rows)
    """

    log: QueryLog
    knowledge: Taxonomy | str | PathLike[str] | None = None
    """a taxonomy, its name, or a file; None = WordNet, and `usual_categories` for the category paths of a stream"""
    directory: SiteDirectory | None = None
    resolver: Any = None
    progress: Progress = QUIET
    sensitive: SensitiveWords | None = None
    """words that exposure counts as sensitive; None = our list"""
    mapping: str | None = None
    """how queries are read (`mapping.modes`); None = the default, or that of the release that is looked at"""
    learn_from_clicks: bool = False
    """queries without a listed click get a category that is learned from the clicks of others"""
    _made: dict[tuple[str, int], tuple[Release, Any]] = field(default_factory=dict, init=False, repr=False)
    parts: dict[tuple[int, str], QueryLog] = field(default_factory=dict, init=False, repr=False)
    """parts of the log on which methods are run again, by seed and name"""
    _halves: dict[int, Halves] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_mapping(self.mapping)
        if self.learn_from_clicks:
            check_learning(clicks=self.log.url is not None)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy, loaded."""
        return load_taxonomy("wordnet" if self.knowledge is None else self.knowledge)

    @cached_property
    def concepts(self) -> ConceptLog:
        """What the queries of the log are about."""
        return self._map(self.log, self.taxonomy)

    @cached_property
    def click_categories(self) -> ClickCategories | None:
        """What was learned from the clicks of the log; None where that was not asked for."""
        if not self.learn_from_clicks or self.directory is None:
            return None
        from querycloak.knowledge.vectors import load_vectors
        from querycloak.mapping.click_categories import learn_from_clicks

        self.progress.start("learning categories from clicks")
        found = learn_from_clicks(self.log, self.directory, load_vectors())
        self.progress.note(found.learned.says)
        return found

    @property
    def stream_engines(self) -> Any:
        """What makes the engine of a stream method, for an attacker who runs it himself."""
        from querycloak.methods.stream.engine import make_engine

        return make_engine

    @property
    def paths(self) -> PathsOf:
        """What finds the category path of each row of the log."""
        return self._paths_of(self.log, self._concepts_in, {})

    def category_tree(self, settings: Mapping[str, Any]) -> Taxonomy:
        """Return the taxonomy of the categories of a log that has none, for a stream method with these settings."""
        if self.knowledge is not None:
            return self.taxonomy
        return load_taxonomy(usual_categories(as_in_paper=bool(settings.get("as_in_paper"))))

    def _paths_of(
        self, log: QueryLog, concepts: Callable[[Taxonomy], ConceptLog], settings: Mapping[str, Any]
    ) -> PathsOf:
        """Take the categories of a log; only where it has none, map its queries."""
        from querycloak.mapping.row_paths import row_paths

        def find(separator: str) -> RowPaths:
            if log.category is not None:
                return row_paths(log, separator)
            tree = self.category_tree(settings)
            return row_paths(log, separator, concepts(tree), tree)

        return find

    def _concepts_in(self, taxonomy: Taxonomy) -> ConceptLog:
        """Return what the queries of the log are about, in this taxonomy or that of the category paths."""
        return self.concepts if taxonomy is self.taxonomy else self._categories_of_queries

    @cached_property
    def _categories_of_queries(self) -> ConceptLog:
        return self._map(self.log, self.category_tree({}))

    def anonymize(self, method: str, *, seed: int | None = None, **settings: Any) -> Release:
        """Run a method by its catalog name. Without a seed, randomness is the operating system's."""
        entry = find_method(method)
        if self.learn_from_clicks:
            refuse_learning(entry.name, private=entry.is_private)
            if LEARNED.isdisjoint(entry.needs):
                self.progress.note(f"{method} does not ask what queries are about: nothing is learned from clicks.")
        checked = entry.settings.from_json({**entry.given, **settings})
        random = Randomness(seed).child(entry.name)
        needs = self._needs(entry.needs, settings=checked.to_json())
        release = entry.function(self.log, checked, random, self.progress, **needs)
        if release.seal is None:  # whether it still fits is looked at when the release is written
            raise GateError(f"{method}: its release did not pass the gate. This is a fault of the method.")
        if release.seal.original is not self.log:
            raise GateError(f"{method}: its release was checked against another log. This is a fault of the method.")
        public = getattr(checked, "public", checked.to_json)()
        if "epsilon" in release.statement.parameters and release.statement.settings != public:
            raise GateError(f"{method}: its statement has settings that were not asked for, or counts among them.")
        statement = release.statement if seed is None else release.statement.seeded()
        if "concepts" in entry.needs or ("paths" in entry.needs and self.log.category is None):
            tree = self.taxonomy if "concepts" in entry.needs else self.category_tree(checked.to_json())
            found = self._concepts_in(tree)
            statement = replace(statement, mapping=stated_mapping(found.mapping), mapping_learned=found.learned)
        return replace(release, statement=statement)

    def attack(
        self,
        release: Release,
        names: Sequence[str] | None = None,
        seed: int | None = None,
        *,
        rerun: bool = True,
        also: Sequence[Release] = (),
    ) -> ResultList[AttackResult]:
        """Run every attack that fits the release, or those named. The release must hold its truth, to keep score."""
        if release.truth is None and release.has_users and release.statement.ids != "invented":
            raise ParameterError("The release holds no truth: read it with read_truth, so that attacks can keep score.")
        return ResultList(self.try_attacks(release, names, seed, rerun=rerun, also=also).results)

    def try_attacks(
        self,
        release: Release,
        names: Sequence[str] | None = None,
        seed: int | None = None,
        *,
        rerun: bool = True,
        also: Sequence[Release] = (),
        trials: Trials | None = None,
    ) -> Attacked:
        """Run every attack that fits the release, or those named; say which could not be run, and what they lacked.

        With `rerun` the method is run again on parts of the log, as its statement says it was run: that makes the
        baseline of people held out, and several attacks need it. `also` are other releases of the same log. `trials`
        replaces what runs the method again, where somebody has it already. Without its truth, attacks that need it to
        keep score are not run.
        """
        check_room(self.log)
        if trials is None:
            trials = self.trials(release, seed) if rerun else NoTrials(NOT_RERUN)
        missing: dict[str, str] = {}
        nothing: dict[str, str] = {}
        extra = {"trials": trials, "also": also, "halves": self.halves(seed)}
        found = self._check(ATTACKS, "attack", release, names, seed, extra, missing, nothing)
        return Attacked(cast("list[AttackResult]", found), missing, nothing)

    def trials(self, release: Release, seed: int | None = None) -> Trials:
        """Return what runs the method of a release again, with the settings of its statement."""
        return MethodTrials(self, release.statement, self.halves(seed), seed)

    def measure(
        self, release: Release, names: Sequence[str] | None = None, seed: int | None = None
    ) -> ResultList[Score]:
        """Run every measure that fits the release, or those named."""
        return ResultList(self._check(MEASURES, "measure", release, names, seed, {}, {}, {}))

    def _check(
        self,
        catalog: Catalog[Check],
        what: str,
        release: Release,
        names: Sequence[str] | None,
        seed: int | None,
        extra: Mapping[str, Any],
        missing: dict[str, str],
        nothing: dict[str, str],
    ) -> list[Any]:
        names = None if names is None else [catalog.find(name).name for name in names]
        for name in names or ():
            if release.kind not in catalog[name].kinds:
                raise ParameterError(f"The {what} {name!r} does not fit a release of {release.statement.method}.")
        chosen = [c for c in catalog.values() if release.kind in c.kinds and (names is None or c.name in names)]
        wanted = {need for check in chosen for need in check.needs}
        made: dict[Need, Any] = {need: extra[need] for need in wanted if need in extra}
        made |= self._needs(wanted - made.keys(), release, release.statement.settings)
        random = Randomness(seed)
        out: list[Any] = []
        for check in chosen:
            needs = {need: made[need] for need in check.needs}
            if catalog is ATTACKS and release.truth is None and release.has_users and not check.without_truth:
                if release.statement.ids != "invented":
                    missing[check.name] = "it needs the truth of the release to keep score (--truth)"
                    continue
                if not check.of_invented:
                    nothing[check.name] = INVENTED
                    continue
            try:
                found = check.function(self.log, release, random.child(check.name), self.progress, **needs)
            except NothingToAttackError as error:
                nothing[check.name] = str(error)
                continue
            except CannotAttackError as error:
                missing[check.name] = str(error)
                continue
            out += found if isinstance(found, list) else [found]
        return out

    def _needs(
        self,
        wanted: Collection[Need],
        release: Release | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[Need, Any]:
        """Make what is asked for; what is not asked for costs nothing. `settings` are those of the method."""
        needs: dict[Need, Any] = {}
        for need in wanted:
            if need == "release_concepts":
                assert release is not None
                needs[need] = self.concepts_of(release)
            elif need == "release_paths":
                assert release is not None
                needs[need] = self._paths_of(release.log, partial(self._concepts_of, release), settings)
            elif need == "paths":
                needs[need] = self._paths_of(self.log, self._concepts_in, settings)
            elif need == "askers":
                assert release is not None
                needs[need] = self.askers_of(release)
            else:
                needs[need] = getattr(self, need)
        return needs

    def halves(self, seed: int | None = None) -> Halves:
        """Return each person's log in a known and an unknown half; the same for all attacks with one seed."""
        if self.log.time is not None:
            seed = 0  # nothing is drawn
        if seed is None:
            return halves(self.log, Randomness())
        if seed not in self._halves:
            self._halves[seed] = halves(self.log, Randomness(seed).child("halves"))
        return self._halves[seed]

    def exposure_of(self, release: Release) -> Exposure:
        """Count what a release exposes without any attacker."""
        from querycloak.evaluation.exposure import exposure

        return exposure(self.log, release, self.askers_of(release), sensitive=self.sensitive)

    def forget_releases(self) -> None:
        """Forget what was made of releases, so that a bench that is kept for many of them does not keep them all."""
        self._made.clear()

    def part(self, log: QueryLog) -> Workbench:
        """Return a bench for a part of the log, with the same knowledge."""
        knowledge = None if self.knowledge is None else self.taxonomy
        return Workbench(log, knowledge, self.directory, self.resolver, **self.reading)

    @property
    def reading(self) -> dict[str, Any]:
        """How queries are read: what a bench for a part of the log, or of another process, must share."""
        return {"mapping": self.mapping, "learn_from_clicks": self.learn_from_clicks}

    def for_release(self, release: Release) -> Workbench:
        """Return a bench that reads queries as the release's method did, where no mapping was asked for.

        Where that learned from clicks, the bench does: attacks run the method again, and must run the same one.
        """
        learn = self.learn_from_clicks or release.statement.mapping_learned
        if learn:
            refuse_learning(release.statement.method, private="epsilon" in release.statement.parameters)
        mapping = check_mapping(self.mapping or mapping_of_statement(release.statement.mapping))
        return replace(self, mapping=mapping, learn_from_clicks=learn)

    def askers_of(self, release: Release) -> Askers:
        """Return who of the log asked each published text."""
        from querycloak.releases.askers import find_askers

        tree = self._tree_of(release)
        return self._remember(
            "askers", release, lambda: find_askers(self.log, release, concepts=self._concepts_in(tree), taxonomy=tree)
        )

    def _tree_of(self, release: Release) -> Taxonomy:
        """Return the taxonomy whose labels a release may have: that of the categories, for the method of a stream."""
        try:
            needs = find_method(release.statement.method).needs
        except UnknownNameError:  # of a package that is not here
            return self.taxonomy
        if "paths" not in needs or self.log.category is not None:
            return self.taxonomy
        return self.category_tree(release.statement.settings)

    def _remember(self, what: str, release: Release, make: Callable[[], T]) -> T:
        """Return what was made of a release before; several attacks ask for the same. Few are kept."""
        key = (what, id(release))
        if key not in self._made:
            while len(self._made) >= MOST_REMEMBERED:
                del self._made[next(iter(self._made))]
            self._made[key] = (release, make())  # the release is kept too, so that its id is not given to another
        return cast("T", self._made[key][1])

    def _map(self, log: QueryLog, taxonomy: Taxonomy) -> ConceptLog:
        from querycloak.mapping import map_log

        mapper = mapper_of(taxonomy, check_mapping(self.mapping))
        found = map_log(log, mapper, progress=self.progress)
        if not self.learn_from_clicks:
            return found
        from querycloak.mapping.learned_sites import site_concepts, with_sites

        return with_sites(found, log, site_concepts(self.log, mapper))

    def concepts_of(self, release: Release) -> ConceptLog:
        """Return the concepts of what was published."""
        return self._concepts_of(release, self.taxonomy)

    def _concepts_of(self, release: Release, taxonomy: Taxonomy) -> ConceptLog:
        kind = "concepts" if taxonomy is self.taxonomy else "categories"
        return self._remember(kind, release, lambda: release.concepts(taxonomy, lambda log: self._map(log, taxonomy)))
