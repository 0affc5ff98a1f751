#!/usr/bin/env bash
# A requeued batch job that is started again in the same second in which its node ended the run
# before is FAILED, without having run: slurmd compares the time of the new credential with that of
# the revocation, in whole seconds. Two seconds later it starts.
#
# Seen with Slurm 22.05.8-4+deb12u3 (Debian 12, x86-64): slurmctld and slurmd on one machine. The
# job is `sleep 600`; `scontrol requeue`, and, as soon as it is PENDING, `scontrol update
# StartTime=...`, since Slurm itself waits two minutes.
#
#   StartTime=now:   FAILED; slurmd: "Job N already killed, do not launch batch job",
#                    slurmctld: "Killing non-startable batch JobId=N: Job credential revoked"
#                    (if both fall into one second; the script tries up to 20 times)
#   StartTime=now+2: RUNNING, Restarts=1
#
# A program that starts requeued jobs at once, as tests of requeueing do, has to wait two seconds.
# Needs root on Debian 12; the packages are unpacked in a temporary folder.
set -euo pipefail

folder=$(mktemp -d)
chmod 755 "$folder"
finish() {
    scancel --user=root > /dev/null 2>&1 || true
    sleep 2
    for name in slurmd slurmctld munge; do
        [ ! -f "$folder/$name.pid" ] || kill "$(cat "$folder/$name.pid")" || true
    done
    sleep 1
    rm -rf "$folder"
}
trap finish EXIT

mkdir "$folder/packages" "$folder/state"
(
    cd "$folder/packages"
    slurm=22.05.8-4+deb12u3 munge=0.5.15-2+deb12u1
    apt-get -qq -o APT::Sandbox::User=root download \
        {slurmctld,slurmd,slurm-client,slurm-wlm-basic-plugins}=$slurm {munge,libmunge2}=$munge \
        libhwloc15 libnuma1
    for package in *.deb; do dpkg -x "$package" "$folder/root"; done
)
libraries=$folder/root/usr/lib/x86_64-linux-gnu
export PATH="$folder/root/usr/sbin:$folder/root/usr/bin:$PATH"
export LD_LIBRARY_PATH="$libraries:$libraries/slurm-wlm" SLURM_CONF="$folder/slurm.conf"

read -r first second < <(python3 -c 'import socket
found = [socket.socket() for _ in range(2)]
[one.bind(("127.0.0.1", 0)) for one in found]
print(*(one.getsockname()[1] for one in found))')
cat > "$folder/slurm.conf" << CONF
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$first
PluginDir=$libraries/slurm-wlm
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
NodeName=node NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$second CPUs=4
PartitionName=main Nodes=node Default=YES
CONF
head -c 1024 /dev/urandom > "$folder/munge.key"
chmod 400 "$folder/munge.key"
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" \
    --seed-file="$folder/munge.seed" 2> /dev/null
slurmctld -c -f "$folder/slurm.conf"
slurmd -N node -d "$folder/root/usr/sbin/slurmstepd-wlm" -f "$folder/slurm.conf" ||
    { cat "$folder/slurmd.log"; exit 1; }

field() { scontrol show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; }
wait_for() { # JOB STATE...: prints the state
    local state
    for _ in $(seq 600); do
        state=$(field "$1" JobState)
        case " ${*:2} " in *" $state "*) echo "$state"; return ;; esac
        sleep 0.05
    done
    echo "still $state"
}
restart() { # STARTTIME: prints the state of the second run
    local job
    job=$(sbatch --parsable --requeue --output=/dev/null --wrap "sleep 600")
    wait_for "$job" RUNNING > /dev/null
    sleep 1
    python3 -c 'import time; time.sleep(1 - time.time() % 1)'
    scontrol requeue "$job"
    wait_for "$job" PENDING > /dev/null
    scontrol update jobid="$job" StartTime="$1"
    echo "$(wait_for "$job" RUNNING FAILED), Restarts=$(field "$job" Restarts)"
    scancel "$job"
}

later=$(restart now+2)
for _ in $(seq 20); do
    now=$(restart now)
    [ "${now%%,*}" = RUNNING ] || break
done
echo "StartTime=now+2: $later"
echo "StartTime=now: $now"
grep -ho "Killing non-startable batch JobId=.*\|Job [0-9]* already killed.*" "$folder"/slurm*.log |
    sed 's/[0-9]\+/N/' | sort -u
[ "$later" = "RUNNING, Restarts=1" ] && [ "${now%%,*}" = FAILED ] && exit 0
echo "changed; expected RUNNING, Restarts=1 and FAILED"
exit 1
