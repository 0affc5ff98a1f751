"""The rooms of the house and the arrows between them, which `test_house.py` holds.

A room is a package's own files. Its entry lists the rooms that it may import from; a room that
imports from one that is not listed fails the test, and so does an entry that nothing needs. Rooms
of `estimator_train` go by their names below it; the rooms below `legacy.contrib` count as one.
"""

ROOMS = {
    "bootstrap": "cluster engine.tf_internals",
    "canned": "canned.parts estimator estimator_spec heads",
    "canned.boosted_trees": (
        "canned.parts cluster engine engine.checkpoints engine.context estimator estimator_spec "
        "export heads"
    ),
    "canned.parts": (
        "engine engine.checkpoints engine.tf_internals estimator_spec heads optimizers run_config"
    ),
    "canned.v1": "canned canned.parts estimator heads",
    "cli": "bootstrap cli.job cli.output estimator_train",
    "cli.commands": (
        "cli cli.inspect cli.job cli.output cluster compat engine.checkpoints engine.run "
        "estimator_train hooks keras launcher legacy legacy.rewriting report shim"
    ),
    "cli.inspect": (
        "bootstrap cli.job cli.output engine.checkpoints engine.tf_internals estimator_train keras "
        "keras.checkpoints keras.graph keras.keras3 launcher run_config shim training"
    ),
    "cli.job": (
        "cli.output engine engine.checkpoints engine.inputs estimator_train export flags "
        "input_fns keras lifecycle training training.early_stopping"
    ),
    "cli.output": "bootstrap lifecycle",
    "cluster": "",
    "compat": "keras",
    "compat.v1": (
        "canned canned.boosted_trees canned.parts canned.v1 compat.v1.inputs estimator "
        "estimator_train export keras tpu"
    ),
    "compat.v1.inputs": "",
    "engine": "bootstrap engine.tf_internals",
    "engine.checkpoints": (
        "cluster engine engine.loops engine.tf_internals goodput lifecycle run_config"
    ),
    "engine.compiled": "engine.tf_internals",
    "engine.context": "engine engine.checkpoints run_config",
    "engine.distributed": (
        "cluster engine engine.checkpoints engine.context engine.inputs engine.loops "
        "engine.tf_internals goodput lifecycle run_config"
    ),
    "engine.graph": "engine engine.context engine.inputs engine.tf_internals estimator_spec",
    "engine.inputs": (
        "engine engine.checkpoints engine.compiled engine.context engine.loops "
        "engine.tf_internals estimator_spec goodput"
    ),
    "engine.loops": "engine engine.compiled engine.tf_internals lifecycle",
    "engine.run": (
        "engine engine.checkpoints engine.context engine.distributed engine.graph engine.inputs "
        "engine.loops engine.sessions engine.tf_internals estimator_spec goodput lifecycle "
        "run_config"
    ),
    "engine.sessions": (
        "engine engine.checkpoints engine.context engine.distributed engine.graph engine.inputs "
        "engine.loops engine.tf_internals estimator_spec goodput run_config"
    ),
    "engine.tf_internals": "",
    "estimator": (
        "cluster engine engine.checkpoints engine.context engine.distributed engine.graph "
        "engine.run estimator_spec export predictor run_config"
    ),
    "estimator_spec": "engine engine.tf_internals",
    "estimator_train": (
        "bootstrap canned canned.boosted_trees canned.parts engine.checkpoints estimator "
        "estimator_spec export heads hooks keras lifecycle predictor run_config training "
        "training.early_stopping"
    ),
    "export": (
        "engine.checkpoints engine.context engine.graph engine.sessions engine.tf_internals "
        "estimator_spec"
    ),
    "heads": "engine engine.tf_internals estimator_spec optimizers",
    "hooks": "engine engine.tf_internals keras.callbacks",
    "keras": (
        "engine engine.checkpoints estimator estimator_spec keras.callbacks keras.checkpoints "
        "keras.compiled keras.graph keras.keras3 keras.serving optimizers run_config"
    ),
    "keras.callbacks": "engine estimator_spec keras.compiled keras.graph optimizers run_config",
    "keras.checkpoints": "engine.checkpoints engine.tf_internals keras.graph run_config",
    "keras.compiled": "engine.tf_internals keras.graph",
    "keras.graph": "engine.tf_internals",
    "keras.keras3": (
        "engine engine.tf_internals estimator_spec keras.callbacks keras.checkpoints "
        "keras.compiled keras.graph keras.serving run_config"
    ),
    "keras.serving": "export keras.graph",
    "goodput": "",
    "launcher": "cluster goodput",
    "legacy": "bootstrap legacy.reading legacy.removed legacy.trees",
    "legacy.contrib": (
        "canned canned.parts compat.v1 engine engine.run engine.tf_internals estimator "
        "estimator_train export heads legacy.private legacy.tutorials lifecycle predictor tpu "
        "training training.early_stopping"
    ),
    "legacy.private": "canned.parts estimator_train export heads tpu training.early_stopping",
    "legacy.reading": "",
    "legacy.removed": "",
    "legacy.removed.frames": "legacy.removed",
    "legacy.rewriting": "legacy legacy.reading legacy.trees",
    "legacy.trees": "legacy.removed",
    "legacy.tutorials": "",
    "lifecycle": "goodput",
    "optimizers": "engine.tf_internals",
    "predictor": (
        "engine.checkpoints engine.context engine.graph engine.sessions "
        "engine.tf_internals estimator_spec export"
    ),
    "report": "engine engine.run goodput",
    "run_config": "cluster lifecycle",
    "shim": "bootstrap compat compat.v1 estimator_train legacy.trees",
    "tpu": (
        "cluster engine engine.checkpoints engine.context engine.graph engine.inputs estimator "
        "estimator_spec run_config"
    ),
    "training": (
        "cluster engine engine.checkpoints engine.context engine.distributed engine.inputs "
        "engine.run engine.sessions estimator estimator_spec keras.checkpoints lifecycle "
        "run_config training.early_stopping"
    ),
    "training.early_stopping": "engine engine.checkpoints engine.tf_internals estimator",
    "flags": "cluster",
    "input_fns": "input_fns.memory input_fns.pictures input_fns.pipeline input_fns.records",
    "input_fns.data": "input_fns.pictures",
    "input_fns.memory": "input_fns.pipeline",
    "input_fns.pictures": "input_fns.pipeline",
    "input_fns.pipeline": "",
    "input_fns.records": "input_fns.pipeline",
}

# Imports within a function of a room that is higher up; each with its reason.
UPWARD = {
    ("bootstrap", "shim"): "the import hook imports the modules that it shows at their first use",
    ("estimator", "training"): "`Estimator.dry_run` runs a job, and jobs call Estimator",
    ("compat", "legacy"): "`compat.install` prepares TensorFlow for an old program",
}
