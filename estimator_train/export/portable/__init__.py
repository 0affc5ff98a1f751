"""Conversions of models to formats that run without TensorFlow: ONNX, LiteRT, OpenVINO.

`conversion.py` builds the graph (`portable_graph.py`), has another project's tool convert it and
its runtime prove it (`tools.py`, which imports nothing of this package). Strings become ids outside
of the model (`rows.py`, `encoder.py` with `fingerprints.py`).
"""
