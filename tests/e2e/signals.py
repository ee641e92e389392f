"""Signals and `gpkg run`: signals.py GPKG ENVIRONMENT.

What a terminal does with Ctrl-C and Ctrl-Z, without one: signals to the group, and to gpkg alone.
"""

import os
import signal
import subprocess
import sys
import time

program, environment = sys.argv[1:]
LOOP = 'trap "echo INT; exit 9" INT; trap "echo CONT" CONT; echo ready; while :; do sleep 0.05; done'


def start(command):
    process = subprocess.Popen(
        [program, "run", "-n", environment, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=os.setpgrp,
    )
    assert process.stdout.readline() == "ready\n"
    return process


# Ctrl-C: the whole group has it, the command decides.
process = start(["sh", "-c", LOOP])
os.killpg(process.pid, signal.SIGINT)
assert process.stdout.read() == "INT\n"
assert process.wait(20) == 9

# One that does not care dies of it, and the caller sees that.
process = start(["python3", "-c", "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint('ready', flush=True)\ntime.sleep(60)"])
os.killpg(process.pid, signal.SIGINT)
assert process.wait(20) == -signal.SIGINT

# Ctrl-Z and fg, sent to gpkg alone.
process = start(["sh", "-c", LOOP])
os.kill(process.pid, signal.SIGTSTP)
_, status = os.waitpid(process.pid, os.WUNTRACED)
assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP
os.kill(process.pid, signal.SIGCONT)
assert process.stdout.readline() == "CONT\n"
os.kill(process.pid, signal.SIGINT)
assert process.stdout.read() == "INT\n"
assert process.wait(20) == 9

# A second one ends gpkg at once, whatever it waits for: here, to be read.
reader, writer = os.pipe()
os.set_blocking(writer, False)
try:
    while True:
        os.write(writer, b"full" * 1024)
except BlockingIOError:
    os.set_blocking(writer, True)
process = subprocess.Popen([program, "config", "list"], stdout=writer, stderr=subprocess.PIPE, text=True)


def interrupt(mask, is_set):
    """Once the process's mask of signals has SIGINT, or has it no more."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with open(f"/proc/{process.pid}/status") as file:
            words = dict(line.split(":", 1) for line in file)
        if bool(int(words[mask], 16) >> (signal.SIGINT - 1) & 1) == is_set:
            return process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    sys.exit(f"gpkg's {mask} is {words[mask]}")


interrupt("SigBlk", True)
interrupt("ShdPnd", False)  # as timeout(1) sends it twice at once
time.sleep(0.6)
interrupt("ShdPnd", False)
assert process.wait(20) == 128 + signal.SIGINT
assert "gpkg: killed" in process.stderr.read()
