"""What MkDocs cannot do by itself for our pages, as a hook of `mkdocs.yml`.

Pages are written so that they can be read in the repository too. There, links may leave `docs/`; here three of those
files are pages of the site (`ARCHITECTURE.md` and the like), and a link to any other file outside becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "README.md": "index.md",
}
"""Files outside docs/ that are pages of the site. The README's own page is docs/index.md, which says the same."""
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill `adr/*` of the navigation in, and leave out the pages that are not written yet."""
    docs = Path(config.docs_dir)
    to_come = {page for page in config.extra["pages_to_come"] if not (docs / page).exists()}
    config.nav = expand(config.nav, docs, to_come)
    return config


def expand(entry: Any, docs: Path, to_come: set[str]) -> Any:
    """Return a part of the navigation with patterns replaced by the pages they match, and without pages to come."""
    if isinstance(entry, list):
        out: list[Any] = []
        for each in entry:
            if isinstance(each, str) and "*" in each:
                out += sorted(path.relative_to(docs).as_posix() for path in docs.glob(each) if path.suffix == ".md")
            elif (found := expand(each, docs, to_come)) is not None:
                out.append(found)
        return out
    if isinstance(entry, dict):
        ((title, inner),) = entry.items()
        found = expand(inner, docs, to_come)
        return {title: found} if found else None
    return None if entry in to_come else entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that are pages."""
    for outside, inside in OUTSIDE.items():
        if inside != "index.md":
            text = (ROOT / outside).read_text(encoding="utf-8")
            files.append(File.generated(config, inside, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Adapt the links of a page, but not what is in a block of code; records of decisions are found last."""
    if page.file.src_uri.startswith("adr/"):
        page.meta["search"] = {"boost": 0.2}
    at = {inside: outside for outside, inside in OUTSIDE.items() if inside != "index.md"}
    here = at.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return rewrite(markdown, here, page.file.src_uri)


def rewrite(markdown: str, here: str, page: str) -> str:
    """Return the text of a page with its links as the site needs them.

    `here` is where the text is in the repository, `page` where it is in the site's sources.
    """
    parts = FENCE.split(markdown)
    return "".join(
        part if part.startswith("```") else LINK.sub(lambda found: _link(found, here, page), part) for part in parts
    )


def _link(found: re.Match[str], here: str, page: str) -> str:
    text, target = found[1], found[2]
    path, _, anchor = target.partition("#")
    if not path or "://" in target or target.startswith("mailto:"):
        return found[0]
    at = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
    if at in OUTSIDE:
        inside = OUTSIDE[at]
    elif at.startswith("docs/"):
        inside = at.removeprefix("docs/")
        folder = ROOT / at
        if folder.is_dir():
            index = folder / "README.md"
            if not index.exists():
                return text
            inside += "/README.md"
    else:
        return text
    link = posixpath.relpath(inside, posixpath.dirname(page) or ".")
    return f"[{text}]({link}{'#' + anchor if anchor else ''})"
