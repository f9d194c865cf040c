"""What people do with Accord, one verb a file: import_, export, train, predict, explain, rank, ask, report, reproduce.

A verb takes a :class:`~accord.data.project.Project`, finds the :class:`~accord.data.task.Task` of its kind with
:func:`accord.workflows.kinds.task_of`, lets it do the work, and keeps the result. Each raises
:class:`~accord.errors.InputError` for what a person can put right, and prints nothing.
"""
