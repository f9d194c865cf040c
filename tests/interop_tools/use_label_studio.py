"""Label Studio's own converter: run by ``run.py`` inside the environment of its SDK."""

import json
import sys
from pathlib import Path

from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface

given, made = Path(sys.argv[1]), Path(sys.argv[2])
for kind in ("texts", "pairs"):
    config = (given / kind / "label_config.xml").read_text(encoding="utf-8")
    interface = LabelInterface(config)
    tasks = json.loads((given / kind / "tasks.json").read_text(encoding="utf-8"))
    numbered = made / f"{kind}.json"
    made.mkdir(parents=True, exist_ok=True)
    for place, annotation in enumerate((note for task in tasks for note in task["annotations"]), start=1):
        annotation["id"] = place  # as the server gives them
    numbered.write_text(json.dumps(tasks), encoding="utf-8")
    converter = Converter(config=config, project_dir=str(made), download_resources=False)
    for form in ("JSON", "JSON_MIN", "CSV"):
        converter.convert(str(numbered), str(made / kind / form), form, is_dir=False)
    unfit = [note for task in tasks for note in task["annotations"] if not interface.validate_annotation(note)]
    if unfit:
        raise SystemExit(f"an annotation does not fit the label config: {unfit[0]}")
    print(json.dumps({"kind": kind, "tasks": len(tasks)}))
