from input_fns.census_dataset import build_model_columns, input_fn
