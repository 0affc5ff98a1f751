"""Uses names, methods and arguments that libraries have removed, as a program of 2018 does.

`removed_names.py [LIBRARY ...]` prints a JSON object of answers, by default of all libraries.
`tests/oracle/record.py --removed` runs it on Python 3.7 with the libraries of 2019.
"""

import io
import json
import os
import sys
import tempfile

import numpy as np


def of_standard():
    import array
    import base64
    import cgi
    import configparser
    import fractions
    import html.parser
    import imp
    import inspect
    import locale
    import pipes
    import platform
    import plistlib
    import random
    import threading
    import time
    import unittest
    import xml.etree.cElementTree as ElementTree
    from collections import Mapping

    tree = ElementTree.parse(io.StringIO("<a><b>1</b><c/></a>"))
    parser = configparser.SafeConfigParser()
    parser.readfp(io.StringIO("[s]\nkey = 1\n"))
    numbers = array.array("b", [1, 2])
    numbers.fromstring(b"\x03")
    thread = threading.Thread(target=int)
    random.seed(3)
    letters = list("abcde")
    random.shuffle(letters, lambda: 0.5)
    path = os.path.join(tempfile.mkdtemp(), "module_of_test.py")
    with open(path, "w") as file:
        file.write("value = 7\n")
    plist = os.path.join(os.path.dirname(path), "p.plist")
    plistlib.writePlist({"a": 1}, plist)

    class Case(unittest.TestCase):
        def test_old(self):
            self.assertEquals(1, 1)
            self.assertRaisesRegexp(ValueError, "inv", int, "x")
            self.assertRegexpMatches("abc", "b")

    return {
        "Element.getchildren": [child.tag for child in tree.getroot().getchildren()],
        "Element.getiterator": [node.tag for node in tree.getroot().getiterator("b")],
        "ElementTree.getiterator": [node.tag for node in tree.getiterator()],
        "SafeConfigParser": parser.get("s", "key"),
        "array": list(numbers.tostring()),
        "base64": base64.decodestring(base64.encodestring(b"abc")).decode(),
        "cgi.escape": cgi.escape('<a href="b">'),
        "collections.Mapping": isinstance({}, Mapping),
        "fractions.gcd": fractions.gcd(4, 6),
        "getargspec": list(inspect.getargspec(lambda a, b=1: 0)[0]),
        "unescape": html.parser.HTMLParser().unescape("&lt;1"),
        "imp.load_source": imp.load_source("module_of_test", path).value,
        "imp.new_module": imp.new_module("m").__name__,
        "imp.reload": imp.reload(json).__name__,
        "locale.format": locale.format("%d", 3),
        "pipes.quote": pipes.quote("a b"),
        "linux_distribution": len(platform.linux_distribution()),
        "plistlib": plistlib.readPlist(plist),
        "sample of a set": sorted(random.sample({1, 2, 3}, 3)),
        "shuffle with a source": letters,
        "randint of whole floats": random.randint(4.0, 4.0),
        "isAlive": thread.isAlive(),
        "clock": time.clock() >= 0,
        "TestCase": unittest.makeSuite(Case).run(unittest.TestResult()).wasSuccessful(),
        "open U": [open(path, "rU").read(), open(path, mode="U").read()],
        "os.errno": isinstance(getattr(os, "errno", __import__("errno")).ENOENT, int),
    }


def of_numpy():
    import scipy
    from scipy import integrate, linalg, signal, stats

    pairs = [(1, 2.5), (3, 4.5)]
    table = io.StringIO("A,b\n1,2.5\n3,4.5\n")
    values = np.array([[3, 1], [2, 4]])
    return {
        "math": np.math.floor(np.math.pi),
        "constants": [np.NINF, np.PINF, np.PZERO, bool(np.isnan(np.NaN))],
        "cast": np.cast["int32"]([1.7, -1.7]).tolist(),
        "types": [np.dtype(t).name for t in (np.cfloat, np.float_, np.singlecomplex)],
        "sctypes": [t.__name__ for t in np.sctypes["float"][:3]],
        "find_common_type": np.find_common_type([np.float32, np.int64], []).name,
        "histogram normed": np.histogram([0.0, 1.0, 1.0], 2, normed=True)[0].tolist(),
        "msort": np.msort(values).tolist(),
        "issubclass_": [bool(np.issubclass_(np.int32, np.integer)), bool(np.issubclass_(1, int))],
        "recfromcsv": np.recfromcsv(table).b.tolist(),
        "safe_eval": np.safe_eval("[1, 2]"),
        "copy=False": np.array(pairs, copy=False).tolist(),
        "lib.pad": np.lib.pad([1, 2], 1, "constant").tolist(),
        "trapz": np.trapz([1, 2, 3]),
        "rows": np.row_stack([[1], [2]]).tolist(),
        "scipy.zeros": scipy.zeros(2).tolist(),
        "windows": [np.round(signal.hanning(4), 4).tolist(), round(signal.gaussian(3, 1)[0], 4)],
        "integrate": [integrate.simps([1, 2, 3]), integrate.trapz([1, 2, 3])],
        "pinv2": np.round(linalg.pinv2(np.array([[2.0, 0], [0, 4]])), 6).tolist(),
        "itemfreq": stats.itemfreq([1, 1, 2]).tolist(),
    }


