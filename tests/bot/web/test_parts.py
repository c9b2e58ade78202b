"""What the pages are made of: lists on both databases, diffs, plots, colours, words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import count
from pathlib import Path

import pytest

import bot.web
from bot.diff import parse_diff
from bot.feedback.measures import Bin, bins, wilson
from bot.feedback.outcome import State
from bot.feedback.tables import OutcomeRow
from bot.jobs.forge import PullRef, RequestKind, ReviewRequest
from bot.review.types import Reason
from bot.store.diffs import MOST_LINES, pack, unpack
from bot.store.ledger import Ledger
from bot.store.retention import forget_old
from bot.store.tables import CandidateRow, ReviewRowState, WebSession
from bot.web import charts, diff_view, lists, words
from bot.web.people import Sessions
from models.change import Change, ChangedFile, FileStatus, Hunk, Line, LineKind, Side
from tests.bot.service import change, result, state
from tests.bot.web import site as made

_keys = count(1)
DAY = 86_400


def draft(ledger: Ledger, repository: int, pull: int, at: float, of: Change | None = None) -> int:
    ref = PullRef(repository, f"o/r{repository}", pull, 5)
    asked = ledger.jobs.request(
        ref, state(), ReviewRequest(RequestKind.EVENT), None, at, lambda *_: None
    )
    job = ledger.jobs.get(asked.job_id)
    found = result(change()) if of is None else made.result()
    return ledger.reviews.save_draft(job, found, None, "m", (), ReviewRowState.EMPTY, at)


def outcome(ledger: Ledger, repository: int, state: str, at: float, final: bool = True) -> None:
    with ledger.database.write() as session:
        session.add(
            OutcomeRow(
                comment_id=next(_keys), repository_id=repository, repository="o/r",
                installation_id=None, pull=1, origin="ruff:B006", kind="finding",
                language="python", prior=0.5, rel=0.5, confidence=1.0, posted_at=at,
                state=state, final=final, edit_progress=None, ended_at=None, changed_at=at,
            )
        )  # fmt: skip


# -- lists, on both databases ------------------------------------------------------------------


def test_reviews_are_listed_newest_first_page_by_page(ledger):
    for pull in range(1, lists.PAGE + 4):
        draft(ledger, 1, pull, float(pull))
    hidden = draft(ledger, 2, 1, 99.0)
    first = lists.reviews(ledger.database, [1])
    assert len(first) == lists.PAGE + 1
    assert [one.pull for one in first[:2]] == [lists.PAGE + 3, lists.PAGE + 2]
    assert (first[0].candidates, first[0].posted) == (1, 1)
    rest = lists.reviews(ledger.database, [1], before=first[lists.PAGE - 1].id)
    assert [one.pull for one in rest] == [3, 2, 1]
    assert [one.pull for one in lists.reviews(ledger.database, [1], pull=2)] == [2]
    assert lists.reviews(ledger.database, []) == []
    assert lists.repository_of_review(ledger.database, hidden) == 2
    assert lists.repository_of_review(ledger.database, 10_000) is None


def test_a_review_comes_with_all_that_its_page_shows(ledger):
    number = draft(ledger, 1, 7, 5.0, of=change())
    found = lists.review(ledger.database, number)
    assert [one.rank for one in found.candidates] == [1, 2, 3, 4, 5]
    assert found.total == 5
    assert [file.path for file in found.files] == ["checkout/client.py", "checkout/totals.py"]
    assert found.files[0].line_at(Side.RIGHT, 19).text == "            except:"
    assert lists.review(ledger.database, number + 1) is None


def test_acceptance_is_counted_in_the_database(ledger):
    june = 1_780_315_200.0  # 2026-06-01 12:00
    for at, word in enumerate(["accepted-as-is", "accepted-edited", "dismissed", "outdated"]):
        outcome(ledger, 1, word, june + at)
    outcome(ledger, 1, "accepted-as-is", june - DAY)
    outcome(ledger, 1, "open", june, final=False)
    outcome(ledger, 2, "dismissed", june)
    found = lists.acceptance(ledger.database, 1)
    assert (found.total, found.open, found.states["outdated"]) == (4, 1, 1)
    (rule,) = found.by_rule
    assert (rule.name, rule.accepted, rule.total) == ("ruff:B006", 3, 4)
    assert (rule.low, rule.high) == wilson(3, 4)
    months = [(one.name, one.accepted, one.total) for one in found.by_month]
    assert months == [("2026-05", 1, 1), ("2026-06", 2, 3)]
    shares = lists.repositories_with_outcomes(ledger.database, [1, 2, 3])
    assert {number: (one.accepted, one.total) for number, one in shares.items()} == {
        1: (3, 4),
        2: (0, 1),
    }


def test_jobs_are_counted_and_listed_by_state(ledger):
    draft(ledger, 1, 1, 1.0)
    draft(ledger, 1, 2, 2.0)
    draft(ledger, 2, 1, 3.0)
    assert lists.job_counts(ledger.database, [1]) == {"queued": 2}
    assert [job.pull for job in lists.jobs(ledger.database, [1])] == [2, 1]
    assert lists.jobs(ledger.database, [1], "parked") == []
    assert lists.parked_deliveries(ledger.database, [1]) == []


def test_what_is_old_is_forgotten(ledger):
    number = draft(ledger, 1, 1, 10.0, of=change())
    sessions = Sessions(ledger.database)
    cookie = sessions.begin("alice", "t", 10.0)
    forget_old(ledger.database, 10.0 + 200 * DAY, 180 * DAY, 14 * DAY)
    found = lists.review(ledger.database, number)
    assert (found.files, found.candidates) == ((), ())
    assert sessions.find(cookie, 11.0) is None
    with ledger.database.read() as session:
        assert session.query(WebSession).count() == 0


# -- diffs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file", sorted(Path("tests/fixtures/diffs").glob("*.diff")), ids=lambda path: path.stem
)
def test_a_packed_diff_is_the_diff(file):
    of = parse_diff(file.read_bytes())
    back = unpack(pack(of))
    assert [f.path for f in back] == [_clean(f.path) for f in of]
    for old, new in zip(of.files, back, strict=True):
        assert [h.header for h in new.hunks] == [_clean(h.header) for h in old.hunks]
        assert [
            [(one.kind, one.old_no, one.new_no, one.text, one.no_newline) for one in h.lines]
            for h in new.hunks
        ] == [
            [
                (one.kind, one.old_no, one.new_no, _clean(one.text), one.no_newline)
                for one in h.lines
            ]
            for h in old.hunks
        ]


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


def long_change(lines: int) -> Change:
    rows = tuple(Line(LineKind.ADDED, None, n, f"x{n}") for n in range(1, lines + 1))
    hunk = Hunk(0, 0, 1, lines, rows)
    last = Hunk(0, 0, lines + 5, 1, (Line(LineKind.ADDED, None, lines + 5, "end"),))
    return Change("o/r", "", "", (ChangedFile(None, "a", FileStatus.ADDED, (hunk, last)),))


def test_a_huge_diff_is_kept_and_shown_in_part():
    (file,) = unpack(pack(long_change(MOST_LINES)))
    assert len(file.hunks) == 1
    (view,) = diff_view.views(unpack(pack(long_change(5_000))), ())
    assert len(view.hunks) + view.left_out == 2
    (shown,) = diff_view.views(long_change(5_000).files, made_rows(4_999, 5_005))
    assert shown.count == 2
    assert sum(hunk.rows[-1].html.count("<tr") for hunk in shown.hunks) <= diff_view.MOST_LINES


def made_rows(*lines: int):
    return [
        CandidateRow(id=n, path="a", side="RIGHT", start_line=line, line=line)
        for n, line in enumerate(lines)
    ]


def test_every_candidate_is_shown_once_wherever_it_stands():
    files = parse_diff(made.DIFF).files
    rows = made_rows(1)
    for at, (path, side, line) in enumerate(
        [
            ("checkout/client.py", "RIGHT", 19),
            ("checkout/client.py", "LEFT", 15),
            ("checkout/client.py", "RIGHT", 400),
            ("gone.py", "RIGHT", 1),
        ],
        10,
    ):
        row = made_rows(line)[0]
        row.id, row.path, row.side = at, path, side
        rows.append(row)
    views = diff_view.views(files, rows)
    shown = [
        one.id
        for view in views
        for one in (*[c for h in view.hunks for r in h.rows for c in r.candidates], *view.elsewhere)
    ]
    assert sorted(shown) == [0, 10, 11, 12, 13]
    assert [view.path for view in views] == [
        "checkout/client.py", "checkout/totals.py", "a", "gone.py",
    ]  # fmt: skip


def test_code_is_escaped():
    (file,) = long_change(1).files
    evil = ChangedFile(
        None, "a", FileStatus.ADDED,
        (Hunk(0, 0, 1, 1, (Line(LineKind.ADDED, None, 1, "</td><script>"),)),),
    )  # fmt: skip
    (view,) = diff_view.views([evil], ())
    assert "&lt;/td&gt;&lt;script&gt;" in view.hunks[0].rows[0].html
    assert file.path == "a"


# -- plots and colours -------------------------------------------------------------------------


def test_the_plot_says_in_words_what_it_shows():
    curve = bins([0.1, 0.12, 0.55, 0.9, 0.92], [0, 1, 1, 1, 1])
    root = ET.fromstring(str(charts.calibration(curve, 0.5)))
    assert len([e for e in root.iter() if e.get("class") == "dot"]) == 3
    described = next(e for e in root.iter() if e.tag.endswith("desc")).text
    assert "Predicted 0.11: 0.50 came true" in described
    assert not [e for e in root.iter() if e.get("style")]
    # a bin on the diagonal is drawn on it
    (dot,) = [
        e
        for e in ET.fromstring(
            str(charts.calibration([Bin(0.4, 0.5, 9, 0.5, 0.5, 0.3, 0.7)], 0.5))
        ).iter()
        if e.get("class") == "dot"
    ]
    ideal = next(e for e in root.iter() if e.get("class") == "ideal")
    middle_x = (float(ideal.get("x1")) + float(ideal.get("x2"))) / 2
    middle_y = (float(ideal.get("y1")) + float(ideal.get("y2"))) / 2
    assert (float(dot.get("cx")), float(dot.get("cy"))) == (middle_x, middle_y)


def colours(dark: bool) -> dict[str, str]:
    sheet = Path(bot.web.__file__).with_name("static") / "marginalia.css"
    blocks = re.findall(r":root \{(.*?)\}", sheet.read_text(), re.DOTALL)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[0]))
    if dark:
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[1]))
    return found


def luminance(colour: str) -> float:
    """WCAG 2.2, "relative luminance"."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "papers", "least"),
    [
        ("text", ("ground", "surface", "add", "del", "meant", "tag"), 4.5),
        ("muted", ("ground", "surface"), 4.5),
        ("accent", ("ground", "surface"), 4.5),
        ("on-accent", ("accent",), 4.5),
        ("add-sign", ("add",), 4.5),
        ("del-sign", ("del",), 4.5),
        ("good", ("surface", "ground", "tag"), 4.5),
        ("bad", ("surface", "ground", "tag"), 4.5),
        ("warn", ("surface", "tag"), 4.5),
        ("edge", ("surface", "ground"), 3.0),
    ],
)
def test_colours_hold_contrast_in_both_themes(ink, papers, least, dark):
    found = colours(dark)
    for paper in papers:
        assert contrast(found[ink], found[paper]) >= least, (ink, paper)


# -- words -------------------------------------------------------------------------------------


def test_every_verdict_and_state_has_words():
    assert set(words.REASONS) == {one.value for one in Reason}
    assert set(words.OUTCOMES) == {one.value for one in State}
    assert {one.value for one in ReviewRowState} <= set(words.REVIEW_STATES)


def test_markdown_is_shown_without_html_images_or_scripts():
    shown = words.markdown("a `b` <b>c</b> ![x](https://e.example/i) [y](javascript:z)")
    assert "<code>b</code>" in shown
    assert "&lt;b&gt;" in shown
    assert "<img" not in shown
    assert 'href="javascript' not in shown
