"""Make the larger part of the example projects about cafés.

The first rows of each table are written by hand and kept: threads t1 to t7, reviews r01 to r24, statements s01 to s20 and
notes n01 to n20. The rest is put together, with a fixed seed, from hand-written sentences by these recipes:

* a review has a mood, and each of its aspects a rank from 1 to 5 that follows the mood half of the time; three or four of
  the aspects are mentioned, in any order, by a sentence that fits the rank; the overall score is the rounded mean with a
  little chance; one review in six is not scored;
* a thread has a question about one subject; good comments answer it, potential ones nearly do, bad ones thank, joke, ask
  back or complain; an asker who thanks does so after a good answer; one thread in seven is not labelled, and of the others
  one comment in twelve is not;
* a debate has a motion and ten speakers with a side each; a statement takes its speaker's side, most often in its own words
  and sometimes only by the statement that it answers; one statement in five is not labelled;
* a note is praise or complaint; it has one to three telling phrases among sentences that say nothing of either; one telling
  phrase in eight is of the other side; nora marks four in five of the telling phrases, otto three in five and sometimes a
  whole sentence; every fourth note has a label and no highlights, every seventh has neither.

Run ``python examples/make_cafe.py`` to write the tables again.
"""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "src" / "accord" / "examples" / "cafe"

# -- reviews: sentences by aspect, for ranks 1-2, 3 and 4-5 --------------------------------------------------------------

REVIEWS = {
    "food": (
        [
            "The soup was cold in the middle.",
            "My omelette tasted of the pan and nothing else.",
            "Stale bread, tired lettuce, and a tomato that had given up.",
            "The cake was dry enough to write on.",
            "I left half of the quiche, which is not like me.",
            "The pasta came as one warm lump.",
            "Burnt outside and raw inside, which takes some skill.",
            "The coffee is thin and sour.",
            "The salad swam in a bitter dressing.",
            "Greasy chips, grey burger.",
        ],
        [
            "The sandwiches are all right.",
            "The cake is sweet and that is all I can say of it.",
            "Decent coffee, ordinary croissants.",
            "The soup of the day was fine.",
            "Nothing on the plate was wrong and nothing was exciting.",
            "The eggs were as eggs are.",
            "Lunch was filling and plain.",
        ],
        [
            "The walnut bread is still warm when it comes.",
            "Best apple cake in town, with a crust that cracks.",
            "The lentil soup is rich and delicious.",
            "Every dish tasted fresh.",
            "I dream of the mushroom toast.",
            "Wonderful coffee, roasted in the back room.",
            "The fish pie is superb, creamy and full of fish.",
            "Their pancakes are light and tasty.",
            "The salad was crisp and generous, the dressing perfect.",
            "Home-made ice cream with real pistachios, excellent.",
        ],
    ),
    "service": (
        [
            "The waiter rolled his eyes when we asked for water.",
            "We waited forty minutes and were then forgotten.",
            "Rude from the first word to the bill.",
            "Nobody came to our table until we stood up.",
            "They got the order wrong twice and argued about it.",
            "The girl at the counter was on her phone and ignored us.",
            "The manager was unfriendly and slow.",
            "Our plates were thrown rather than served.",
        ],
        [
            "The staff are neither warm nor cold.",
            "Service took its time, but it came.",
            "You order at the counter and carry it yourself.",
            "The waitress was busy and correct.",
            "They were polite and a little slow.",
        ],
        [
            "The waitress remembered us from last year.",
            "Friendly, quick, and they smile.",
            "The owner came over to ask how we were.",
            "They brought crayons for the children without being asked.",
            "Attentive service, and never in the way.",
            "The young man at the bar was charming and helpful.",
            "Our order came at once and was exactly right.",
            "Such kind people behind the counter.",
        ],
    ),
    "room": (
        [
            "You sit beside the bins.",
            "The music was so loud that we shouted.",
            "Sticky tables, dirty floor.",
            "A dark room that smells of old oil.",
            "The chairs are hard and the door lets the wind in.",
            "It was cramped, noisy and far too hot.",
            "The toilets were filthy.",
        ],
        [
            "The room is plain.",
            "There are enough tables, and a view of the car park.",
            "A tidy place without much charm.",
            "It looks like any other café in the street.",
            "You can sit there for an hour.",
        ],
        [
            "You sit under a glass roof with lemon trees.",
            "A cosy corner by the stove, and soft light.",
            "The garden is quiet and full of roses.",
            "Beautiful old tiles and clean tables.",
            "The terrace looks over the river, lovely at sunset.",
            "Comfortable chairs, calm music, fresh flowers.",
            "A bright, pretty room.",
        ],
    ),
    "price": (
        [
            "Nine euros for a slice of toast is a joke.",
            "Far too expensive for what it is.",
            "They charge for tap water.",
            "The portions are tiny and the bill is not.",
            "I felt robbed.",
            "Overpriced, even for this street.",
        ],
        [
            "Prices are what you would expect.",
            "Not cheap, not dear.",
            "We paid about what we pay elsewhere.",
            "The bill was fair enough.",
        ],
        [
            "For four euros nobody can complain.",
            "A bargain, with a refill for free.",
            "Very good value.",
            "The lunch menu is surprisingly cheap.",
            "Generous portions for little money.",
            "We paid half of what we had feared.",
        ],
    ),
}
OPENINGS = [
    "We came on a Sunday with friends.", "Third visit this month.", "Stopped here on the way to the station.",
    "My sister chose the place.", "First time for us.", "Lunch with two colleagues.", "A rainy afternoon.", "",
    "", "", "",
]  # fmt: skip
CLOSINGS = {
    0: ["Never again.", "We shall not be back.", "Avoid it.", ""],
    1: ["Perhaps once more.", "It will do.", "", ""],
    2: ["We shall be back soon.", "Go there.", "I recommend it to everybody.", ""],
}

