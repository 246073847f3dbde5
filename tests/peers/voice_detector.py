#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A pretrained model: examples/voice_detector.cpp, with the weights of the Python package silero-vad, against onnxruntime on the network that they are from.

    voice_detector.py [--seconds N] [--compiler C++] [--include DIR]... [--flags=...]

The audio is made here: noise, and vowels of a larynx with three formants, which the network takes for a voice. Probabilities agree to 1e-5. Exits with 77 where
Python lacks NumPy, onnx, onnxruntime, safetensors or silero-vad.
"""
import argparse, importlib.util, os, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O1 -march=native")
options = parser.parse_args()

try:
    import numpy as np
    import onnx
    import onnxruntime
    import safetensors.numpy
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
package = importlib.util.find_spec("silero_vad")  # not imported: that takes PyTorch
network = package and os.path.join(os.path.dirname(package.origin), "data", "silero_vad_16k_op15.onnx")
if not network or not os.path.exists(network):
    print("skipped: no package silero-vad")
    sys.exit(77)

rate, chunk, context = 16000, 512, 64
rng = np.random.default_rng(1)
count = int(options.seconds * rate) // chunk * chunk
t = np.arange(count) / rate
pitch = 120 + 20 * np.sin(2 * np.pi * 0.7 * t)
pulses = np.diff(np.floor(np.cumsum(pitch / rate)), prepend=0.0)
voice = np.zeros(count)
for k, formants in enumerate([(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240)]):  # a, i, u, in turns
    sound = pulses * (np.floor(3 * t) % 3 == k)
    for frequency in formants:
        r = np.exp(-np.pi * 80 / rate)
        b, c = 2 * r * np.cos(2 * np.pi * frequency / rate), -r * r
        out = np.zeros(count + 2)
        for n in range(count):
            out[n] = sound[n] + b * out[n - 1] + c * out[n - 2]
        sound = out[:count] * (1 - r)
    voice += sound
voice *= (np.floor(t / 2) % 2 == 1) / max(abs(voice))  # two seconds of silence, two of voice, ...
audio = (0.5 * voice + 0.003 * rng.standard_normal(count)).astype(np.float32)

session_options = onnxruntime.SessionOptions()
session_options.inter_op_num_threads = session_options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(network, session_options, providers=["CPUExecutionProvider"])
state, before, wanted = np.zeros((2, 1, 128), np.float32), np.zeros((1, context), np.float32), []
begin = time.perf_counter()
for first in range(0, count, chunk):
    samples = np.concatenate([before, audio[None, first:first + chunk]], 1)
    probability, state = session.run(None, {"input": samples, "state": state, "sr": np.array(rate, np.int64)})
    before = samples[:, -context:]
    wanted.append(probability.item())
theirs = (time.perf_counter() - begin) / len(wanted)

with tempfile.TemporaryDirectory() as here:
    program, sound = os.path.join(here, "voice_detector"), os.path.join(here, "audio.f32")
    audio.tofile(sound)
    # The parameters of the network under the names of its authors. Numbers without a name are constants of the graph.
    weights = os.path.join(here, "silero_vad.safetensors")
    tensors = [*onnx.load(network).graph.initializer]
    named = {t.name: onnx.numpy_helper.to_array(t) for t in tensors if t.name.startswith("model.")}
    safetensors.numpy.save_file(named, weights)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "voice_detector.cpp")
    subprocess.run([options.compiler, *options.flags.split(), *("-I" + folder for folder in options.include), source, "-o", program], check=True)
    begin = time.perf_counter()
    found = list(map(float, subprocess.run([program, weights, sound], check=True, capture_output=True, text=True).stdout.split()))
    ours = (time.perf_counter() - begin) / len(wanted)
    refused = subprocess.run([program, network, sound], capture_output=True, text=True)
    assert refused.returncode == 1 and "tenure: map_model: " in refused.stderr, refused.stderr
assert len(found) == len(wanted)
difference = max(abs(a - b) for a, b in zip(found, wanted))
heard = sum(p > 0.5 for p in wanted)
print(f"{len(wanted)} chunks, {heard} with a voice: probabilities differ by at most {difference:.1e}; {1e6 * ours:.0f} us a chunk, with the start of the program; onnxruntime {1e6 * theirs:.0f} us from Python")
assert 0.1 * len(wanted) < heard < 0.9 * len(wanted), "the audio should have voice and silence"
assert difference < 1e-5
