"""Makes the small data sets in this folder: opinions about meals and journeys, composed of parts.

usage: python examples/data/languages/generate.py
"""

import csv
import pathlib
import random

HERE = pathlib.Path(__file__).parent

PARTS = {
    "en": {
        "things": ["The soup", "The bread", "Our room", "The train", "The guide", "Her song",
                   "The garden", "My ticket", "The museum", "Their coffee"],
        "negative": ["was cold and late", "made us sad", "was a waste of money", "smelled awful",
                     "was far too loud", "broke twice", "was dirty", "bored everybody"],
        "positive": ["was warm and quick", "made us smile", "was worth every cent",
                     "smelled wonderful", "was calm and quiet", "never failed", "was spotless",
                     "delighted everybody"],
        "ends": [".", "!!!", ", I think.", ", as my sister SAID.", ".", " on Monday."],
    },
    "fr": {
        "things": ["La soupe", "Le pain", "Notre chambre", "Le train", "Le guide", "Sa chanson",
                   "Le jardin", "Mon billet", "Le musée", "Leur café"],
        "negative": ["nous a déçus", "sentait mauvais", "était sale", "a coûté trop cher",
                     "faisait trop de bruit", "ne valait rien", "a gâché la soirée", "était froid"],
        "positive": ["nous a plu", "sentait très bon", "était parfait", "valait bien son prix",
                     "était calme", "était une merveille", "a sauvé la soirée", "était délicieux"],
        "ends": [".", " !!!", ", je crois.", ", a DIT ma sœur.", ".", " lundi."],
    },
}


def opinion(parts, label, chance):
    clause = lambda: chance.choice(parts["things"]) + " " + chance.choice(parts[label])
    return " ".join(clause() + chance.choice(parts["ends"]) for _ in range(chance.randint(1, 3)))


def main():
    for lang, parts in PARTS.items():
        chance = random.Random(lang)
        (HERE / lang).mkdir(exist_ok=True)
        for name, count in (("train", 240), ("valid", 60), ("test", 80)):
            with open(HERE / lang / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, lineterminator="\n")
                table.writerow(["text", "label"])
                for i in range(count):
                    label = ("negative", "positive")[i % 2]
                    table.writerow([opinion(parts, label, chance), label])
        with open(HERE / lang / "unlabelled.txt", "w", encoding="utf-8") as file:
            for _ in range(200):
                label = chance.choice(("negative", "positive"))
                file.write(opinion(parts, label, chance) + "\n")


main()
