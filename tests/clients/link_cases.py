"""Every relative link of the documentation leads to a file, and every anchor to a heading of it.

    python link_cases.py
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from report import Case, Report

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def documents() -> list[Path]:
    """What is or will be committed; nothing that was installed or built."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in sorted(set(printed.splitlines())) if (ROOT / line).exists()]


def links(text: str) -> list[str]:
    """Those of the prose: what stands in code is an example."""
    return LINK.findall(CODE.sub("", INDENTED.sub("", FENCE.sub("", text))))


@cache
def anchors(path: Path) -> set[str]:
    """As GitHub makes them of headings: lower case, blanks to hyphens, nothing else but letters, digits and hyphens."""
    headings = HEADING.findall(FENCE.sub("", path.read_text()))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain}


def problem(document: Path, link: str) -> str | None:
    """What is wrong with a link, if anything is."""
    place, _, anchor = link.partition("#")
    target = (document.parent / unquote(place)).resolve() if place else document
    if not target.is_relative_to(ROOT):
        return f"{link} leads out of the repository"
    if not target.exists():
        return f"{link} leads to nothing"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"{link} names no heading of {target.relative_to(ROOT)}"
    return None


def check() -> None:
    wrong = []
    for document in documents():
        found = (link for link in links(document.read_text()) if not re.match(r"[a-z][a-z0-9+.-]*:", link))
        wrong += [f"{document.relative_to(ROOT)}: {why}" for link in found if (why := problem(document, link))]
    if wrong:
        raise AssertionError("; ".join(wrong))


def cases() -> Iterator[Case]:
    yield "every relative link in *.md leads to a file, and to a heading of it", check


def main() -> int:
    report = Report()
    report.run(cases())
    print(f"\n{report.passed} passed, {report.failed} failed", flush=True)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