# -- threads: subject, questions, good, potential --------------------------------------------------------------------------

SUBJECTS = [
    (
        ["Where do I find gluten-free cake near the river?", "My mother cannot eat gluten. Which café has cake for her?"],
        [
            "The Botanist has an almond cake without flour, and they bake it on a separate tray.",
            "Lindner's marks everything without gluten on the menu; the chocolate tart is one of them.",
            "Mill Street Bakery, on Thursdays: polenta cake, no gluten at all.",
            "Ask for the second menu at Harbour Coffee, three of the five cakes there are gluten-free.",
        ],
        ["Some bakeries do it to order, I believe.", "I think I have seen something of the kind at the market."],
    ),
    (
        ["Which café has fast internet and sockets?", "I need to work for three hours on Tuesday. Where is the internet good?"],
        [
            "Harbour Coffee: sockets at every second table and a password on the receipt.",
            "The library café is free and quiet, and the internet is fast until two.",
            "Upstairs at Lindner's, there are eight sockets along the wall.",
            "The Kiosk has none, so go to the Botanist; the front room has sockets and good internet.",
        ],
        ["Most of them have internet of some sort.", "It depends on how many others are online."],
    ),
    (
        ["How do I grind coffee for a moka pot?", "My moka pot makes bitter coffee. What grind should I use?"],
        [
            "Finer than for a filter but coarser than for espresso, about like table salt.",
            "Take the pot off the flame as soon as it gurgles; the last drops are the bitter ones.",
            "Fill the basket without pressing it down, and start with hot water below.",
            "Grind medium fine and use fresh beans, then lower the heat.",
        ],
        ["You could try another grinder.", "Maybe it is the water where you live."],
    ),
    (
        ["Is there a place that is open on Sunday evening?", "Everything closes at five on Sundays. Where can we sit later?"],
        [
            "Harbour Coffee stays open until ten on Sundays.",
            "The cinema café opens at four and closes after the last film, Sundays too.",
            "Lindner's has Sunday hours in summer, until nine.",
            "Go to the station: the Kiosk closes at eleven every day.",
        ],
        ["Hotels usually have something.", "There might be a bar near the theatre."],
    ),
    (
        ["Can you recommend a quiet place to read?", "Where is it calm enough to read a book in the afternoon?"],
        [
            "The garden of the Botanist before three; after that the schools are out.",
            "The reading room above Mill Street Bakery, they ask people to whisper.",
            "Take the table behind the piano at Lindner's, nobody passes there.",
            "The library café has no music and soft chairs.",
        ],
        ["Weekdays are calmer than weekends, I suppose.", "Anywhere with carpets."],
    ),
    (
        ["Who sells whole beans by weight?", "I have used up my coffee beans. Where can I buy some loose?"],
        [
            "Harbour Coffee roasts on Mondays and sells beans by the hundred grams.",
            "The market stall next to the cheese has four kinds and weighs them for you.",
            "Lindner's sells its own blend, bring a jar and it is cheaper.",
            "Mill Street Bakery keeps two kinds behind the counter, you have to ask.",
        ],
        ["Supermarkets have packets.", "I order mine somewhere, I forget the name."],
    ),
    (
        ["Does any café take children's parties?", "Ten children, one birthday, where can we go?"],
        [
            "Lindner's gives you the back room for two hours if you buy the cake there.",
            "The Botanist has a playground in the garden and a menu for children.",
            "The museum café does parties on Saturdays, book a month ahead.",
            "Harbour Coffee let us push six tables together and brought cocoa for everybody.",
        ],
        ["Perhaps one of the bigger ones.", "We stayed at home in the end, which also works."],
    ),
    (
        ["How can I keep croissants fresh until the next day?", "My croissants are like rubber in the morning. What can I do?"],
        [
            "Freeze them the same day and bake them for six minutes at 180 degrees.",
            "Keep them in a paper bag, never in plastic, and warm them in the oven.",
            "Sprinkle a little water on them and put them in a hot oven for four minutes.",
            "Wrap them in a towel over night and crisp them in a dry pan.",
        ],
        ["Fresh ones are better.", "You might buy fewer."],
    ),
]  # fmt: skip
BAD = {
    "chat": [
        "Same here, I have wondered for years.",
        "Good question!",
        "I do not live there any more.",
        "Has anybody seen my umbrella? I left it somewhere last week.",
        "People ask this every month.",
        "Why would you want that?",
        "Nobody goes there these days, it is too crowded.",
        "Typical of this town.",
        "LOL, good luck with that.",
        "My cousin once broke a tooth on a biscuit, true story.",
        "I only drink tea.",
        "Off topic, but is the swimming pool open again?",
    ],
    "asked": ["What do you mean by that?", "For how many people?", "Which part of town are you in?", "When exactly?"],
    "thanks": [
        "Thank you, that helps a lot!",
        "Perfect, thanks to both of you.",
        "Great, I shall go there tomorrow. Thank you!",
        "Thanks! I did not know that one.",
    ],
    "again": ["Nobody?", "I have tried that already, it did not help.", "On weekdays, I should have said."],
}
FORUM = ["ana", "ben", "ivo", "kit", "mara", "olu", "sol", "tess", "uwe", "vera", "wim", "yara"]

