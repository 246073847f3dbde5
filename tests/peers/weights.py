#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Files of the Python package safetensors, read here and the other way round, bit for bit; and random headers, which both take or both refuse.

    weights.py [--seed N] [--headers N] [--compiler C++] [--include DIR]... [--flags=...]

The C++ program copies files: it reads each one, writes it anew, and prints what it refuses. Where the two disagree about a header, the reason must be one that
is listed here. Exits with 77 where Python has neither NumPy nor safetensors.
"""
import argparse, json, os, random, struct, subprocess, sys, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--headers", type=int, default=4000)
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O0")
options = parser.parse_args()

try:
    import numpy as np
    import safetensors
    import safetensors.numpy as peer
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

PROGRAM = r"""
#include <tenure/interop/safetensors_file.hpp>

#include <cstdio>
#include <iostream>

namespace st = tenure::interop;

// Reads the names of files, copies each one to <name>.copy, and prints "ok", or the message of the refusal.
int main() {
  for (std::string path; std::getline(std::cin, path);) {
    try {
      const st::safetensors file = st::read_safetensors(path);
      std::vector<st::array_view> views;
      for (const st::array& a : file.arrays) views.push_back({a.name, a.dtype, a.shape, a.bytes});
      st::write_safetensors(path + ".copy", views, file.metadata);
      std::puts("ok");
    } catch (const tenure::io_error& error) {
      std::puts(error.what());
    }
  }
}
"""

random.seed(options.seed)
rng = np.random.default_rng(options.seed)
here = tempfile.TemporaryDirectory()
at = lambda name: os.path.join(here.name, name)
with open(at("copy.cpp"), "w") as source:
    source.write(PROGRAM)
subprocess.run([options.compiler, *options.flags.split(), *("-I" + folder for folder in options.include), at("copy.cpp"), "-o", at("copy")], check=True)


def copies(names):
    """What the program says of each file."""
    done = subprocess.run([at("copy")], input="\n".join(map(at, names)) + "\n", capture_output=True, text=True, errors="replace", check=True)
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == len(names), (len(lines), done.stderr)
    return lines


# ---- Arrays -----------------------------------------------------------------------------------------------------------
types = [np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8, np.bool_]
if ml_dtypes is not None:
    types.append(ml_dtypes.bfloat16)
arrays = {}
for type in types:
    for shape in [(), (0,), (3, 0, 2), (1,), (7,), (2, 3, 4)]:
        count = int(np.prod(shape, dtype=np.int64))
        bits = rng.integers(0, 2 if type is np.bool_ else 256, count * np.dtype(type).itemsize, dtype=np.uint8)
        arrays[f"{np.dtype(type).name}.{'x'.join(map(str, shape))} \"\\/\u00e9\u20ac\U0001f600\x01\n"] = bits.view(type).reshape(shape)
metadata = {"format": "np", "": "", "\u00e9\"\\\n\x1f": "\U0001f600\x7f"}
names = list(arrays)
random.shuffle(names)
peer.save_file({name: arrays[name] for name in names}, at("theirs.safetensors"), metadata=metadata)
peer.save_file({}, at("none.safetensors"))
for name, said in zip(["theirs.safetensors", "none.safetensors"], copies(["theirs.safetensors", "none.safetensors"])):
    assert said == "ok", said
    with safetensors.safe_open(at(name + ".copy"), "np") as ours, safetensors.safe_open(at(name), "np") as theirs:
        assert (ours.metadata() or {}) == (theirs.metadata() or {}), (ours.metadata(), theirs.metadata())
        assert set(ours.keys()) == set(theirs.keys())

def raw(path):
    """The arrays of a file as (dtype, shape, bytes), by a reader of four lines."""
    content = open(path, "rb").read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    return {name: (a["dtype"], a["shape"], content[8 + length:][slice(*a["data_offsets"])]) for name, a in header.items() if name != "__metadata__"}


ours, theirs = raw(at("theirs.safetensors.copy")), raw(at("theirs.safetensors"))
assert ours == theirs and len(ours) == len(arrays)
for name, array in arrays.items():
    assert ours[name][2] == array.tobytes(), name
loaded = peer.load_file(at("theirs.safetensors.copy"))  # and the package itself reads ours
for name, array in arrays.items():
    assert loaded[name].shape == array.shape and loaded[name].tobytes() == array.tobytes(), name

# ---- Headers ------------------------------------------------------------------------------------------------------------
BITS = {"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I8": 8, "U8": 8, "BOOL": 8, "F8_E4M3": 8, "F4": 4, "F6_E2M3": 6, "C64": 64}


def random_header():
    """The text of a header, mostly right, and a number of data bytes, mostly the one that it needs."""
    parts, reached = [], 0
    for i in range(random.randrange(4)):
        dtype = random.choice(list(BITS))
        shape = [random.choice([0, 1, 2, 4, 8]) for _ in range(random.randrange(3))]
        size = int(np.prod(shape, dtype=np.int64)) * BITS[dtype] // 8
        begin = reached
        if random.random() < 0.04:
            begin += random.choice([-4, -1, 1, 8])
        reached = begin + size + (random.choice([-1, 1, 8]) if random.random() < 0.04 else 0)
        name = random.choice(["w", "b", "\\u0077", "a\\n", "layers.0.w"]) if random.random() < 0.1 else f"n{i}"
        members = [f'"dtype":"{dtype}"', f'"shape":{shape}', f'"data_offsets":[{begin},{reached}]']
        random.shuffle(members)
        parts.append(f'"{name}":{{{",".join(members)}}}')
    if random.random() < 0.3:
        parts.append('"__metadata__":{"format":"pt"}')
    random.shuffle(parts)
    text = "{" + ",".join(parts) + "}" + " " * random.randrange(3)
    for _ in range(random.choice([0, 0, 0, 1, 1, 2])):  # one character less, more, or another one
        where = random.randrange(len(text))
        text = text[:where] + random.choice(["", '"', "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", " ", "\\", "\n", "\x01", "F", "\u00e9"]) + text[where + random.randrange(2):]
    return text.encode(), max(0, reached + (random.choice([-1, 1]) if random.random() < 0.04 else 0))


files, contents = [], []
for i in range(options.headers):
    header, data = random_header()
    content = struct.pack("<Q", len(header)) + header + bytes(data)
    files.append(f"{i}.safetensors")
    contents.append(content)
    with open(at(files[-1]), "wb") as out:
        out.write(content)
both, neither, stricter = 0, 0, {}
# What this library refuses and the package takes: equal names, of which it keeps the last; keys that the format does not have, which it skips; space before the
# '{', with which the format says that a header begins.
reasons = ["twice", "unknown key", "does not begin with '{'"]
for content, said in zip(contents, copies(files)):
    try:
        safetensors.deserialize(content)
        taken = True
    except Exception:
        taken = False
    if taken == (said == "ok"):
        both, neither = both + taken, neither + (not taken)
    else:
        known = [reason for reason in reasons if taken and reason in said]
        assert known, f"the package {'takes' if taken else 'refuses'} what is {said!r} here: {content!r}"
        stricter[known[0]] = stricter.get(known[0], 0) + 1
assert both > options.headers / 10 and neither > options.headers / 10
print(f"safetensors {safetensors.__version__}: {len(arrays)} arrays both ways; {both} headers read, {neither} refused, by both; refused here only: {stricter}")
