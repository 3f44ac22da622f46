# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of several virtual nodes on this computer: munged, slurmctld and a slurmd for each node, on the loopback
interface, with all their files in one folder."""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

CONFIGURATION = """\
ClusterName=heddle
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={base}/run/munge.sock,cred_expire=10
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool.%n
SlurmctldPidFile={base}/run/slurmctld.pid
SlurmdPidFile={base}/run/slurmd.%n.pid
SlurmctldLogFile={base}/log/slurmctld.log
SlurmdLogFile={base}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,sched_interval=1,batch_sched_delay=0,bf_interval=1,default_queue_depth=10000,bf_max_job_test=5000
PriorityType=priority/basic
ReturnToService=2
SlurmdTimeout=5
InactiveLimit=0
KillWait=5
MinJobAge=300
MaxArraySize={array}
MaxJobCount=20000
MessageTimeout=30
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={base}/log/jobcomp.txt
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN
PartitionName=sim Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def is_installed():
    return all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in ("munged", "slurmctld", "slurmd", "sbatch"))


def free_ports(count):
    """The first of so many ports in a row that nobody listens on."""
    for first in range(21000 + os.getpid() % 5000, 31000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise OSError("no free ports")


def children(pid):
    """Of the process, and theirs."""
    out = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            out += [int(name)] + children(int(name))
    return out


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Cluster:
    def __init__(self, base, nodes, cpus, array=1001):
        self.base, self.nodes = base, nodes
        self.environment = dict(os.environ, SLURM_CONF=f"{base}/slurm.conf",
                                PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        for folder in ("munge", "state", "log", "run", *(f"spool.n{i + 1}" for i in range(nodes))):
            os.makedirs(f"{base}/{folder}")
        os.chmod(base, 0o755)
        os.chmod(f"{base}/munge", 0o700)
        with open(f"{base}/munge/key", "wb") as key:
            key.write(os.urandom(1024))
        os.chmod(f"{base}/munge/key", 0o400)
        port = free_ports(nodes + 1)
        with open(f"{base}/slurm.conf", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(base=base, nodes=nodes, cpus=cpus, array=array, port=port, first=port + 1,
                                            last=port + nodes, user=pwd.getpwuid(os.getuid()).pw_name))

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60)

    def must(self, *words):
        done = self.run(*words)
        if done.returncode:
            raise OSError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        base = self.base
        self.must("munged", "--force", f"--key-file={base}/munge/key", f"--socket={base}/run/munge.sock",
                  f"--pid-file={base}/munge/pid", f"--log-file={base}/log/munge.log", f"--seed-file={base}/munge/seed",
                  "--num-threads=2")
        self.must("slurmctld", "-f", f"{base}/slurm.conf")
        for i in range(self.nodes):
            self.start_node(f"n{i + 1}")
        deadline = time.monotonic() + 60
        while self.idle() < self.nodes:
            if time.monotonic() > deadline:
                raise OSError("the nodes do not come up: " + self.run("sinfo").stdout)
            time.sleep(0.1)

    def start_node(self, node):
        self.must("slurmd", "-f", f"{self.base}/slurm.conf", "-N", node)

    def idle(self):
        return sum(int(line) for line in self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.split())

    def pid(self, name):
        try:
            with open(f"{self.base}/{name}", encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def tasks(self, node=None):
        """Processes that Slurm started for jobs: of one node, or of all."""
        where = ["-w", node] if node else []
        jobs = self.run("squeue", "-h", "-t", "R", *where, "-o", "%A").stdout.split()
        out = []
        for name in os.listdir("/proc"):
            if name.isdigit() and any(f"slurmstepd: [{job}." in command_line(name) for job in jobs):
                out.append(int(name))
        return out

    def kill_node(self, node):
        """As if it lost its power: the daemon, its steps, and all they started, which were at work."""
        daemon, steps = self.pid(f"run/slurmd.{node}.pid"), self.tasks(node)
        kill(daemon) # nothing new begins
        work = [child for step in steps for child in children(step)]
        for pid in [*steps, *work]:
            kill(pid)
        return set(work)

    def restart_controller(self, seconds):
        """It is away for so long."""
        self.end(self.pid("run/slurmctld.pid"))
        time.sleep(seconds)
        self.must("slurmctld", "-f", f"{self.base}/slurm.conf")

    def end(self, pid):
        if not pid:
            return
        try:
            os.kill(pid, signal.SIGTERM)
            for _ in range(100):
                os.kill(pid, 0)
                with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        return
                time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError):
            pass

    def stop(self):
        """Everything that start started, by its number."""
        self.run("scancel", "-u", pwd.getpwuid(os.getuid()).pw_name)
        time.sleep(0.5)
        steps = self.tasks()
        for i in range(self.nodes):
            self.end(self.pid(f"run/slurmd.n{i + 1}.pid"))
        self.end(self.pid("run/slurmctld.pid"))
        for step in steps:
            self.end(step)
        self.end(self.pid("munge/pid"))
