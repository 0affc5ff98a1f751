"""Runs a program whose pods are processes of this machine: LOCAL_HOSTS maps their addresses."""

import json
import os
import sys

for host, address in json.loads(os.environ["LOCAL_HOSTS"]).items():
    os.environ["TF_CONFIG"] = os.environ["TF_CONFIG"].replace(host, address)
os.execv(sys.argv[1], sys.argv[1:])
