"""The site builds strictly, none of its links is broken, and it loads nothing from elsewhere."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from processes import run_process

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") != "canonical":
            self.loaded.append(values["href"])
        elif tag in ("script", "img", "iframe") and "src" in values:
            self.loaded.append(values["src"])


def find_broken_links(site: Path) -> list[str]:
    """Lists links to pages and anchors that do not exist, and files loaded from other hosts."""
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    broken.append(f"{path.relative_to(site)} loads {link}")
                continue
            base = site if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            fragment = unquote(parts.fragment)
            if not target.is_file() or (
                fragment and target in pages and fragment not in pages[target].anchors
            ):
                broken.append(f"{path.relative_to(site)} -> {link}")
    return broken


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Returns the built site."""
    directory = tmp_path_factory.mktemp("site")
    run_process(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", directory],
        cwd=ROOT,
        NO_MKDOCS_2_WARNING="1",
    )
    return directory


@pytest.mark.long
def test_no_link_is_broken(site):
    assert find_broken_links(site) == []
    # A link that leaves docs leads to a page of the site.
    assert (site / "repository/CONTRIBUTING/index.html").exists()
    assert "tf.while_loop" in (site / "repository/ARCHITECTURE/index.html").read_text()


@pytest.mark.long
def test_signatures_show_the_public_names(site):
    text = re.sub(r"<[^>]+>", "", (site / "reference/estimator_train/index.html").read_text())
    assert "EstimatorV2" not in text
    assert re.search(r"Estimator\(\s+model_fn,\s+model_dir=None,\s+config=None,", text)
    canned = re.sub(r"<[^>]+>", "", (site / "reference/canned/index.html").read_text())
    assert "_MEAN" not in canned
    assert "loss_reduction=tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE" in canned


@pytest.mark.long
def test_every_page_is_also_markdown(site):
    index = (site / "llms.txt").read_text()
    listed = re.findall(r"^- \[.+\]\((.+\.md)\)", index, re.MULTILINE)
    assert len(listed) == len(set(listed)) > 30
    assert [name for name in listed if not (site / name).is_file()] == []
    assert "## `Estimator`" in (site / "reference/estimator_train.md").read_text()
    assert ":::" not in (site / "reference/estimator_train.md").read_text()


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/index.html").write_text('<h1 id="x"></h1><a href="../">up</a>')
    (tmp_path / "index.html").write_text(
        '<a href="a/#x">good</a><a href="a/#y">no anchor</a><a href="b/">no page</a>'
        '<script src="https://example.com/x.js"></script><a href="https://example.com">far</a>'
    )
    assert find_broken_links(tmp_path) == [
        "index.html -> a/#y",
        "index.html -> b/",
        "index.html loads https://example.com/x.js",
    ]
