"""Changed model files that still load are used: what came of each, for a process with limits."""

import os
import signal
import tempfile
import warnings
from pathlib import Path

from accord.errors import InputError
from accord.store.models import load_model
from accord.workflows.explain import explain
from accord.workflows.predict import predict
from accord.workflows.projects import open_example

__all__ = ["SECONDS", "use_all"]

SECONDS = 20.0  # of the processor, for one file


class _Stuck(BaseException):
    pass


def _stop(number, frame):
    raise _Stuck


def use_all(files):
    """For each (name of an example, bytes of a model file): ``refused``, ``answered``, ``said`` or what went wrong."""
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp(prefix="accord-mutants-"))
    signal.signal(signal.SIGVTALRM, _stop)
    return [_use(*file) for file in files]


def _use(example, raw):
    project, path = open_example(example), Path("model.accord")
    path.write_bytes(raw)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            saved = load_model(path)
        except InputError as error:
            return "refused" if "\n" not in str(error) else f"several lines: {error}"
        try:
            predict(saved, project)
            explain(saved, project, project.items().ids[-1])
        except InputError as error:
            return "said" if "\n" not in str(error) else f"several lines: {error}"
        return "answered"
    except _Stuck:
        return f"more than {SECONDS:g} seconds of the processor"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        import traceback

        return "".join(traceback.format_exception(error)[-3:])
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
