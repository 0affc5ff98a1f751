"""Names that libraries for data, messages, pictures and sound have removed."""

_HERE = "estimator_train.legacy.removed"
_PANDAS = f"{_HERE}.frames.functions"
_SKLEARN = f"{_HERE}.sklearn_names"
_GRAPHS = f"{_HERE}.networkx_names"
_FILES = f"{_HERE}.file_names"
_MESSAGES = f"{_HERE}.messages.names"
_FIGURES = f"{_HERE}.picture_names"
_SOUND = f"{_HERE}.sound_names"
_PANDAS_NAMES = "concat get_dummies pivot read_csv read_excel read_table to_datetime value_counts"
# Before version 0.22 the modules of scikit-learn's packages had no underscore.
_SKLEARN_MODULES = {
    "cluster": "bicluster birch dbscan_ hierarchical k_means_ mean_shift_ spectral",
    "datasets": "base california_housing mldata samples_generator svmlight_format",
    "decomposition": "base factor_analysis fastica_ incremental_pca kernel_pca nmf online_lda pca",
    "ensemble": "bagging base forest gradient_boosting iforest voting_classifier weight_boosting",
    "feature_extraction": "dict_vectorizer hashing stop_words",
    "feature_selection": "base from_model mutual_info_ rfe univariate_selection variance_threshold",
    "linear_model": (
        "base bayes coordinate_descent huber least_angle logistic passive_aggressive perceptron "
        "ransac ridge stochastic_gradient"
    ),
    "manifold": "isomap locally_linear mds spectral_embedding_ t_sne",
    "metrics": "base classification ranking regression scorer",
    "mixture": "base bayesian_mixture gaussian_mixture",
    "neighbors": "base classification kde lof nearest_centroid regression unsupervised",
    "neural_network": "multilayer_perceptron rbm",
    "preprocessing": "data imputation label",
    "svm": "base classes",
    "tree": "export tree",
}

