"""
Threads: which comments answer the question?
============================================

Somebody asks which café opens before seven, and people reply: with an answer, with a joke, with thanks. The comments of
a thread speak about one question, so their labels hang together. We learn from labelled threads and judge one that is new.
"""

import numpy as np

from accord import ThreadClassifier, open_example

threads = open_example("cafe-threads").threads()
print(
    f"{threads.n_threads} threads with {threads.n_comments} comments, {sum(label is not None for label in threads.labels)} of them labelled"
)
new, old = threads.subset([0]), threads.subset(np.arange(1, threads.n_threads))
print("Question:", new.questions[0][:60])

# %%
# Fit on the other threads, and label the new one.

model = ThreadClassifier().fit(old)
good = list(model.classes_).index("good")
p = model.predict_proba(new)[:, good]
for text, label, true, probability in zip(new.texts, model.predict(new), new.labels, p, strict=True):
    print(f"{label:5} {probability:.2f}  (a person said {true})  {text[:45]}")

# %%
# Why did this comment get its label?
# -----------------------------------
# The log-odds of a label are a sum: the evidence of the comment itself, and the pull of each other comment.

target = new.comment_ids[0]
reasons = model.explain(new, target=target, label="good")
print(reasons.head(8).round(2).to_string(index=False))

# %%
import matplotlib.pyplot as plt

top = reasons.reindex(reasons["effect"].abs().sort_values(ascending=False).index).head(10).iloc[::-1]
fig, ax = plt.subplots()
ax.barh(top["reason"].astype(str), top["effect"], color=np.where(top["effect"] > 0, "C0", "C3"))
ax.axvline(0, color="0.3", lw=0.8)
ax.set_xlabel("effect on the log-odds of “good”")
ax.set_title(f"Why {target} is judged as it is")

# %%
# The best answer first
# ---------------------
# A forum may want to show the thread in another order.

print(model.rank(new, positive="good")[["rank", "item_id", "probability"]].round(2).to_string(index=False))

# %%
# A few dozen threads are few. :ref:`How good it is on your own threads <sphx_glr_gallery_tasks_plot_evaluation.py>` is measured by
# ``accord evaluate threads PROJECT``; :ref:`a few labels given in a thread <sphx_glr_gallery_tasks_plot_partly_labelled.py>`
# inform the rest of it.