# -- debates: motion, for, against ------------------------------------------------------------------------------------------

MOTIONS = {
    "market": (
        "that the weekly market moves from the square to the harbour",
        [
            "The harbour has room for sixty stalls where the square has thirty.",
            "Lorries can reach the harbour without waking anybody.",
            "The traders asked for it themselves.",
            "We gain a market and keep the square for the people who live there.",
        ],
        [
            "Old people cannot walk down to the harbour and up again.",
            "The shops on the square live from market days.",
            "There is no shade at the harbour, and no water.",
            "A market belongs in the middle of a town.",
        ],
    ),
    "lights": (
        "that street lamps outside the centre are switched off at one",
        [
            "We should save forty thousand a year.",
            "People sleep better in the dark, and so do the birds.",
            "The neighbouring town has done so for two years without one complaint.",
            "Nobody drives there after one but the fox.",
        ],
        [
            "Nurses walk home from the late shift at half past one.",
            "Dark streets feel unsafe, and feeling unsafe keeps people at home.",
            "The saving is a guess and the accidents would be real.",
            "Dimming would save as much and frighten nobody.",
        ],
    ),
    "bus": (
        "that buses are free on Saturdays",
        [
            "Half of the cars in the centre on Saturdays come from our own suburbs.",
            "The shops would gain more than the tickets bring in.",
            "Families pay eleven euros today, and then they drive.",
            "It is the cheapest advertisement for the bus that we can buy.",
        ],
        [
            "The buses are full already, so that people would be left standing.",
            "Somebody pays for a free ride, and it is those who walk.",
            "I would rather have a bus that comes than a bus that is free.",
            "The money is needed for the school roof.",
        ],
    ),
    "trees": (
        "that every felled tree is replaced by two",
        [
            "The shade of our streets has shrunk by a third in ten years.",
            "A young tree costs less than one hour of the lawyers we paid last year.",
            "Two for one is the least, since every second sapling dies.",
            "Summers are getting hotter, and a tree is the only machine that cools for free.",
        ],
        [
            "We have no room for two, the pipes are in the way.",
            "The gardeners cannot water those that we have.",
            "A rule that counts trees plants them where they do not grow.",
            "Let the gardeners decide and not a number.",
        ],
    ),
    "museum": (
        "that the museum opens on Mondays instead of Sundays",
        [
            "School classes come on Mondays and stand before a locked door.",
            "The staff have asked for their Sundays for years.",
            "Mondays are the only day when visitors find nothing else open.",
            "Sunday visitors would come on Saturday, the figures of spring show it.",
        ],
        [
            "Sunday is the only day when working families can come.",
            "Half of the tickets are sold on Sundays.",
            "A museum that is closed on Sundays is a storeroom.",
            "The classes could be let in by the side door on any day.",
        ],
    ),
}
FOR = [
    "I am in favour.",
    "I support the motion.",
    "My vote is yes.",
    "This is overdue, and I shall vote for it.",
    "",
    "",
]
AGAINST = ["I am against it.", "I oppose the motion.", "My vote is no.", "I cannot support this.", "", ""]
AGREES = [
    "{} is right.", "I agree with {}.", "{} has said what I wanted to say.", "Like {} I have read the report twice.",
    "I can only repeat what {} told us.",
]  # fmt: skip
DIFFERS = [
    "{} is mistaken.", "I disagree with {}.", "I cannot follow {}.", "{} forgets half of the story.",
    "With respect to {}, that is not so.",
]  # fmt: skip
SPEAKERS = ["Abel", "Bruna", "Corin", "Dita", "Edgar", "Fenna", "Gero", "Hedda", "Imke", "Joost"]

