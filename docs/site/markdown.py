"""Writes each page as Markdown, and their index as `llms.txt`, next to the pages of the site.

A hook of mkdocs. `hooks.md` on the site is the page `hooks/` as text, for programs that read text.
"""

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure import StructureItem
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

_ENTRY = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
_texts: dict[str, str] = {}
_index: list[str] = []


def on_page_content(html: str, page: Page, **_: Any) -> None:
    """Keeps the Markdown of a page."""
    _texts[page.file.src_uri] = page.markdown or ""


def on_env(env: Any, config: MkDocsConfig, **_: Any) -> None:
    """Replaces the entries of the reference by their signatures and docstrings."""
    handler = config.plugins["mkdocstrings"].get_handler("python")
    options = handler.get_options({})

    def describe(match: re.Match[str]) -> str:
        return "\n\n".join(describe_object(handler.collect(match[1], options), "##"))

    for name, text in _texts.items():
        _texts[name] = _ENTRY.sub(describe, text)


def on_nav(nav: Navigation, config: MkDocsConfig, **_: Any) -> None:
    """Writes the index in the order of the navigation."""
    _texts.clear()
    _index[:] = [f"# {config.site_name}", f"\n> {config.site_description}\n"]
    for item in nav.items:
        _index.append(f"## {item.title}\n")
        _index.extend(f"- [{page.title}]({page.file.src_uri})" for page in list_pages(item))
        _index.append("")


def list_pages(item: StructureItem) -> list[Page]:
    """Returns a page of the navigation, or the pages of a section and its sections."""
    if isinstance(item, Page):
        return [item]
    return [page for child in item.children or () for page in list_pages(child)]


def on_post_build(config: MkDocsConfig) -> None:
    """Writes the files."""
    site = Path(config.site_dir)
    for name, text in _texts.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(_index), encoding="utf-8")


def describe_object(item: griffe.Object | griffe.Alias, mark: str) -> list[str]:
    """Returns the sections of a class or function and its public members."""
    parts = [f"{mark} `{item.name}`"]
    if item.is_function or item.is_class:
        parts.append(f"```python\n{item.signature(name=item.name)}\n```")
    if item.docstring:
        parts.append(item.docstring.value)
    members = item.members.values() if item.is_class else ()
    for member in members:
        if not member.name.startswith("_"):
            parts += describe_object(member, f"{mark}#")
    return parts
