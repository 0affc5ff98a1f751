"""`python -m estimator_train`: the command line without an installed script."""

import sys

from estimator_train.cli.main import main

sys.exit(main())
