"""The troubles that users of other reviewers report, and which test of ours holds each off.

The list is complete and every test that it names exists: that is what is tested here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Trouble:
    """What went wrong elsewhere, and the tests (``folder/file.py::function``) that cover it."""

    what: str
    tests: tuple[str, ...]


TROUBLES = {
    1: Trouble(
        "a comment outside its hunk is a 422 for the whole review, which does not name it",
        (
            "bot/github/test_reviews.py::test_trouble_1_the_guilty_entry_is_found_and_moved_to_the_text",
            "bot/github/test_reviews.py::test_several_guilty_entries_and_none_good",
            "bot/github/test_compose.py::test_trouble_1_a_comment_outside_the_hunks_goes_into_the_text",
            "bot/review/test_safety.py::test_trouble_1_a_remark_outside_its_hunk_is_held_back",
        ),
    ),
    2: Trouble(
        "@@ -1 +1 @@: an omitted count means 1",
        (
            "bot/diff/test_github_files.py::test_omitted_counts_and_hunks_that_only_delete",
            "bot/diff/test_parse.py::test_golden",
            "bot/github/test_anchors.py::test_anchor",
        ),
    ),
    3: Trouble(
        "hunks that only delete are dropped or leak",
        (
            "bot/diff/test_github_files.py::test_omitted_counts_and_hunks_that_only_delete",
            "bot/diff/test_parse.py::test_golden",
            "bot/review/test_targets.py::test_a_removed_file",
            "bot/github/test_anchors.py::test_anchor",
        ),
    ),
    4: Trouble(
        "incremental review by dates is wrong after a rebase",
        (
            "bot/github/test_fetch.py::test_trouble_4_after_a_rebase_only_the_new_hunks_are_read",
            "bot/diff/test_range_diff.py::test_a_rebase_brings_in_nothing_of_upstreams",
            "bot/diff/test_range_diff.py::test_a_merge_of_main_and_work_after_it",
            "e2e/test_pull_life.py::test_one_review_a_reviewed_head_and_no_remark_twice",
        ),
    ),
    5: Trouble(
        "a force-push re-points the commit of an old review",
        (
            "bot/github/test_action.py::test_trouble_5_after_a_rebase_our_own_note_of_the_head_counts",
            "bot/jobs/test_worker.py::test_one_review_a_head_whatever_is_delivered",
            "e2e/test_pull_life.py::test_one_review_a_reviewed_head_and_no_remark_twice",
        ),
    ),
    6: Trouble(
        "a push during the review: posted on a stale head, the last reviewed head goes backwards",
        (
            "bot/jobs/test_worker.py::test_a_push_during_the_review_stops_it",
            "bot/jobs/test_worker.py::test_a_push_whose_delivery_is_lost_is_followed",
            "bot/jobs/test_publish.py::test_a_moved_head_leaves_nothing_behind",
            "bot/github/test_fetch.py::test_trouble_6_the_head_moves_while_it_is_read",
            "bot/github/test_reviews.py::test_trouble_6_a_push_while_the_review_is_made",
        ),
    ),
    7: Trouble(
        "the same remark again at every push, and a dismissed one returns",
        (
            "bot/github/test_compose.py::test_trouble_7_a_fingerprint_survives_moved_lines_and_not_other_code",
            "bot/github/test_commander.py::test_trouble_7_dismiss_in_a_thread_is_for_good",
            "bot/jobs/test_worker.py::test_what_was_said_and_dismissed_reaches_the_reviewer",
            "bot/review/test_gate.py::test_known_and_dismissed_remarks_do_not_return",
            "e2e/test_pull_life.py::test_one_review_a_reviewed_head_and_no_remark_twice",
        ),
    ),
    8: Trouble(
        "a redelivery gives a second review; all hooks of an event carry one GUID",
        (
            "bot/store/test_ledger.py::test_a_delivery_is_one_by_hook_and_guid",
            "bot/jobs/test_worker.py::test_one_review_a_head_whatever_is_delivered",
            "bot/jobs/test_worker.py::test_the_same_body_under_a_new_guid_does_nothing",
            "e2e/test_many_deliveries.py::test_one_review_a_head_and_none_lost",
        ),
    ),
    9: Trouble(
        "GitHub never delivers again by itself: what was missed must be found",
        (
            "e2e/test_missed.py::test_trouble_9_missed_deliveries_are_taken_in_at_start_and_every_interval",
            "e2e/test_missed.py::test_polling_tells_of_pushes_and_commands_where_nothing_can_reach_us",
            "bot/github/test_deliveries.py::test_trouble_9_what_never_arrived_is_read_back",
        ),
    ),
    10: Trouble(
        "the diff is 406 above 300 files or 20,000 lines; the files list stops at 3,000",
        (
            "bot/github/test_fetch.py::test_trouble_10_the_files_list_stops_and_git_goes_on",
            "bot/github/test_fetch.py::test_compared_gives_nothing_where_github_shows_only_a_part",
            "bot/jobs/test_worker.py::test_what_could_not_be_read_is_told_in_the_review",
        ),
    ),
    11: Trouble(
        "rows past the limit of a page come with additions: 0 and no patch",
        (
            "bot/github/test_fetch.py::test_trouble_11_rows_past_a_pages_limit_come_by_smaller_pages",
        ),
    ),
    12: Trouble(
        "a huge one-line file has no patch: say so",
        (
            "bot/github/test_fetch.py::test_trouble_12_a_file_too_large_to_be_shown_comes_by_git",
            "bot/github/test_fetch.py::test_without_git_what_is_missing_is_said",
            "bot/review/test_targets.py::test_a_line_longer_than_the_input_is_left_out_and_said",
        ),
    ),
    13: Trouble(
        "committable code that does not parse",
        (
            "bot/review/test_safety.py::test_trouble_13_code_that_does_not_parse_is_held_back",
            "bot/review/test_gate.py::test_suggestions_that_only_break_together_are_not_posted_together",
        ),
    ),
    14: Trouble(
        "a range misunderstood: neighbours deleted or doubled",
        (
            "bot/review/test_safety.py::test_trouble_14_a_range_past_the_file_is_held_back",
            "bot/review/test_windows.py::test_a_replacement_does_what_its_edits_do",
            "bot/diff/test_apply.py::test_several_replacements_speak_of_the_same_text",
        ),
    ),
    15: Trouble(
        "a suggestion on a comment line overwrites it",
        ("bot/review/test_safety.py::test_trouble_15_a_comment_is_not_overwritten",),
    ),
    16: Trouble(
        "indentation, tabs or carriage returns lost",
        (
            "bot/review/test_safety.py::test_trouble_16_indentation_is_kept",
            "bot/review/test_safety.py::test_trouble_16_tabs_and_spaces_are_not_mixed",
            "bot/review/test_safety.py::test_trouble_16_carriage_returns_are_kept",
        ),
    ),
    17: Trouble(
        "a fence inside the code breaks the fence around it",
        ("bot/github/test_text.py::test_trouble_17_a_fence_holds_whatever_is_inside",),
    ),
    18: Trouble(
        "remarks on deleted lines lost; suggestions there, or that change nothing, are invalid",
        (
            "bot/github/test_reviews.py::test_trouble_18_a_review_is_created_pending_and_submitted_with_both_sides",
            "bot/review/test_safety.py::test_trouble_18_deleted_lines_take_remarks_but_no_suggestion",
            "bot/review/test_safety.py::test_trouble_18_a_suggestion_that_changes_nothing_is_held_back",
        ),
    ),
    19: Trouble(
        "start_line equal to line is a 422",
        ("bot/github/test_compose.py::test_trouble_19_start_line_equal_to_line_is_dropped",),
    ),
    20: Trouble(
        "a burst of comments hits the secondary limit",
        (
            "bot/github/test_reviews.py::test_trouble_20_one_review_is_one_write_whatever_its_comments",
            "bot/github/test_client.py::test_trouble_20_retry_after_is_honoured",
            "bot/github/test_client.py::test_trouble_20_a_limit_without_retry_after_is_backed_off",
            "bot/github/test_errors.py::test_trouble_20_what_an_answer_means",
            "bot/jobs/test_worker.py::test_a_rate_limit_makes_the_whole_installation_wait",
            "bot/jobs/test_worker.py::test_a_storm_of_labels_costs_the_forge_nothing",
        ),
    ),
    21: Trouble(
        "a file that is binary or not UTF-8 ends the whole review",
        (
            "bot/github/test_fetch.py::test_trouble_21_binary_and_undecodable_files_cost_themselves_alone",
            "bot/store/test_ledger.py::test_hostile_text_is_kept_visibly",
        ),
    ),
    22: Trouble(
        "a diff with CRLF gives file.go and a carriage return as a name",
        (
            "bot/diff/test_parse.py::test_golden",
            "bot/review/test_targets.py::test_crlf_lines_keep_their_carriage_returns",
        ),
    ),
    23: Trouble(
        "commenters override the configuration, spend compute; the bot triggers itself",
        (
            "bot/github/test_policy.py::test_trouble_23_the_pull_requests_own_branch_never_configures",
            "bot/github/test_commander.py::test_trouble_23_who_has_no_write_permission_changes_nothing",
            "bot/github/test_commander.py::test_trouble_23_neither_bots_nor_ourselves",
            "bot/github/test_commands.py::test_trouble_23_markup_inside_a_command_makes_it_unknown",
            "bot/events/test_routing.py::test_commands_come_from_people_on_pull_requests",
            "bot/webhook/test_webhook.py::test_unserved_repositories_are_ignored_with_a_reason",
            "bot/webhook/test_webhook.py::test_logs_name_the_delivery_and_nothing_secret",
        ),
    ),
    24: Trouble(
        "a model in each of many web processes: out of memory",
        (
            "bot/jobs/test_worker_process.py::test_nothing_heavy_is_in_the_web_process",
            "bot/jobs/test_worker_process.py::test_jobs_are_bounded",
        ),
    ),
    25: Trouble(
        "65,536 characters a comment, 50 annotations a request; empty and looping comments",
        (
            "bot/github/test_compose.py::test_trouble_25_nothing_is_longer_than_github_takes",
            "bot/github/test_text.py::test_trouble_25_the_limit_of_a_comment",
            "bot/github/test_follow_up.py::test_a_neutral_check_run_once_with_annotations_in_fifties",
            "bot/review/test_safety.py::test_trouble_25_empty_looping_and_steered_comments_are_held_back",
        ),
    ),
    26: Trouble(
        "a submodule's bump is judged as missing commits",
        (
            "bot/diff/test_parse.py::test_golden",
            "bot/diff/test_parse.py::test_a_submodule_between_two_others_takes_no_file_of_theirs",
            "bot/diff/test_github_files.py::test_a_submodule_has_no_mode_here_but_its_line",
            "bot/diff/test_coverage.py::test_what_a_file_is",
        ),
    ),
    27: Trouble(
        "resolving threads is forbidden; a person's pending review is in the way",
        (
            "bot/github/test_follow_up.py::test_trouble_27_without_the_permission_threads_are_left_with_a_note",
            "bot/github/test_reviews.py::test_trouble_27_a_persons_own_pending_review_is_left_alone",
            "bot/jobs/test_publish.py::test_another_jobs_pending_review_is_deleted_and_a_persons_never",
            "bot/github/test_reviews.py::test_a_probe_left_by_a_crash_is_cleared_away",
        ),
    ),
    28: Trouble(
        "reactions have no webhook: they are asked for",
        ("bot/github/test_reviews.py::test_trouble_28_reactions_are_asked_for",),
    ),
}


@cache
def functions(file: str) -> frozenset[str]:
    """The tests in a file, without running or importing it."""
    path = TESTS / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_the_list_is_complete() -> None:
    assert list(TROUBLES) == list(range(1, 29))


@pytest.mark.parametrize("number", TROUBLES)
def test_every_trouble_has_its_tests(number: int) -> None:
    named = TROUBLES[number].tests
    assert named
    gone = [test for test in named if test.partition("::")[2] not in functions(test.split("::")[0])]
    assert gone == []


@pytest.mark.parametrize(
    ("number", "golden"),
    [
        (2, "omitted_counts"),
        (3, "deletion_only"),
        (22, "crlf_diff"),
        (26, "submodule_gitlink"),
        (26, "submodule_log"),
        (26, "submodule_diff"),
    ],
)
def test_the_diffs_that_a_golden_test_needs_are_there(number: int, golden: str) -> None:
    assert "bot/diff/test_parse.py::test_golden" in TROUBLES[number].tests
    for ending in ("diff", "json"):
        assert (TESTS / "fixtures" / "diffs" / f"{golden}.{ending}").is_file()
