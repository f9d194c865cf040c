"""Logs of programs that judge answers: Inspect, promptfoo, DeepEval, and the samples of lm-eval.

Every answer is a text, with its prompt as the question and the model that wrote it as the author; every grader is a
judge, and its verdict a label. Equal answers to one prompt are one text, so that the logs of several graders meet.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.json_stream import records, whole
from accord.data.reading.rows import Buffer, Context, Rows, text_id

__all__ = ["DEEPEVAL", "INSPECT", "LM_EVAL", "PROMPTFOO"]

_LETTERS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}
_NOT_VERDICTS = "scores between right and wrong are not labels; they are kept as meta.score columns of the texts"
_NO_ANSWER = "samples without an answer or without a verdict are left out"
_DEEPEST = 20  # levels of messages and parts that are read
# What a line of lm-eval's samples holds besides its metrics.
_LM_EVAL_OWN = {"doc_id", "doc_hash", "prompt_hash", "target_hash", "fewshot_as_multiturn"}


class _Log:
    """Adds answers and verdicts of one file."""

    def __init__(self, path: Path, context: Context, source: str) -> None:
        self.buffer, self.context = Buffer(path, context, source=source), context

    def answer(
        self, row: int, prompt: str | None, text: str | None, author: str | None,
        verdicts: Sequence[tuple[str, str | None, Any]],
    ) -> None:  # fmt: skip
        """One answer and what graders said of it: the grader's name, its model, and a verdict or a number."""
        labels = [(name, model, _verdict(value)) for name, model, value in verdicts]
        numbers = {f"score.{name}": value for (name, _, label), (_, _, value) in zip(labels, verdicts, strict=True)
                   if label is None and isinstance(value, int | float)}  # fmt: skip
        if numbers:
            self.context.lost[_NOT_VERDICTS] += len(numbers)
        if not text or not any(label is not None for _, _, label in labels):
            self.context.lost[_NO_ANSWER] += 1
            if not text or not numbers:
                return
        group = text_id(prompt) if prompt else None
        if group is not None:
            self.buffer.item(row, group, prompt, group_id=group)
        item = text_id(f"{prompt or ''}\0{text}")
        self.buffer.item(row, item, text, group_id=group, author_id=author, meta=numbers)
        for name, model, label in labels:
            if label is not None:
                self.context.judges[name] = {"family": model or name, "model": model}
                self.buffer.judgement(row, "label", item, value=label, annotator_id=name)


def _verdict(value: Any) -> str | None:
    """A label of a grader's value; ``None`` of what is not a verdict."""
    if isinstance(value, bool):
        return "correct" if value else "incorrect"
    if isinstance(value, str):
        return _LETTERS.get(value.strip(), value.strip() or None)
    return {1.0: "correct", 0.0: "incorrect"}.get(value) if isinstance(value, int | float) else None


def _text(value: Any, depth: int = 0) -> str | None:
    """What a message, a list of messages or parts, or anything else says, as one text."""
    if value is None or isinstance(value, str) or depth > _DEEPEST:
        return value if isinstance(value, str) else None
    if isinstance(value, list):
        said = [_text(entry, depth + 1) for entry in value]
        return "\n\n".join(part for part in said if part) or None
    if isinstance(value, Mapping):
        for name in ("content", "text", "output", "completion", "answer"):
            if isinstance(value.get(name), str | list):
                content = _text(value[name], depth + 1)
                return f"{value['role']}: {content}" if "role" in value and value["role"] != "user" else content
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _name(value: Any) -> str | None:
    """A name as it is, or the id or model of what is described."""
    if isinstance(value, Mapping):
        value = value.get("id") or value.get("model")
    return value if isinstance(value, str) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


# -- Inspect -----------------------------------------------------------------------------------------------------


def _is_inspect(seen: Glimpse) -> str | None:
    is_log = seen.has("eval", "samples") or (seen.has("eval", "status") and seen.has("version"))
    return "it has the parts eval and samples" if is_log else None


