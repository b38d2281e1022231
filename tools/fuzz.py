"""Gives mutated files and messages to everything that reads some, in child processes: none may end or hang one.

    python tools/fuzz.py [--seconds 60 | --count N] [--seed 0] [--target NAME ...] [--processes 2]
    python tools/fuzz.py --target NAME --number N [--seed 0]      one input again, in this process

Input number n of a target is the same for the same seed. An input is good if it is read or refused by an error of the
kinds that a caller would expect; what kills a process, takes longer than 20 seconds or raises anything else is
listed, with the command that does it again, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import ctypes
import mmap
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path

import fuzz_targets

SECONDS_PER_INPUT = 20
_MOST_MEMORY = 12 << 30
_INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
_NOTE = struct.Struct("<qqd")  # the target, the number of the input, when it was begun; number -1: at rest


# ---- Inputs -------------------------------------------------------------------------------------------------------


def make_input(seeds, seed, target, number):
    """The mutated bytes: a sample, changed in one to six places."""
    chance = random.Random(f"{seed}/{target}/{number}")  # noqa: S311
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        chance.choice(_MUTATIONS)(data, chance, seeds)
    return bytes(data)


def _flip(data, chance, _):
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _overwrite(data, chance, _):
    if data:
        at = chance.randrange(len(data))
        count = chance.choice((1, 2, 4, 8))
        data[at : at + count] = bytes(chance.choice(_INTERESTING) for _ in data[at : at + count])


def _number(data, chance, _):
    """A number in place of another, of 4 or 8 bytes or as a varint."""
    value = chance.choice((0, 1, -1, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), chance.getrandbits(40)))
    at = chance.randrange(len(data) + 1)
    kind = chance.randrange(3)
    if kind == 2:
        value &= 2**64 - 1
        varint = bytearray()
        while value >= 0x80:
            varint.append(value & 0x7F | 0x80)
            value >>= 7
        data[at : at + 1] = varint + bytes((value,))
    else:
        size = (4, 8)[kind]
        data[at : at + size] = (value & (2 ** (8 * size) - 1)).to_bytes(size, "little")


def _insert(data, chance, _):
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.randbytes(chance.choice((1, 2, 5, 20)))


def _remove(data, chance, _):
    if data:
        at = chance.randrange(len(data))
        del data[at : at + chance.choice((1, 2, 8, 64))]


def _repeat(data, chance, _):
    if data:
        at = chance.randrange(len(data))
        piece = data[at : at + chance.choice((1, 4, 32))]
        data[at:at] = piece * chance.choice((1, 2, 30))


def _cut(data, chance, _):
    del data[chance.randrange(len(data) + 1) :]


def _splice(data, chance, seeds):
    other = chance.choice(seeds)
    data[chance.randrange(len(data) + 1) :] = other[chance.randrange(len(other) + 1) :]


_MUTATIONS = (_flip, _flip, _overwrite, _overwrite, _number, _number, _insert, _remove, _repeat, _cut, _splice)


# ---- Children -----------------------------------------------------------------------------------------------------


class _Child:
    """A process that works through inputs of a target from a number on, and notes in shared memory what it is at."""

    def __init__(self, target, index, first, step, seed, found):
        self.target, self.step, self.found = target, step, found
        self.note = mmap.mmap(-1, _NOTE.size)
        self.begin(index, first, seed)

    def begin(self, index, first, seed):
        self.index, self.seed = index, seed
        self.note[:] = _NOTE.pack(index, -1, time.time())
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._work(first)
            except BaseException:
                traceback.print_exc()
                os._exit(3)
            os._exit(0)

    def _work(self, first):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # no child outlives the tool
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        folder = tempfile.mkdtemp(prefix="fuzz")
        os.chdir(folder)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        if not os.environ.get("FUZZ_STDERR"):
            os.dup2(silent, 2)
        try:
            seeds, consume = self.target.prepare()
            told: set = set()
            for number in range(first, self.found.last, self.step):
                data = make_input(seeds, self.seed, self.target.name, number)
                self.note[:] = _NOTE.pack(self.index, number, time.time())
                what = fuzz_targets.verdict(consume, data)
                place = what.rpartition("(")[2]
                if what and place not in told:
                    told.add(place)
                    os.write(self.found.errors, f"{number} raises {what}\n".encode())
            self.note[:] = _NOTE.pack(self.index, -2, time.time())
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def at(self):
        return _NOTE.unpack_from(self.note)[1:]


class _Found:
    """What has been found, and up to which number the inputs go."""

    def __init__(self, last):
        self.last = last
        self.lines: list[str] = []
        self.errors = os.memfd_create("errors")  # a line for each place where children raised what is not expected

    def add_errors(self, target, seed):
        """Adds what children wrote of a target, once for each place."""
        places = set()
        for line in os.pread(self.errors, 1 << 24, 0).decode("utf-8", "replace").splitlines():
            number, _, what = line.partition(" ")
            if what.rpartition("(")[2] not in places:
                places.add(what.rpartition("(")[2])
                self.add(target, number, seed, what)
        os.ftruncate(self.errors, 0)
        os.lseek(self.errors, 0, os.SEEK_SET)

    def add(self, target, number, seed, what):
        line = f"{target.name} {number}: {what}; again: python tools/fuzz.py --target {target.name} --number {number}"
        self.lines.append(f"{line} --seed {seed}")
        print(self.lines[-1], flush=True)


def _run_target(target, seconds, count, seed, processes, found):
    """Runs a target for so long, or so many inputs; returns how many there were."""
    end = time.time() + seconds
    found.last = count if count else 2**60
    children = [_Child(target, i, i, processes, seed, found) for i in range(processes)]
    highest = list(range(processes))
    while children:
        time.sleep(0.05)
        for child in list(children):
            number, begun = child.at()
            highest[child.index] = max(highest[child.index], number)
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            is_late = number >= 0 and time.time() - begun > SECONDS_PER_INPUT
            if pid == 0 and not is_late and time.time() < end:
                continue
            if pid == 0:
                os.kill(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)
            what = _what_happened(pid, status, number, is_late)
            if what:
                found.add(target, number, seed, what)
            if what and time.time() < end and number >= 0:
                child.begin(child.index, number + processes, seed)
            else:
                children.remove(child)
    found.add_errors(target, seed)
    return sum((each - i) // processes + 1 for i, each in enumerate(highest) if each >= 0)


def _what_happened(pid, status, number, is_late):
    if pid == 0:
        return f"takes longer than {SECONDS_PER_INPUT} seconds" if is_late else None
    if os.WIFSIGNALED(status):
        return f"ends the process by {signal.Signals(os.WTERMSIG(status)).name}"
    code = os.WEXITSTATUS(status)
    return f"ends the process with code {code} " if code else None


def _again(target, number, seed):
    """One input in this process."""
    seeds, consume = target.prepare()
    data = make_input(seeds, seed, target.name, number)
    Path(f"fuzz-{target.name}-{number}").write_bytes(data)
    print(f"{len(data)} bytes, written to fuzz-{target.name}-{number}")
    try:
        print(consume(data))
    except fuzz_targets.EXPECTED as error:
        print(f"refused: {type(error).__name__}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=0, help="inputs of each target; 0: as many as there is time for")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=sorted(fuzz_targets.TARGETS), help="by default all")
    parser.add_argument("--number", type=int)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    targets = [fuzz_targets.TARGETS[name] for name in options.target or sorted(fuzz_targets.TARGETS)]
    if options.number is not None:
        return _again(targets[0], options.number, options.seed)
    found = _Found(0)
    total = 0
    seconds = 1e9 if options.count else options.seconds / len(targets)
    for target in targets:
        begun = time.time()
        done = _run_target(target, seconds, options.count, options.seed, options.processes, found)
        total += done
        print(f"{target.name}: {done} inputs in {time.time() - begun:.1f} s", flush=True)
    print(f"{total} inputs, {len(found.lines)} of them bad")
    return 1 if found.lines else 0


if __name__ == "__main__":
    sys.exit(main())
