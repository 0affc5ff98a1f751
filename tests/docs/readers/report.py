import json
from pathlib import Path

for name, rate in (("a", 10.0), ("b", 19.0)):
    Path(f"runs/{name}").mkdir(parents=True)
    lines = [
        {"step": step, "time": float(step), "loss": 10 / step, "steps_per_sec": rate}
        for step in (1, 101, 201)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    Path(f"runs/{name}/history.jsonl").write_text(text)
