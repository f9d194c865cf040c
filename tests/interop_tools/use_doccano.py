"""doccano's own import and export, on a database of its own: run by ``run.py`` inside doccano's environment."""

import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

given, made = Path(sys.argv[1]), Path(sys.argv[2])
work = Path(tempfile.mkdtemp(prefix="accord-doccano-"))
backend = Path(find_spec("backend").origin).parent
sys.path.insert(0, str(backend))
os.environ.update(
    DJANGO_SETTINGS_MODULE="config.settings.base", DATABASE_URL=f"sqlite:///{work}/doccano.db", MEDIA_ROOT=str(work)
)

import django  # noqa: E402

django.setup()

from data_export.models import ExportedExample  # noqa: E402
from data_export.pipeline.dataset import Dataset  # noqa: E402
from data_export.pipeline.factories import (  # noqa: E402
    create_comment,
    create_formatter,
    create_labels,
    create_writer,
)
from data_export.pipeline.services import ExportApplicationService  # noqa: E402
from data_import.datasets import load_dataset  # noqa: E402
from data_import.pipeline.catalog import create_file_format  # noqa: E402
from data_import.pipeline.readers import FileName  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from projects import models as project_models  # noqa: E402

call_command("migrate", verbosity=0)
user = get_user_model().objects.create(username="ada")
KINDS = {
    "labels": ("DocumentClassification", "TextClassificationProject"),
    "spans": ("SequenceLabeling", "SequenceLabelingProject"),
    "both": ("IntentDetectionAndSlotFilling", "IntentDetectionAndSlotFillingProject"),
}
for name, (task, model) in KINDS.items():
    project = getattr(project_models, model).objects.create(
        name=name, project_type=task, created_by=user, collaborative_annotation=True
    )
    path = str(given / name / "doccano.jsonl")
    loaded = load_dataset(task, create_file_format("JSONL"), [FileName(path, path, "doccano.jsonl")], project)
    loaded.save(user)
    if loaded.errors:
        raise SystemExit(f"doccano refuses {path}: {[str(error.dict()) for error in loaded.errors]}")
    examples = ExportedExample.objects.filter(project=project)
    dataset = Dataset(examples, create_labels(project, examples), create_comment(examples), project.is_text_project)
    (made / name).mkdir(parents=True)
    service = ExportApplicationService(dataset, create_formatter(project, "JSONL"), create_writer("JSONL"))
    service.export(str(made / name / "all.jsonl"))
    print(json.dumps({"project": name, "examples": examples.count()}))