MODULES: dict[str, tuple[str, ...]] = {
    "PIL": ("PIL",),
    "PIL.Image": ("PIL.Image",),
    "PIL.ImageDraw": ("PIL.ImageDraw",),
    "PIL.ImageFont": ("PIL.ImageFont",),
    "cv2": ("cv2",),
    "cv2.cv2": ("cv2",),
    "google.protobuf": ("google.protobuf",),
    "google.protobuf.json_format": ("google.protobuf.json_format",),
    "google.protobuf.reflection": ("google.protobuf.reflection",),
    "h5py": ("h5py",),
    "librosa": ("librosa",),
    "librosa.display": ("librosa.display",),
    "librosa.output": (_SOUND,),
    "matplotlib": ("matplotlib",),
    "matplotlib.cm": ("matplotlib.cm",),
    "matplotlib.pyplot": ("matplotlib.pyplot",),
    "networkx": ("networkx",),
    "pandas": ("pandas",),
    "pandas.io": ("pandas.io",),
    "pandas.io.json": ("pandas.io.json",),
    "pandas.tools.plotting": ("pandas.plotting",),
    "pandas.util": ("pandas.util",),
    "pandas.util.testing": ("pandas.testing",),
    "sklearn": ("sklearn",),
    "sklearn.cross_validation": ("sklearn.model_selection",),
    "sklearn.externals": ("sklearn.externals",),
    "sklearn.externals.joblib": ("joblib",),
    "sklearn.externals.six": ("six",),
    "sklearn.grid_search": ("sklearn.model_selection",),
    "sklearn.learning_curve": ("sklearn.model_selection",),
    "sklearn.lda": ("sklearn.discriminant_analysis",),
    "sklearn.qda": ("sklearn.discriminant_analysis",),
    "sklearn.utils": ("sklearn.utils",),
    "sklearn.utils.linear_assignment_": (_SKLEARN,),
    "sklearn.utils.testing": ("sklearn.utils._testing",),
    **{
        f"sklearn.{package}.{module}": (f"sklearn.{package}",)
        for package, modules in _SKLEARN_MODULES.items()
        for module in modules.split()
    },
    **{f"sklearn.{package}": (f"sklearn.{package}",) for package in _SKLEARN_MODULES},
    "yaml": ("yaml",),
}
NAMES: dict[str, str] = {
    "PIL.Image.ANTIALIAS": "PIL.Image:Resampling.LANCZOS",
    "PIL.Image.CUBIC": "PIL.Image:Resampling.BICUBIC",
    "PIL.Image.LINEAR": "PIL.Image:Resampling.BILINEAR",
    "PIL.Image.PILLOW_VERSION": "PIL:__version__",
    "PIL.PILLOW_VERSION": "PIL:__version__",
    "google.protobuf.json_format.MessageToDict": f"{_MESSAGES}:to_dict",
    "google.protobuf.json_format.MessageToJson": f"{_MESSAGES}:to_json",
    "google.protobuf.reflection.MakeClass": f"{_MESSAGES}:make_class",
    "google.protobuf.reflection.ParseMessage": f"{_MESSAGES}:parse_message",
    "librosa.display.waveplot": "librosa.display:waveshow",
    "matplotlib.cm.get_cmap": "matplotlib.pyplot:get_cmap",
    "networkx.adj_matrix": "networkx:adjacency_matrix",
    "networkx.connected_component_subgraphs": f"{_GRAPHS}:connected_component_subgraphs",
    "networkx.from_numpy_matrix": f"{_GRAPHS}:from_numpy_matrix",
    "networkx.from_scipy_sparse_matrix": "networkx:from_scipy_sparse_array",
    "networkx.read_gpickle": f"{_GRAPHS}:read_gpickle",
    "networkx.to_numpy_matrix": f"{_GRAPHS}:to_numpy_matrix",
    "networkx.to_scipy_sparse_matrix": f"{_GRAPHS}:to_scipy_sparse_matrix",
    "networkx.write_gpickle": f"{_GRAPHS}:write_gpickle",
    **{f"pandas.{name}": f"{_PANDAS}:{name}" for name in _PANDAS_NAMES.split()},
    "pandas.Float64Index": "pandas:Index",
    "pandas.Int64Index": "pandas:Index",
    "pandas.UInt64Index": "pandas:Index",
    # pandas offered its own imports `np` and `datetime`.
    "pandas.datetime": "datetime:datetime",
    "pandas.np": "numpy",
    "pandas.io.json.json_normalize": "pandas:json_normalize",
    "pandas.scatter_matrix": "pandas.plotting:scatter_matrix",
    "sklearn.datasets.base.Bunch": "sklearn.utils:Bunch",
    "sklearn.feature_extraction.stop_words.ENGLISH_STOP_WORDS": (
        "sklearn.feature_extraction.text:ENGLISH_STOP_WORDS"
    ),
    "sklearn.metrics.jaccard_similarity_score": f"{_SKLEARN}:jaccard_similarity_score",
    "sklearn.metrics.mean_squared_error": f"{_SKLEARN}:mean_squared_error",
    "sklearn.preprocessing.Imputer": f"{_SKLEARN}:Imputer",
    "sklearn.preprocessing.OneHotEncoder": f"{_SKLEARN}:OneHotEncoder",
    "sklearn.preprocessing.imputation.Imputer": f"{_SKLEARN}:Imputer",
}
PREPARE = {
    "PIL.ImageDraw": f"{_FIGURES}:add_to_draw",
    "PIL.ImageFont": f"{_FIGURES}:add_to_fonts",
    "google.protobuf": f"{_MESSAGES}:prepare",
    "h5py": f"{_FILES}:add_to_h5py",
    "librosa": f"{_SOUND}:accept_positions_in_librosa",
    "matplotlib": f"{_FIGURES}:add_to_matplotlib",
    "networkx": f"{_GRAPHS}:add_to_graphs",
    "pandas": f"{_PANDAS}:prepare",
    "sklearn.feature_extraction": f"{_SKLEARN}:add_to_vectorizers",
    "yaml": f"{_FILES}:accept_missing_loaders",
}