# -- notes: telling phrases in their sentences, and sentences that tell nothing -----------------------------------------------

PRAISE = [
    ("The rolls are {} and gone by nine.", ["crisp and warm", "the best in town", "worth getting up for"]),
    ("{}, and I do not say that often.", ["I loved every bite", "Simply delicious", "We were all delighted"]),
    ("The waiter {}.", ["could not have been kinder", "remembered our names", "made us laugh all evening"]),
    ("The soup was {}.", ["rich and full of flavour", "a small wonder", "so good that we stopped talking"]),
    ("My coffee came {}.", ["strong and silky", "exactly as I like it", "with a smile and a biscuit"]),
    ("Between four walls {}.", ["I have seldom felt so welcome", "there is no cosier place", "nothing could be nicer"]),
    ("We paid little and {}.", ["went home happy", "shall come back soon", "ate like kings"]),
]
COMPLAINT = [
    ("The rolls were {} at eight.", ["stale and hard", "sold out, as always,", "grey and soft"]),
    ("{}, and I am not fussy.", ["I could not finish it", "It tasted of nothing", "We sent it back"]),
    ("The waiter {}.", ["ignored us for half an hour", "was rude to my mother", "spilt the sauce and walked off"]),
    ("The soup was {}.", ["lukewarm and far too salty", "dishwater with a carrot in it", "an insult"]),
    ("My coffee came {}.", ["cold and bitter", "an hour late", "in a dirty cup"]),
    ("Between four walls {}.", ["it smelt of old oil", "you freeze in your coat", "the noise was unbearable"]),
    ("We paid too much and {}.", ["left hungry", "shall never return", "got an argument for it"]),
]
NEUTRAL = [
    "It is the house with the green door.", "We came by tram.", "There were four of us.", "The menu hangs on the wall.",
    "They open at eight.", "My table was by the window.", "It had rained since morning.", "The street is being repaired.",
    "We ordered two soups and a cake.", "A dog slept under the next table.", "The card reader was new.",
    "I had an hour until my train.", "The place changed hands in spring.", "It was a Tuesday.",
]  # fmt: skip


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def make_reviews(rng, n):
    rows = []
    for number in range(25, 25 + n):
        mood = int(rng.integers(1, 6))
        ranks = {name: mood if rng.random() < 0.5 else int(rng.integers(1, 6)) for name in REVIEWS}
        ranks = {
            name: int(np.clip(rank + rng.integers(-1, 2) * (rng.random() < 0.3), 1, 5)) for name, rank in ranks.items()
        }
        told = rng.permutation(list(REVIEWS))[: int(rng.integers(3, 5))]
        level = {name: 0 if ranks[name] <= 2 else 1 if ranks[name] == 3 else 2 for name in REVIEWS}
        overall = int(np.clip(round(np.mean(list(ranks.values())) + rng.normal(0, 0.4)), 1, 5))
        closing = pick(rng, CLOSINGS[0 if overall <= 2 else 1 if overall == 3 else 2])
        parts = [pick(rng, OPENINGS), *(pick(rng, REVIEWS[name][level[name]]) for name in told), closing]
        scored = number % 6 != 0
        scores = [*(ranks[name] for name in REVIEWS), overall] if scored else [""] * 5
        rows.append([f"r{number:02d}", " ".join(part for part in parts if part), *scores])
    return rows


