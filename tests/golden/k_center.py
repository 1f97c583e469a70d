"""k_center.py: greedy k-center (Gonzalez 1985; Sener and Savarese 2018) by numpy, written to k_center.json. The first
center is the vector nearest the mean; each further one is the farthest from those before it."""

import json
import pathlib

import numpy


def k_center(vectors, count):
    vectors = vectors.astype(numpy.float64)
    chosen = [int(numpy.argmin(((vectors - vectors.mean(0)) ** 2).sum(1)))]
    nearest = ((vectors - vectors[chosen[0]]) ** 2).sum(1)
    while len(chosen) < count:
        chosen.append(int(numpy.argmax(nearest)))
        nearest = numpy.minimum(nearest, ((vectors - vectors[chosen[-1]]) ** 2).sum(1))
    return chosen, float(numpy.sqrt(nearest.max()))


def main():
    source = numpy.random.default_rng(7)
    centers = source.normal(size=(6, 11))
    vectors = centers[source.integers(0, 6, 90)] + 0.3 * source.normal(size=(90, 11))
    vectors = vectors.round(3).astype(numpy.float32)
    cases = []
    for count in (1, 6, 25):
        chosen, radius = k_center(vectors, count)
        cases.append({"chosen": chosen, "radius": radius})
    place = pathlib.Path(__file__).with_suffix(".json")
    rows = ",\n".join(json.dumps([round(float(x), 3) for x in row]) for row in vectors)
    place.write_text('{"vectors": [\n' + rows + '],\n"cases": ' + json.dumps(cases) + "}\n")


main()