def of_pandas():
    import pandas as pd
    from pandas.io.json import json_normalize

    frame = pd.DataFrame({"a": [1.0, None, 3.0], "s": ["x", None, "z"], "n": [1, 2, 3]})
    frame["a"].fillna(0, inplace=True)
    frame.s.fillna("?", inplace=True)
    frame["n"][frame["a"] > 2] = 9
    frame["n"].loc[0] = 7
    frame["s"].replace("?", "y", inplace=True)
    labels = frame.set_index("s")
    days = pd.to_datetime(pd.Series(["2020-01-01", "2020-06-30"]), infer_datetime_format=True)
    file = io.StringIO("a;b\n1;2\n")
    csv = os.path.join(tempfile.mkdtemp(), "f.csv")
    frame.to_csv(csv, index=False, line_terminator="\n")
    return {
        "changes of columns": frame.values.tolist(),
        "drop by position": frame.drop("s", 1).columns.tolist(),
        "concat by position": list(pd.concat([frame, frame], 1).shape),
        "sort_values by position": frame.sort_values("n", 0, False)["n"].tolist(),
        "read_csv by position": pd.read_csv(file, ";").columns.tolist(),
        "dropna by position": list(frame.dropna(0, "any").shape),
        "fillna with a method": pd.Series([1, None]).fillna(method="ffill").tolist(),
        "fillna by position": pd.Series([1, None, 2]).fillna(None, "bfill").tolist(),
        "mean without text": frame.mean().round(4).tolist(),
        "corr without text": list(frame.corr().shape),
        "groups without text": frame.groupby("n").mean()["a"].tolist(),
        "get_dummies": pd.get_dummies(frame["s"]).values.tolist(),
        "times": days.astype("int64").tolist(),
        "week": days.dt.week.tolist(),
        "weekofyear": pd.DatetimeIndex(days).weekofyear.tolist(),
        "ix label": [int(labels.ix["x", "n"]), labels.ix["x":"y", "n"].tolist()],
        "ix position": [
            int(labels.ix[0, "n"]),
            labels.ix[0:2, "n"].tolist(),
            labels.ix[[0, 2], 1].tolist(),
        ],
        "ix integers": frame.ix[0:1, "n"].tolist(),
        "as_matrix": frame[["a", "n"]].as_matrix().tolist(),
        "get_values": frame["n"].get_values().tolist(),
        "get_value": frame.get_value(1, "s"),
        "iteritems": [name for name, _ in frame.iteritems()],
        "append": frame.append({"a": 1, "s": "q", "n": 0}, ignore_index=True)["s"].tolist(),
        "lookup": [str(found) for found in frame.lookup([0, 2], ["s", "n"])],
        "mad": round(frame["n"].mad(), 4),
        "is_monotonic": [frame["n"].is_monotonic, frame.index.is_monotonic],
        "json_normalize": json_normalize([{"a": {"b": 1}}]).columns.tolist(),
        "value_counts": pd.value_counts(["u", "u", "v"]).tolist(),
        "np and datetime": [pd.np.int64(3).item(), pd.datetime(2020, 1, 2).day],
        "Int64Index": pd.Int64Index([1, 2]).tolist(),
        "to_csv": pd.read_csv(csv).shape[0],
        "from_csv": "a" in pd.read_csv(csv).columns,
    }


