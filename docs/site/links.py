"""Makes links that leave the folder docs work on the site.

A hook of mkdocs. A file of the repository that a page links to becomes a page below `repository/`:
Markdown files with their own links, other files as code.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_LINK = re.compile(r"(\[[^\]]*\]\()([^)#:\s]+)(#[^)\s]*)?\)")
_LANGUAGES = {".py": "python", ".sh": "bash", ".ipynb": "json", ".yml": "yaml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each file of the repository that a page links to."""
    new = [path for path in DOCS.rglob("*.md") if files.get_file_from_path(site_path(path))]
    known = set(new)
    while new:
        path = new.pop()
        for target in sorted(linked_files(path) - known):
            known.add(target)
            new.append(target)
            content = page_of(target)
            files.append(File.generated(config, site_path(target), content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Replaces the links of a page to files of the repository by links to their pages."""
    source = repository_path(page.file.src_uri)

    def replace(match: re.Match[str]) -> str:
        target = resolve(source, match[2])
        if target is None:
            return match[0]
        link = os.path.relpath(site_path(target), os.path.dirname(page.file.src_uri) or ".")
        return f"{match[1]}{link}{match[3] or ''})"

    return _LINK.sub(replace, markdown)


def linked_files(path: Path) -> set[Path]:
    """Returns the files that a Markdown file of the repository links to."""
    if path.suffix != ".md":
        return set()
    found = (resolve(path, match[2]) for match in _LINK.finditer(path.read_text()))
    return {target for target in found if target and not target.is_relative_to(DOCS)}


def resolve(source: Path, target: str) -> Path | None:
    """Returns the file of the repository that a link leads to; None for other links."""
    path = (source.parent / target).resolve()
    return path if path.is_file() and path.is_relative_to(ROOT) else None


def site_path(path: Path) -> str:
    """Returns the source path of a file of the repository on the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    return f"repository/{name if path.suffix == '.md' else name + '.md'}"


def repository_path(src_uri: str) -> Path:
    """Returns the file of the repository behind a page of the site."""
    inside = src_uri.removeprefix("repository/")
    if inside == src_uri:
        return DOCS / src_uri
    path = ROOT / inside
    return path if path.exists() else path.with_suffix("")


def page_of(path: Path) -> str:
    """Returns a file as Markdown."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    language = _LANGUAGES.get(path.suffix, "text")
    return f"# {path.relative_to(ROOT)}\n\n````{language}\n{text}````\n"
