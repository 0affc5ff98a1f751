"""Names of modes, tasks, problem types and predictions."""


class ModeKeys:
    """Modes of a model_fn."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class TaskType:
    """Jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class ProblemType:
    """Types of problems."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class PredictionKey:
    """Keys of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class PredictionType:
    """Numbers of predictions of a recurrent model for one sequence."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """Keys of features, and starts of keys of predictions, of recurrent models."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"
