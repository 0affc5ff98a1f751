"""Flags of the wide and deep models."""
from absl import flags

MODEL_TYPES = ["wide", "deep", "wide_deep"]


def define_wide_deep_flags():
  """Add supervised learning flags, as well as wide-deep model type."""
  flags.DEFINE_string("data_dir", "/tmp/census_data", "Where the data is.", short_name="dd")
  flags.DEFINE_string("model_dir", "/tmp/census_model", "Where the model is.", short_name="md")
  flags.DEFINE_integer("train_epochs", 40, "Epochs.", short_name="te")
  flags.DEFINE_integer("epochs_between_evals", 2, "Epochs between evaluations.", short_name="ebe")
  flags.DEFINE_integer("batch_size", 40, "Batch size.", lower_bound=1, short_name="bs")
  flags.DEFINE_float("stop_threshold", None, "Accuracy to stop at.", short_name="st")
  flags.DEFINE_enum("model_type", "wide_deep", MODEL_TYPES, "Select model topology.",
                    short_name="mt")
  flags.DEFINE_list("hooks", ["LoggingTensorHook"], "Hooks by their names.")
  flags.DEFINE_string("export_dir", None, "Where to export to.", short_name="ed")
  flags.DEFINE_bool("clean", False, "Remove model_dir first.")