def make_threads(rng, n):
    rows, used = [], set()
    for number in range(8, 8 + n):
        questions, good, potential = SUBJECTS[(number - 8) % len(SUBJECTS)]
        question, asker = pick(rng, questions), pick(rng, FORUM)
        answers, size = list(rng.permutation(good)), int(rng.integers(4, 8))
        label_thread = number % 7 != 0
        friendly, helped = rng.random() < 0.6, False
        for place in range(1, size + 1):
            author = pick(rng, [name for name in FORUM if name != asker])
            dice = rng.random()
            if helped and rng.random() < 0.3:
                author, text, label, helped = asker, pick(rng, BAD["thanks"]), "bad", False
            elif dice < (0.55 if friendly else 0.25) and answers:
                text, label, helped = str(answers.pop()), "good", True
            elif dice < 0.68:
                text, label = pick(rng, potential), "potential"
            elif dice < 0.76:
                author, text, label = asker, pick(rng, BAD["again"]), "bad"
            elif dice < 0.84:
                text, label = pick(rng, BAD["asked"]), "bad"
            else:
                text, label = pick(rng, BAD["chat"]), "bad"
            if (number, text) in used:
                continue
            used.add((number, text))
            shown = label if label_thread and rng.random() > 1 / 12 else ""
            rows.append([f"t{number}-{place}", f"t{number}", question, asker, author, text, shown])
    return rows


