#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The conventions of docs/14-weights.md, judged by PyTorch: examples/17_weights.cpp computes a network from the parameters that PyTorch made and saved.

    pytorch_weights.py [--networks N] [--compiler C++] [--include DIR]... [--flags=...]

The network has an LSTM, a GRU, a BatchNorm1d after training, and two blocks with RMSNorm, rotary embedding and attention of four heads over two of keys. All results
agree to 2e-6 of the largest. PyTorch also computes with each convention changed, such as the order of gates, and the results must differ by more: so the
agreement says that the convention is right. Exits with 77 where Python lacks PyTorch or safetensors.
"""
import argparse, os, subprocess, sys, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--networks", type=int, default=5)
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O0")
options = parser.parse_args()
try:
    import torch
    from safetensors.torch import save_file
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
F, nn = torch.nn.functional, torch.nn
steps, width, heads, kv_heads, head = 6, 8, 4, 2, 4


def turned(x, angles, neighbours=False):
    if neighbours:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1).flatten(-2)
    cos, sin = (torch.cat([f(angles), f(angles)], -1) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, n * head, bias=False) for n in (heads, kv_heads, kv_heads))
        self.o_proj = nn.Linear(heads * head, width, bias=False)

    def forward(self, x, angles, changed):
        q, k, v = (f(x).view(steps, -1, head).transpose(0, 1) for f in (self.q_proj, self.k_proj, self.v_proj))
        q, k = (turned(y, angles, changed == "neighbours") for y in (q, k))
        if changed == "groups":  # head i of q with head i % kv_heads
            k, v = (y.repeat(heads // kv_heads, 1, 1) for y in (k, v))
        y = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=changed != "groups")[0]
        return self.o_proj(y.transpose(0, 1).reshape(steps, -1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.self_attn = Attention()

    def forward(self, x, angles, changed):
        y = F.rms_norm(x, (width,), self.norm.weight, 1e-6 if changed == "epsilon of rms_norm" else 1e-5)
        return x + self.self_attn(y, angles, changed)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder, self.bn = nn.LSTM(width, width), nn.GRU(width, width), nn.BatchNorm1d(width)
        self.model = nn.Module()
        self.model.layers = nn.ModuleList([Block(), Block()])

    def forward(self, x, changed=None):
        angles = torch.outer(torch.arange(steps, dtype=torch.float32), 10000.0 ** (-2 * torch.arange(head // 2) / head))
        y, _ = self.encoder(x)
        if changed == "gates of the LSTM":  # input, forget, output, cell, as in ONNX but for the places
            other = nn.LSTM(width, width)
            other.load_state_dict({name: torch.cat([p.chunk(4)[i] for i in (0, 1, 3, 2)]) for name, p in self.encoder.state_dict().items()})
            y, _ = other(x)
        if changed == "gates of the GRU":  # update, reset, new
            self.decoder.load_state_dict({name: torch.cat([p.chunk(3)[i] for i in (1, 0, 2)]) for name, p in self.decoder.state_dict().items()})
        y, _ = self.decoder(y)
        if changed == "gates of the GRU":
            self.decoder.load_state_dict({name: torch.cat([p.chunk(3)[i] for i in (1, 0, 2)]) for name, p in self.decoder.state_dict().items()})
        if changed == "reset before the product":
            p, h, rows = self.decoder, torch.zeros(width), []
            for row in self.encoder(x)[0]:
                r, z, n = (p.weight_ih_l0 @ row + p.bias_ih_l0).chunk(3)
                hr, hz, _ = (p.weight_hh_l0 @ h + p.bias_hh_l0).chunk(3)
                r, z = torch.sigmoid(r + hr), torch.sigmoid(z + hz)
                h = (1 - z) * torch.tanh(n + p.weight_hh_l0.chunk(3)[2] @ (r * h) + p.bias_hh_l0.chunk(3)[2]) + z * h
                rows.append(h)
            y = torch.stack(rows)
        y = F.batch_norm(y, self.bn.running_mean, self.bn.running_var, self.bn.weight, self.bn.bias, eps=1e-3 if changed == "epsilon of batch_norm" else 1e-5)
        for layer in self.model.layers:
            y = layer(y, angles, changed)
        return y


with tempfile.TemporaryDirectory() as here:
    program = os.path.join(here, "weights")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "17_weights.cpp")
    subprocess.run([options.compiler, *options.flags.split(), *("-I" + folder for folder in options.include), source, "-o", program], check=True)
    worst, least = 0.0, {}
    for seed in range(options.networks):
        torch.manual_seed(seed)
        net = Net()
        for p in net.parameters():
            p.data.uniform_(-0.7, 0.7)
        net.bn.train()
        for _ in range(3):
            net.bn(torch.randn(50, width) * 0.3 + 0.2)  # the running statistics of a training
        net.eval()
        x = torch.randn(steps, width)
        for layer in net.model.layers:
            layer.norm.weight.data *= 3
        path = os.path.join(here, f"{seed}.safetensors")
        state = {**net.state_dict(), "input": x}
        assert "bn.num_batches_tracked" in state
        save_file(state, path)
        with torch.no_grad():
            wanted = net(x)
            found = torch.tensor(list(map(float, subprocess.run([program, path], check=True, capture_output=True, text=True).stdout.split()))).view(steps, width)
            size = wanted.abs().max()
            worst = max(worst, ((found - wanted).abs().max() / size).item())
            for changed in ["gates of the LSTM", "gates of the GRU", "reset before the product", "epsilon of batch_norm", "epsilon of rms_norm", "neighbours", "groups"]:
                difference = ((net(x, changed) - wanted).abs().max() / size).item()
                least[changed] = min(least.get(changed, 1e9), difference)
print(f"{options.networks} networks: results differ by at most {worst:.1e} of the largest; with another convention by at least " + ", ".join(f"{v:.1e} ({k})" for k, v in least.items()))
assert worst < 2e-6 and min(least.values()) > 3 * worst
