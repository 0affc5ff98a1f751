"""Names of modes, problems and predictions."""


class ModeKeys:
    """The modes of a model_fn."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class ProblemType:
    """The kinds of problems."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class PredictionKey:
    """The keys of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"
