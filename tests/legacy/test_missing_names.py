"""Names that do not exist: their import succeeds, and their first use raises an error."""

UNUSED = """
from tensorflow.contrib.quantize import create_training_graph
from tensorflow.python.estimator.canned.head import _no_such_head
from tensorflow_estimator.python.estimator.canned import head

print(isinstance(3, (_no_such_head, str)), issubclass(int, (_no_such_head, int)))
print(hasattr(head, "_no_such_head"))
for use in (create_training_graph, lambda: create_training_graph.graph, lambda: head._no_such_head):
    try:
        use()
    except AttributeError as error:
        print(str(error).split()[0])
try:
    class Head(_no_such_head):
        pass
except AttributeError as error:
    print(str(error).split()[0])
try:
    from tensorflow.contrib.quantize import create_training_graph
except ImportError:
    print("the other branch")
"""


def test_imported_names_raise_at_their_first_use(run):
    done = run(UNUSED, switches=["--tf1"])
    assert done.stdout.splitlines() == [
        "False True",
        "False",
        "tf.contrib.quantize.create_training_graph",
        "tf.contrib.quantize.create_training_graph",
        "tensorflow_estimator.python.estimator.canned.head._no_such_head",
        "tensorflow.python.estimator.canned.head._no_such_head",
        "the other branch",
    ]


def test_names_outside_of_private_modules_and_contrib_fail_at_import(run):
    done = run("\nfrom tensorflow.train import NoSuchOptimizer\n", exit_code=2)
    assert "NoSuchOptimizer" in done.stderr.splitlines()[-1]
