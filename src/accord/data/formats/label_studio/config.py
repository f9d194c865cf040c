"""Label Studio's label config: which question is asked about which part of a task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, SubElement, indent, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from accord.data.reading.sources import missing_file
from accord.errors import InputError

__all__ = ["Control", "LabelConfig", "control", "parse_config", "read_config", "shown", "write_config"]

_LARGEST = 1 << 20  # bytes
_OBJECTS = ("text", "hypertext", "paragraphs", "list")


@dataclass(frozen=True)
class Control:
    """One question: the tag it is asked with and the objects it is about."""

    tag: str  # in small letters
    about: tuple[str, ...]
    values: tuple[str, ...] = ()  # the answers it offers


@dataclass(frozen=True)
class LabelConfig:
    """The questions and the objects of a project, by their names."""

    controls: Mapping[str, Control] = field(default_factory=dict)
    objects: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # name → tag, the field of the task's data
    dialogue: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # of paragraphs: keys of speaker and text

    def pairwise(self) -> tuple[str, str] | None:
        """The two objects that a pairwise question compares, left and right."""
        for question in self.controls.values():
            if question.tag == "pairwise" and len(question.about) == 2:
                return question.about[0], question.about[1]
        return None


def read_config(path: Path) -> LabelConfig:
    """Read a label config."""
    if not path.is_file():
        raise missing_file(path)
    return parse_config(path.read_bytes(), str(path))


def parse_config(raw: bytes, where: str) -> LabelConfig:
    """The label config in some bytes; ``where`` names them in errors."""
    if len(raw) > _LARGEST:
        raise InputError(f"a label config has at most {_LARGEST:,} bytes; {where} has {len(raw):,}. Shorten it.")
    try:
        root = fromstring(raw, forbid_dtd=True)
    except DefusedXmlException:
        raise InputError(
            f"a label config may not define entities or a document type; {where} does. Remove them."
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        raise InputError(
            f"a label config must be XML; {where}: {error}. Copy it from the project's settings."
        ) from None
    controls, objects, dialogue = {}, {}, {}
    for tag in root.iter():
        name, about, value = tag.get("name"), tag.get("toName"), tag.get("value", "")
        kind = tag.tag.lower() if isinstance(tag.tag, str) else ""
        if name is None:
            continue
        if about is not None:
            controls[name] = Control(kind, tuple(part.strip() for part in about.split(",")), _offered(tag))
        elif kind in _OBJECTS and value.startswith("$"):
            objects[name] = (kind, value[1:])
            dialogue[name] = (tag.get("nameKey", "author"), tag.get("textKey", "text"))
    if not controls or not objects:
        raise InputError(
            f"a label config has a text and a question about it (name, toName); {where} has {len(objects)} texts and "
            f"{len(controls)} questions. Copy it from the project's settings."
        )
    return LabelConfig(controls, objects, dialogue)


def _offered(tag: Element) -> tuple[str, ...]:
    """The answers that a question offers, as they are written in annotations."""
    offered = [entry for entry in tag.iter() if isinstance(entry.tag, str) and entry.tag.lower() in ("choice", "label")]
    return tuple(entry.get("alias") or entry.get("value") or "" for entry in offered)


def shown(name: str, key: str) -> Element:
    """The tag that shows a text."""
    return Element("Text", {"name": name, "value": f"${key}"})


def control(tag: str, name: str, about: str, values: list[str] | None = None, **attributes: str) -> Element:
    """The tag that asks a question, with the answers it offers."""
    element = Element(tag, {"name": name, "toName": about, **attributes})
    for value in values or ():
        SubElement(element, "Label" if tag == "Labels" else "Choice", {"value": value})
    return element


def write_config(path: Path, tags: list[Element]) -> None:
    """Write a label config."""
    view = Element("View")
    view.extend(tags)
    indent(view)
    path.write_text(tostring(view, encoding="unicode") + "\n", encoding="utf-8")