def of_pictures():
    import h5py
    import matplotlib
    import yaml
    from PIL import Image, ImageDraw, ImageFont

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    font = ImageFont.load_default()
    draw = ImageDraw.Draw(Image.new("L", (40, 20)))
    path = os.path.join(tempfile.mkdtemp(), "f.h5")
    with h5py.File(path, "w") as file:
        file["x"] = [1, 2]
        values = file["x"].value.tolist()
    plt.style.use("seaborn")
    heights, _, _ = plt.hist([0.0, 1.0, 1.0], 2, normed=True)
    return {
        "ANTIALIAS": Image.ANTIALIAS == Image.LANCZOS,
        "getsize": [size > 0 for size in font.getsize("ab")],
        "textsize": draw.textsize("ab", font) == tuple(font.getsize("ab")),
        "h5py value": values,
        "hist normed": np.round(heights, 4).tolist(),
        "get_cmap": [plt.cm.get_cmap("jet").name, matplotlib.cm.get_cmap("gray").name],
        "yaml": yaml.load("a: [1]"),
    }


def of_sklearn():
    from sklearn.datasets.samples_generator import make_blobs
    from sklearn.ensemble.forest import RandomForestClassifier
    from sklearn.externals import joblib
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model.logistic import LogisticRegression
    from sklearn.metrics import mean_squared_error
    from sklearn.metrics.classification import accuracy_score
    from sklearn.preprocessing import Imputer, OneHotEncoder
    from sklearn.preprocessing.label import LabelEncoder
    from sklearn.utils.linear_assignment_ import linear_assignment

    x, y = make_blobs(n_samples=30, centers=2, random_state=0, cluster_std=0.1)
    counts = CountVectorizer()
    counts.fit(["bb aa", "cc aa"])
    encoder = OneHotEncoder(sparse=False, categories="auto")
    path = os.path.join(tempfile.mkdtemp(), "f")
    joblib.dump([1], path)
    return {
        "forest": accuracy_score(y, RandomForestClassifier(n_estimators=3).fit(x, y).predict(x)),
        "logistic": LogisticRegression(solver="lbfgs").fit(x, y).score(x, y),
        "get_feature_names": counts.get_feature_names(),
        "OneHotEncoder": encoder.fit_transform([[1], [2]]).tolist(),
        "Imputer": Imputer().fit_transform([[1.0], [np.nan], [3.0]]).tolist(),
        "LabelEncoder": LabelEncoder().fit_transform(["b", "a"]).tolist(),
        "linear_assignment": linear_assignment(np.array([[1, 0], [0, 1]])).tolist(),
        "mean_squared_error": mean_squared_error([1.0, 2.0], [1.0, 4.0]),
        "joblib": joblib.load(path),
    }


def of_networkx():
    import networkx as nx

    graph = nx.Graph()
    graph.add_node(1, size=3)
    graph.add_path([1, 2]) if hasattr(graph, "add_path") else nx.add_path(graph, [1, 2])
    path = os.path.join(tempfile.mkdtemp(), "f")
    nx.write_gpickle(graph, path)
    return {
        "node": graph.node[1]["size"],
        "to_numpy_matrix": nx.to_numpy_matrix(graph).tolist(),
        "from_numpy_matrix": nx.from_numpy_matrix(np.ones((2, 2))).number_of_edges(),
        "adj_matrix": nx.adj_matrix(graph).todense().tolist(),
        "to_scipy_sparse_matrix": nx.to_scipy_sparse_matrix(graph).todense().tolist(),
        "components": [sorted(part.nodes) for part in nx.connected_component_subgraphs(graph)],
        "gpickle": nx.read_gpickle(path).number_of_edges(),
    }


def of_librosa():
    import librosa
    import librosa.output

    wave = np.sin(np.arange(4410) / 10).astype(np.float32)
    path = os.path.join(tempfile.mkdtemp(), "f.wav")
    librosa.output.write_wav(path, wave, 22050)
    read, rate = librosa.load(path, None)
    return {
        "write_wav": [rate, read.dtype.name, bool(np.allclose(read, wave))],
        "melspectrogram": list(librosa.feature.melspectrogram(wave, 22050).shape),
        "mfcc": list(librosa.feature.mfcc(wave, 22050, None, 13).shape),
        "mel": list(librosa.filters.mel(16000, 512, 40).shape),
        "stft": list(librosa.stft(wave, 256, 128).shape),
        "resample": len(librosa.resample(wave, 22050, 11025, "scipy")),
    }


LIBRARIES = "standard numpy pandas pictures sklearn networkx librosa".split()


def answers(library):
    return globals()["of_" + library]()


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    json.dump({library: answers(library) for library in sys.argv[1:] or LIBRARIES}, sys.stdout)
