"""The names that columns have in people's files, beside our own."""

import re

__all__ = [
    "CONTAINERS",
    "IDENTITY",
    "NO_JUDGEMENT",
    "NO_SCORE",
    "NO_SWITCH",
    "NUMBERED",
    "NUMBERS_ROWS",
    "PERSON",
    "RATING",
    "SIDES",
    "TITLES",
    "USERS",
    "WON_LOST",
]


def _names(words: str) -> tuple[str, ...]:
    return tuple(words.split())


PERSON = {
    "annotator_id": _names(
        "annotator worker worker_id voter voter_id user user_id judge judge_id rater rater_id participant "
        "participant_id respondent respondent_id coder jury juror evaluator assessor email_address email "
        "prolific_pid e_mail_adresse response_id session_id completed_by _worker_id who"
    ),
    "created_at": _names("timestamp date time datetime submitted_at zeitstempel tstamp when voted_at"),
}
IDENTITY = {
    "item_id": _names(
        "id text_id comment_id review_id document_id doc_id post_id task item uid tweet_id response_id "
        "statement_id argument_id note_id ticket_id message_id task_id answer_id ts _unit_id issue_key"
    ),
    "text": _names(
        "body comment argument review content review_text comment_body review_body message comment_text post "
        "post_text full_text tweet sentence document selftext statement kommentar texte texto testo tekst avis "
        "bewertungstext nachricht description reviewtext"
    ),
    "group_id": _names(
        "group thread_id thread topic topic_id question_id debate debate_id link_id conversation_id discussion_id "
        "topic_title thread_ts"
    ),
    "author_id": _names(
        "author speaker speaker_id username user_name reviewer reviewer_name autor from sender by "
        "author_name commenter verfasser verfasserin absender auteur"
    ),
    "reply_to": _names(
        "reply-to parent parent_id in_reply_to in_reply_to_id in_reply_to_status_id reply_to_id reply_to_message_id "
        "reference_message_id replies_to replied_to replying_to answers_to answer_to responds_to response_to "
        "antwort_auf parent_comment parent_comment_id parent_post_id parent_message_id"
    ),
    "timestamp": _names(
        "date time created_at created_utc datetime creation_date datum posted_at posted posted_on published "
        "published_at published_on written_at written_on created created_on submitted submitted_at when"
    ),
    "label": _names(
        "class stance category_label gold y sentiment polarity verdict position gold_label target judgement "
        "judgment annotation rating_label bewertung_klasse quality labels"
    ),
    "question": _names("question_text question_body frage"),
    "asker_id": _names("asker asked_by question_author questioner"),
    "quote": _names("highlight highlights rationale rationales evidence highlighted_text marked_words excerpt"),
}
# Names that say less: a number of rows is an id if no two are equal, and who wrote or judged is seen from the rows.
NUMBERED = _names(
    "nr no # number nummer lfd_nr numero numéro index row column_1 unnamed:_0 __index_level_0__ sku article_number "
    "artikelnummer"
)
NUMBERS_ROWS = re.compile(
    r"\A(?!.*(?:assignment|annotation|judg|session|hit|task|worker|person|user|participant|respondent))"
    r"(?:.*[_-])?(?:id|nr|no|num|number|nummer)|\A(?:编号|序号|番号)"
)
USERS = _names("user user_id")
TITLES = _names(
    "title topic_title thread_title question_title topic_name subject betreff titel post_title post_text post "
    "article_title headline beitragstext beitragstitel"
)
# What holds several texts, if several rows share one.
CONTAINERS = _names(
    "post_id article_id submission_id story_id video_id ticket_id case_id issue_id issue_key document_id doc_id "
    "task_id beitrag_id beitrags_id beitrags-id beitrag artikel_id post article story submission thema"
)
# What is compared by many votes stands before what it wrote, which is compared once.
_COMPETITORS = _names("model system assistant")
_VERSIONS = _names(
    "text option argument answer response choice item statement candidate input output slogan completion human_ref"
)
SIDES = {
    "item_id": (
        *_names("left left_id a id_a model_a first left_text a1 id1 first_text"),
        *(f"{name}{sign}" for name in (*_COMPETITORS, *_VERSIONS) for sign in ("_a", "_1", "1", "_left")),
    ),
    "other_id": (
        *_names("right right_id b id_b model_b second right_text a2 id2 second_text"),
        *(f"{name}{sign}" for name in (*_COMPETITORS, *_VERSIONS) for sign in ("_b", "_2", "2", "_right")),
    ),
    "shown_left_id": _names("shown_left left_shown shown_first"),
    "value": _names(
        "label winner vote choice preference y preferred better answer_winner gewinner labels preference_strength"
    ),
}
WON_LOST = {
    "item_id": _names("winner winner_id better preferred won winning chosen selected"),
    "other_id": _names("loser loser_id worse lost losing not_chosen rejected not_selected unchosen"),
    "tie": _names("tied is_tie draw is_draw"),
}
# Columns that say something about a row and are no judgement of it.
NO_JUDGEMENT = re.compile(
    r"(^|_)(id|ids|year|month|day|date|time|age|gender|sex|country|city|language|lang|locale|device|platform|status|state"
    r"|split|fold|batch|number|nr|no|index|position|order|page|depth|level|email|e_mail|likes?|upvotes?|downvotes?|votes"
    r"|views|count|num|n|version|source|duration|seconds|ip|url|link|title|name|store|product|verified|currency|reward"
    r"|lifetime|type|progress|finished|channel|replies|role|kind|deleted|golden|assignee|reporter|region|ip)(_|$)"
)
NO_SCORE = re.compile(r"(^|_)helpful(_|$)")  # a number of people, if it is a number
# Columns of 0 and 1 that say something else of a row.
NO_SWITCH = re.compile(
    r"(^has_)|(^|_)(rank|edited|duplicate|bot|read|seen|train|test|valid|active|anonymous|sponsored|reply|retweet|pinned)(_|$)"
)
RATING = re.compile(r"rating|score|stars?|overall|bewertung|note")
