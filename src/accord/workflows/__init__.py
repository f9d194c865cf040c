"""What people do with Accord, one verb a file and one kind a file.

A verb (``train``, ``predict``, ``explain``, ``rank``, ``ask``, ``simulate``) opens the project, asks the kind's own
module to do the work, and keeps the result. The kind's module, ``accord.workflows.<kind>``, has these functions;
the verbs find them by name, so that nothing is registered anywhere:

``train(project, settings, progress) -> estimator``
    Fit a model on a :class:`~accord.data.project.Project`. ``settings`` maps names of the estimator's parameters to
    values; build the estimator with :func:`accord.fitting.settings.configured`, which refuses unknown names.
``predict(model, project) -> DataFrame``
    One row a judgement, comment or text: ``item_id`` (for pairs ``left`` and ``right``), the prediction, and its
    probability or deviation.
``explain(model, project, target) -> DataFrame``
    Why the model judges the text ``target`` (an item id) as it does: one row a reason, strongest first, with
    ``reason`` and ``effect``.

and, where the kind has a meaning for them:

``rank(model, project) -> DataFrame``
    ``rank, tier, item_id, score, low, high, p_best, n_votes``, best first, with 90 % intervals.
``ask(model, project, n) -> DataFrame``
    The ``n`` questions most worth asking next, best first.
``simulate(project, settings, progress) -> DataFrame``
    ``strategy, n_labels, metric, mean, low, high``: how fast each way of asking learns.

Each raises :class:`~accord.errors.InputError` for what a person can put right, and prints nothing.
"""
