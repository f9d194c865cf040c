"""ConvoKit's own loading and dumping of a corpus: run by ``run.py`` inside ConvoKit's environment."""

import json
import sys
from pathlib import Path

from convokit import Corpus

given, made = Path(sys.argv[1]), Path(sys.argv[2])
corpus = Corpus(filename=str(given / "threads"))
corpus.load_info("utterance", ["quality"])
seen = {
    "utterances": sorted(corpus.get_utterance_ids()),
    "texts": {utterance.id: utterance.text for utterance in corpus.iter_utterances()},
    "speakers": {utterance.id: utterance.speaker.id for utterance in corpus.iter_utterances()},
    "replies": {utterance.id: utterance.reply_to for utterance in corpus.iter_utterances()},
    "labels": {utterance.id: utterance.meta.get("quality") for utterance in corpus.iter_utterances()},
    "conversations": {
        conversation.id: sorted(conversation.get_utterance_ids()) for conversation in corpus.iter_conversations()
    },
    "order": [utterance.id for utterance in next(corpus.iter_conversations()).get_chronological_utterance_list()],
    "trees": all(conversation.check_integrity(verbose=False) for conversation in corpus.iter_conversations()),
}
print(json.dumps(seen))
made.mkdir(parents=True, exist_ok=True)
corpus.dump("dumped", base_path=str(made))
corpus.dump_info("utterance", ["quality"], dir_name=str(made / "dumped"))
