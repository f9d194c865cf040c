"""Where blocks are run, said once: in this process, in several, or on a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from accord.errors import InputError
from accord.scale.blocks import Blocks, missing_dask, open_blocks
from accord.typing import Progress

__all__ = ["Workers", "joblib_on"]


@dataclass(frozen=True, eq=False)
class Workers:
    """The workers of an estimator or a command.

    Parameters
    ----------
    n_jobs : int, optional
        Processes on this machine, as in joblib: ``None`` and 1 mean this process alone, −1 all cores.
    client : str or distributed.Client, optional
        The address of a running Dask scheduler, such as ``tcp://host:8786``, or a client of one; ``n_jobs`` is then
        not looked at.
    """

    n_jobs: int | None = None
    client: Any = None

    def __post_init__(self) -> None:
        if self.n_jobs is not None and (not isinstance(self.n_jobs, int) or self.n_jobs == 0):
            raise InputError(f"n_jobs must be None or a whole number other than 0; got {self.n_jobs!r}.")
        if isinstance(self.client, str) and "://" not in self.client:
            raise InputError(f"a scheduler's address looks like tcp://host:8786; got {self.client!r}.")

    @property
    def backend(self) -> Any:
        """What :func:`~accord.scale.blocks.open_blocks` takes as backend."""
        if self.client is not None:
            return self.client
        return "serial" if self.n_jobs in (None, 1) else "joblib"

    @contextmanager
    def open(
        self, blocks: Sequence[Any], *, common: Any = None, keep: bool = True, progress: Progress | None = None
    ) -> Iterator[Blocks]:
        """Hand blocks to the workers while the context lasts; see :func:`~accord.scale.blocks.open_blocks`."""
        n_workers = self.n_jobs
        if n_workers is not None and n_workers < 0:
            from joblib import effective_n_jobs

            n_workers = effective_n_jobs(n_workers)
        with open_blocks(
            blocks, backend=self.backend, n_workers=n_workers, common=common, keep=keep, progress=progress
        ) as opened:
            yield opened


@contextmanager
def joblib_on(address: str | None) -> Iterator[None]:
    """While the context lasts, what runs through joblib runs on the Dask cluster at an address, if there is one."""
    if address is None:
        yield
        return
    from joblib import parallel_config

    Workers(client=address)
    try:
        from accord.scale.cluster import connect
    except ModuleNotFoundError as error:
        raise missing_dask(error) from error
    with connect(address) as client, parallel_config(backend="dask", client=client):
        yield
