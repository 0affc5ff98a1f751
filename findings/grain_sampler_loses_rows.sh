#!/usr/bin/env bash
# grain 0.2.18, Python 3.11.
#
# `ShardOptions(drop_remainder=False)` is there to keep the records that do not divide evenly, and the
# samplers drop them all the same: for 10 records in 3 shards, SequentialSampler never gives record 9,
# and IndexSampler gives 3 records of each shard an epoch, so that record 3 is missing. In the second
# epoch IndexSampler goes on with the record that its first epoch has left over, and ends before 2 and
# 3. The two samplers also give one shard different records. The only sign is a warning in the log.
#
# Output seen (drop_remainder=False, 10 records, 3 shards):
#   SequentialSampler: [[0, 3, 6], [1, 4, 7], [2, 5, 8]], without [9]
#   IndexSampler, 1 epoch: [[0, 1, 2], [4, 5, 6], [7, 8, 9]], without [3]
#   IndexSampler, 2 epochs: [[0, 1, 2, 3, 0, 1], [4, 5, 6, 4, 5, 6], [7, 8, 9, 7, 8, 9]], without []
#   MapDataset[shard::3]: [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]], without []
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/shards.py" <<'PYTHON'
import grain

COUNT, SHARDS = 10, 3
source = grain.sources.RangeDataSource(0, COUNT, 1)
options = [grain.sharding.ShardOptions(index, SHARDS, False) for index in range(SHARDS)]


def show(name, shards):
    missing = sorted(set(range(COUNT)) - {row for shard in shards for row in shard})
    print(f"{name}: {shards}, without {missing}")


def read(make):
    loaders = [grain.DataLoader(data_source=source, sampler=make(option)) for option in options]
    return [[int(row) for row in loader] for loader in loaders]


show("SequentialSampler", read(lambda option: grain.samplers.SequentialSampler(COUNT, option)))
for epochs, name in ((1, "1 epoch"), (2, "2 epochs")):
    make = lambda option: grain.samplers.IndexSampler(COUNT, option, num_epochs=epochs)
    show(f"IndexSampler, {name}", read(make))
dataset = grain.MapDataset.range(COUNT)
slices = [dataset[shard::SHARDS] for shard in range(SHARDS)]
show("MapDataset[shard::3]", [[int(row) for row in rows] for rows in slices])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet grain==0.2.18
"$folder/venv/bin/python" "$folder/shards.py" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