def make_statements(rng, each):
    rows, links, number = [], [], 21
    for debate, (motion, fors, againsts) in MOTIONS.items():
        sides = dict(zip(SPEAKERS, rng.permutation([1, 0] * 5), strict=True))
        said = []
        for turn in range(each):
            name = SPEAKERS[turn % len(SPEAKERS)] if turn < 4 else pick(rng, SPEAKERS)
            side, own = int(sides[name]), f"s{number:02d}"
            parts, link = [], None
            if turn == 0:
                parts.append(f"I move {motion}." if side else f"The motion {motion} is before us.")
            elif rng.random() < 0.8:
                target, speaker, other = said[int(rng.integers(len(said)))]
                title = f"{'Mrs' if speaker[-1] in 'ae' else 'Mr'} {speaker}"
                if speaker != name:
                    told = pick(rng, AGREES if other == side else DIFFERS).format(title)
                    parts.append(told)
                    link = [own, target, "agree" if other == side else "disagree", 1, told]
            if link is None or rng.random() < 0.75:
                parts.append(pick(rng, fors if side else againsts))
                parts.append(pick(rng, FOR if side else AGAINST))
            shown = ("for" if side else "against") if number % 5 else ""
            rows.append([own, debate, name.lower(), " ".join(part for part in parts if part), shown])
            if link is not None:
                links.append(link)
            said.append((own, name, side))
            number += 1
    return rows, links


def make_notes(rng, n):
    rows, marks = [], []
    for number in range(21, 21 + n):
        own, positive = f"n{number:02d}", bool(rng.random() < 0.5)
        parts, phrases = [], []
        order = rng.permutation(len(PRAISE))[: int(rng.integers(1, 4))]
        for place in order:
            right = positive if len(order) == 1 or rng.random() > 1 / 8 else not positive
            frame, choices = (PRAISE if right else COMPLAINT)[place]
            phrase = pick(rng, choices)
            parts.append((frame.format(phrase), phrase, right == positive))
        fillers = rng.permutation(len(NEUTRAL))[: int(rng.integers(1, 4))]
        parts += [(NEUTRAL[place], "", False) for place in fillers]
        parts = [parts[place] for place in rng.permutation(len(parts))]
        text = " ".join(sentence for sentence, _, _ in parts)
        who, labelled = ("nora" if number % 5 < 3 else "otto"), number % 7 != 0
        rows.append([own, text, ("pos" if positive else "neg") if labelled else "", who if labelled else ""])
        if not labelled or number % 4 == 0:
            continue
        for sentence, phrase, tells in parts:
            if tells and rng.random() < (0.8 if who == "nora" else 0.6):
                phrases.append(sentence if who == "otto" and rng.random() < 0.25 else phrase)
        for phrase in phrases:
            start = text.index(phrase)
            marks.append([own, start, start + len(phrase), phrase, who])
    return rows, marks


def rewrite(name, keep, made):
    path = FOLDER / name
    with path.open(encoding="utf-8", newline="") as source:
        header, *rows = list(csv.reader(source))
    with path.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerows([header, *(row for row in rows if keep(row)), *made])


def main():
    rng = np.random.default_rng(2026)
    rewrite("reviews.csv", lambda row: int(row[0][1:]) <= 24, make_reviews(rng, 136))
    rewrite("threads.csv", lambda row: int(row[1][1:]) <= 7, make_threads(rng, 63))
    statements, links = make_statements(rng, 22)
    rewrite("statements.csv", lambda row: int(row[0][1:]) <= 20, statements)
    rewrite("citations.csv", lambda row: int(row[0][1:]) <= 20, links)
    notes, marks = make_notes(rng, 140)
    rewrite("notes.csv", lambda row: int(row[0][1:]) <= 20, notes)
    rewrite("highlights.csv", lambda row: int(row[0][1:]) <= 20, marks)


if __name__ == "__main__":
    main()
