"""Spans in texts that are hard to count: signs of two UTF-16 units, combining marks, CRLF and tabs."""

import json

import pytest

from accord.errors import InputError
from accord.workflows.import_ import import_files, project_of_files
from oracles import to_utf16

TEXT = "\U0001f600 cafe\u0301\r\n\tthe soup \U0001d538 \u2028was superb."
QUOTES = ("cafe\u0301", "soup", "\U0001d538", "\r\n\t", "superb")


def spans(unit):
    """Each quote with its start and end, counted in a unit."""
    found = [(TEXT.index(quote), TEXT.index(quote) + len(quote), quote) for quote in QUOTES]
    return found if unit == "code points" else [(to_utf16(TEXT, a), to_utf16(TEXT, b), q) for a, b, q in found]


def doccano(folder, found, quoted):
    record = {"id": 1, "text": TEXT, "label": [[a, b, "L"] for a, b, _ in found]}
    return [_file(folder / "x.jsonl", json.dumps(record))], {}


def doccano_entities(folder, found, quoted):
    entities = [{"id": k, "label": "L", "start_offset": a, "end_offset": b} for k, (a, b, _) in enumerate(found)]
    return [_file(folder / "x.jsonl", json.dumps({"id": 1, "text": TEXT, "entities": entities, "relations": []}))], {}


def prodigy(folder, found, quoted):
    marks = [{"start": a, "end": b, "label": "L", **({"text": q} if quoted else {})} for a, b, q in found]
    record = {"text": TEXT, "spans": marks, "answer": "accept", "_annotator_id": "ada"}
    return [_file(folder / "x.jsonl", json.dumps(record))], {}


def argilla(folder, found, quoted):
    marks = [{"start": a, "end": b, "label": "L"} for a, b, _ in found]
    record = {"id": "1", "fields": {"text": TEXT}, "responses": {"why": [{"value": marks, "user_id": "ada"}]}}
    return [
        _file(folder / "x.json", json.dumps([{**record, "metadata": {}, "suggestions": {}, "status": "completed"}]))
    ], {}


def potato(folder, found, quoted):
    marks = [
        [{"schema": "why", "name": "L", "title": "L", "start": a, "end": b, **({"span": q} if quoted else {})}, "true"]
        for a, b, q in found
    ]
    state = {"user_id": "ada", "instance_id_to_label_to_value": {}, "instance_id_to_span_to_value": {"i1": marks}}
    (folder / "ada").mkdir()
    texts = _file(folder / "data.jsonl", json.dumps({"id": "i1", "text": TEXT}))
    return [_file(folder / "ada" / "user_state.json", json.dumps(state)), texts], {}


def label_studio(folder, found, quoted):
    marks = [
        {"id": f"r{k}", "from_name": "why", "to_name": "t", "type": "labels",
         "value": {"start": a, "end": b, "labels": ["L"], **({"text": q} if quoted else {})}}
        for k, (a, b, q) in enumerate(found)
    ]  # fmt: skip
    task = {"id": 1, "data": {"text": TEXT}, "annotations": [{"id": 1, "result": marks}]}
    config = '<View><Text name="t" value="$text"/><Labels name="why" toName="t"><Label value="L"/></Labels></View>'
    return [_file(folder / "x.json", json.dumps([task]))], {"config": _file(folder / "c.xml", config)}


def label_studio_dialogue(folder, found, quoted):
    marks = [
        {"id": f"r{k}", "from_name": "why", "to_name": "t", "type": "paragraphlabels",
         "value": {"start": "1", "end": "1", "startOffset": a, "endOffset": b, "paragraphlabels": ["L"],
                   **({"text": q} if quoted else {})}}
        for k, (a, b, q) in enumerate(found)
    ]  # fmt: skip
    turns = [{"author": "ada", "text": "Before."}, {"author": "bo", "text": TEXT}]
    task = {"id": 1, "data": {"turns": turns}, "annotations": [{"id": 1, "result": marks}]}
    config = (
        '<View><Paragraphs name="t" value="$turns"/><ParagraphLabels name="why" toName="t"><Label value="L"/>'
        "</ParagraphLabels></View>"
    )
    return [_file(folder / "x.json", json.dumps([task]))], {"config": _file(folder / "c.xml", config)}


def _file(path, content):
    path.write_text(content, encoding="utf-8")
    return path


TOOLS = {
    "doccano": doccano,
    "doccano entities": doccano_entities,
    "prodigy": prodigy,
    "argilla": argilla,
    "potato": potato,
    "label-studio": label_studio,
    "label-studio dialogue": label_studio_dialogue,
}


def marked(tool, folder, unit, *, quoted=False, utf16=False):
    paths, settings = TOOLS[tool](folder, spans(unit), quoted)
    found = project_of_files(paths, form=tool.split()[0], kind="rationales", utf16=utf16, **settings).frames()
    texts = dict(found["items"][["item_id", "text"]].itertuples(index=False, name=None))
    assert TEXT in texts.values()
    rows = found["judgements"].query("kind == 'span'")
    return [
        texts[name][int(a) : int(b)] for name, a, b in zip(rows["item_id"], rows["start"], rows["end"], strict=True)
    ]


@pytest.mark.parametrize("tool", TOOLS)
def test_offsets_are_code_points(tool, tmp_path):
    assert marked(tool, tmp_path, "code points") == list(QUOTES)


@pytest.mark.parametrize("tool", TOOLS)
def test_offsets_are_utf16_where_that_is_said(tool, tmp_path):
    assert marked(tool, tmp_path, "UTF-16", utf16=True) == list(QUOTES)


@pytest.mark.parametrize("tool", ["prodigy", "potato", "label-studio", "label-studio dialogue"])
@pytest.mark.parametrize("unit", ["code points", "UTF-16"])
def test_the_marked_words_say_the_unit(tool, unit, tmp_path):
    assert marked(tool, tmp_path, unit, quoted=True) == list(QUOTES)


def test_tables_are_in_code_points_only(tmp_path):
    path = tmp_path / "spans.csv"
    path.write_text("item_id,text,start,end\na,soup,0,4\n")
    with pytest.raises(InputError, match="offsets of plain tables are code points"):
        import_files([path], None, kind="rationales", form="tables", utf16=True)
