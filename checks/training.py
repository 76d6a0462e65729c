"""Checks of training: splits share nothing, and whatever is fewer than asked for says why."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.training import question_invariants, rubric_invariants
from scholarlake.training import subgraph_invariants as invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "subgraphs": (
        contract_check("subgraphs"),
        contract_check("subgraph_batches"),
        Check(
            "walks_follow_citations",
            "Every walk begins at its seed, and every step goes along a citation of the core.",
            lambda subject: invariants.walks_follow_citations(subject.lake, subject.key),
        ),
        Check(
            "splits_share_nothing",
            "No subgraph, seed, paper, work or citation is shared with another split: what was compared, and how much is shared.",
            lambda subject: invariants.splits_share_nothing(subject.lake, subject.key),
        ),
        Check(
            "little_is_held_out",
            "Validation and test come to no more of the core than they may.",
            lambda subject: invariants.little_is_held_out(subject.lake, subject.key),
        ),
        Check(
            "no_subgraph_missing_unsaid",
            "Every batch has the subgraphs asked for, or says why it has fewer.",
            lambda subject: invariants.no_subgraph_missing_unsaid(subject.lake, subject.key),
        ),
    ),
    "questions": (
        contract_check("questions"),
        contract_check("question_batches"),
        Check(
            "every_question_has_one_answer",
            "The query that a question is, run on the whole corpus, finds the paper asked about and no other.",
            lambda subject: question_invariants.every_question_has_one_answer(subject.lake, subject.key),
        ),
        Check(
            "no_question_tells_its_answer",
            "No answer stands in its question, and no part of a question gives it by itself.",
            lambda subject: question_invariants.no_question_tells_its_answer(subject.lake, subject.key),
        ),
        Check(
            "questions_name_their_own_papers",
            "Questions ask about the seed of their subgraph and name other papers of it alone.",
            lambda subject: question_invariants.questions_name_their_own_papers(subject.lake, subject.key),
        ),
        Check(
            "no_question_missing_unsaid",
            "Every batch has the questions asked for, or says why it has fewer.",
            lambda subject: question_invariants.no_question_missing_unsaid(subject.lake, subject.key),
        ),
        Check(
            "splits_ask_nothing_alike",
            "No question is a near duplicate of one of another split.",
            lambda subject: question_invariants.splits_ask_nothing_alike(subject.lake, subject.key),
            blocking=False,
        ),
    ),
    "rubrics": (
        contract_check("rubrics"),
        Check(
            "every_question_has_a_rubric",
            "Every question has criteria of its answer, its planning and its grounding.",
            lambda subject: rubric_invariants.every_question_has_a_rubric(subject.lake, subject.key),
        ),
        Check(
            "weights_sum_to_100",
            "The weights of every rubric sum to exactly 100.",
            lambda subject: rubric_invariants.weights_sum_to_100(subject.lake, subject.key),
        ),
        Check(
            "no_criterion_twice",
            "No rubric says the same twice.",
            lambda subject: rubric_invariants.no_criterion_twice(subject.lake, subject.key),
        ),
    ),
}
