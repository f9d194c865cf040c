"""Check every link of the built pages: the file is there, and so is the place in it. Nothing is fetched from a network.

python docs/check_links.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links and the named places of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := found.get(key))}
        if (link := found.get("href" if tag in {"a", "link"} else "src")) is not None:
            self.links.append(link)


def broken(folder: Path) -> list[str]:
    """One line a link that leads nowhere."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path.resolve()] = page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
    lines, n_links = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not link or link == "#":
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                lines.append(f"{path.name}: {link} is no file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                lines.append(f"{path.name}: {link} has no such place")
    print(f"{n_links} links in {len(pages)} pages, {len(lines)} lead nowhere")
    return lines


if __name__ == "__main__":
    found = broken(Path(sys.argv[1]))
    print(*found[:50], sep="\n")
    raise SystemExit(bool(found))