def _read_inspect(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        log, data = _Log(path, context, "inspect"), whole(path, dict[str, Any])
        about = _mapping(data.get("eval"))
        grader = _name(_mapping(about.get("model_roles")).get("grader"))
        for row, sample in enumerate(_entries(data.get("samples")), start=1):
            output = _mapping(sample.get("output"))
            text = output.get("completion") or _text([_mapping(choice.get("message")).get("content")
                                                      for choice in _entries(output.get("choices"))[:1]])  # fmt: skip
            verdicts = []
            for name, score in _mapping(sample.get("scores")).items():
                value = _mapping(score).get("value")
                parts = value.items() if isinstance(value, Mapping) else [(None, value)]
                verdicts += [(name if part is None else f"{name}/{part}", grader, entry) for part, entry in parts]
            author = _name(output.get("model")) or _name(about.get("model"))
            log.answer(row, _text(sample.get("input")), _text(text), author, verdicts)
            yield from log.buffer.ready()
        yield from log.buffer.rest()


# -- promptfoo ---------------------------------------------------------------------------------------------------


def _promptfoo_rows(data: Any) -> list[Mapping[str, Any]]:
    found = _mapping(data).get("results")
    return _entries(_mapping(found).get("results") if isinstance(found, Mapping) else found)


def _is_promptfoo(seen: Glimpse) -> str | None:
    rows = _promptfoo_rows(seen.record)
    known = any("gradingResult" in row or ("prompt" in row and "success" in row) for row in rows[:5])
    return "its results have a gradingResult" if known else None


def _read_promptfoo(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        log = _Log(path, context, "promptfoo")
        for row, result in enumerate(_promptfoo_rows(whole(path, dict[str, Any])), start=1):
            grading = _mapping(result.get("gradingResult"))
            verdicts = [_component(part) for part in _entries(grading.get("componentResults"))]
            if not verdicts:
                verdicts = [("promptfoo", None, grading.get("pass", result.get("success")))]
            prompt = result.get("prompt")
            asked = _mapping(prompt).get("raw") if isinstance(prompt, Mapping) else prompt
            author = _name(result.get("provider"))
            text = _mapping(result.get("response")).get("output")
            log.answer(row, _text(asked), _text(text), author, [each for each in verdicts if each[2] is not None])
            yield from log.buffer.ready()
        yield from log.buffer.rest()


def _component(part: Mapping[str, Any]) -> tuple[str, str | None, Any]:
    """The grader, its model and its verdict of one assertion."""
    about = _mapping(part.get("assertion"))
    name = about.get("metric") or about.get("type") or part.get("metric") or part.get("type") or "promptfoo"
    return str(name), _name(about.get("provider")), part.get("pass")


# -- DeepEval ----------------------------------------------------------------------------------------------------


def _deepeval_cases(data: Any) -> list[Mapping[str, Any]]:
    parts = (_mapping(data), _mapping(_mapping(data).get("testRunData")))
    for part in parts:
        for name in ("testCases", "test_results", "testResults"):
            if _entries(part.get(name)):
                return _entries(part[name])
    return []


def _is_deepeval(seen: Glimpse) -> str | None:
    known = any("metricsData" in case or "metrics_data" in case for case in _deepeval_cases(seen.record)[:5])
    return "its test cases have metricsData" if known else None


def _read_deepeval(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        log, data = _Log(path, context, "deepeval"), whole(path, dict[str, Any])
        author = _name(_mapping(data.get("hyperparameters")).get("model"))
        for row, case in enumerate(_deepeval_cases(data), start=1):
            verdicts = []
            for metric in _entries(case.get("metricsData") or case.get("metrics_data")):
                model = _name(metric.get("evaluationModel") or metric.get("evaluation_model"))
                value = metric.get("success") if metric.get("success") is not None else metric.get("score")
                name = str(metric.get("name") or "DeepEval")
                verdicts.append(
                    (f"{name} by {model}" if model else name, model, None if metric.get("error") else value)
                )
            text = case.get("actualOutput") or case.get("actual_output")
            log.answer(row, _text(case.get("input")), _text(text), author, verdicts)
            yield from log.buffer.ready()
        yield from log.buffer.rest()


# -- lm-eval -----------------------------------------------------------------------------------------------------


def _is_lm_eval(seen: Glimpse) -> str | None:
    return "it has the columns doc_id, resps, arguments" if seen.has("doc_id", "resps", "arguments") else None


def _read_lm_eval(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        log = _Log(path, context, "lm-eval")
        for row, sample in records(path, dict[str, Any]):
            answers = sample.get("filtered_resps") or sample.get("resps")
            while isinstance(answers, list) and answers:
                answers = answers[0]
            listed = sample.get("metrics")
            names = (
                listed if isinstance(listed, list) and listed else [name for name in sample if name not in _LM_EVAL_OWN]
            )
            verdicts = [(name, None, sample[name]) for name in names
                        if isinstance(name, str) and isinstance(sample.get(name), bool | int | float)]  # fmt: skip
            text = answers if isinstance(answers, str) and isinstance(sample.get("target"), str | int | None) else None
            log.answer(row, _prompt(sample.get("arguments")), text, None, verdicts)
            yield from log.buffer.ready()
        yield from log.buffer.rest()


def _prompt(arguments: Any) -> str | None:
    """What was asked: the first argument of the first request."""
    while isinstance(arguments, list | Mapping) and arguments:
        arguments = next(iter(arguments.values() if isinstance(arguments, Mapping) else arguments))
    return arguments if isinstance(arguments, str) else None


INSPECT = Format("inspect", "a log of Inspect", _is_inspect, _read_inspect)
PROMPTFOO = Format("promptfoo", "an output of promptfoo", _is_promptfoo, _read_promptfoo)
DEEPEVAL = Format("deepeval", "a test run of DeepEval", _is_deepeval, _read_deepeval)
LM_EVAL = Format("lm-eval", "samples of lm-eval", _is_lm_eval, _read_lm_eval)
