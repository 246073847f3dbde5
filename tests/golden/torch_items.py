#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes data_parts.hpp, data_reduced_loss.hpp, data_order.hpp, data_images.hpp, data_channels.hpp, data_attention_rows.hpp and data_windows.hpp, items that are not in the golden file, with the numbers of PyTorch: python3 torch_items.py.

An item is an id, the expression in PyTorch, the shapes of its arguments x, y, ..., and constants. Values, gradients and Hessian-vector
products are computed in float64, all from one seed.
"""
import torch
import torch.nn.functional as F

from generate import HERE, header

torch.manual_seed(20240611)
L = torch.tensor([2, 0, 4, 1, 2, 3])  # labels, of which 2 is to be ignored
M = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64)  # mean and variance of channels
V = torch.tensor([1.5, 0.5, 2.0], dtype=torch.float64)
W = torch.tensor([0.5, 1.0, 2.0, 0.25, 1.5], dtype=torch.float64)

PARTS = [
    ("t_unbind", "(lambda a, b, c: a * b * torch.sin(c) + a)(*x.unbind(1))", [(4, 3)]),
    ("t_split", "(lambda a, b, c: torch.exp(a) * b * c.sum(1, keepdim=True))(*x.split(2, 1))", [(3, 5)]),
    ("t_split_sizes", "(lambda a, b: a.sum(0) * torch.exp(b).sum(0))(*x.split([1, 3], 0))", [(4, 2)]),
    ("t_chunk", "(lambda a, b, c: a * b + c.sum())(*x.chunk(3))", [(5, 2)]),
    ("t_max_keepdim", "torch.exp(x - x.max(1, keepdim=True)[0])", [(3, 4)]),
    ("t_max_axes", "torch.sin(x.amax((0, 2)) * x.amin((0, 2)))", [(2, 3, 4)]),
    ("t_max_all", "x.max() * x.min() * x", [(2, 3)]),
    ("t_prod_all", "x.prod()", [(2, 3)]),
    ("t_prod_axes", "torch.exp(x.prod(2, keepdim=True).prod(0, keepdim=True))", [(2, 3, 2)]),
    ("t_flip_axes", "x.flip((0, 2)) * x", [(2, 3, 4)]),
    ("t_roll_axes", "x.roll((1, -2), (0, 1)) * x", [(3, 4)]),
    ("t_pad_value", "F.pad(x, (1, 2), value=3.0) ** 2", [(2, 3)]),
    ("t_diagonal_above", "x.diagonal(1) * torch.sin(x.diagonal(-1)[0])", [(3, 4)]),
    ("t_diag_below", "torch.diag(x, -1) @ y", [(2,), (3, 2)]),
    ("t_softplus", "F.softplus(x, 2.0, 1.0)", [(7,)]),
    ("t_layer_norm", "F.layer_norm(x, (3, 4))", [(2, 3, 4)]),
    ("t_layer_norm_gain", "F.layer_norm(x, (4,), weight=y)", [(3, 4), (4,)]),
]
LOSSES = [
    ("t_mse_sum", "F.mse_loss(x, y, reduction='sum')", [(2, 3), (2, 3)]),
    ("t_huber_none", "F.huber_loss(x, y, reduction='none', delta=0.5)", [(2, 3), (2, 3)]),
    ("t_bce_none", "F.binary_cross_entropy_with_logits(x, y, reduction='none')", [(2, 3), (2, 3)]),
    ("t_nll_weighted", "F.nll_loss(x, L, weight=W, ignore_index=2)", [(6, 5)], {"L": L, "W": W}),
    ("t_ce_sum", "F.cross_entropy(x, L, reduction='sum', label_smoothing=0.1)", [(6, 5)], {"L": L}),
    ("t_ce_none", "F.cross_entropy(x, L, weight=W, ignore_index=2, reduction='none', label_smoothing=0.1)", [(6, 5)], {"L": L, "W": W}),
    ("t_ce_ignored", "F.cross_entropy(x, L, ignore_index=2, label_smoothing=0.2)", [(6, 5)], {"L": L}),
    ("t_ce_weights", "F.cross_entropy(x, L, weight=W, ignore_index=2, label_smoothing=0.2)", [(6, 5)], {"L": L, "W": W}),
]
ORDER = [
    ("t_sort", "x.sort(1)[0] * x", [(3, 5)]),
    ("t_sort_descending", "torch.exp(x.sort(0, descending=True)[0])", [(4, 2)]),
    ("t_topk", "x.topk(2, 1)[0] ** 2", [(3, 9)]),
    ("t_median", "torch.exp(x.median(1)[0])", [(3, 4)]),
]

IMAGES = [
    ("t_conv2d_options", "F.conv2d(x, y, z, stride=(2, 1), padding=(1, 2), dilation=(1, 2))", [(2, 3, 7, 6), (4, 3, 3, 2), (4,)]),
    ("t_conv2d_groups", "F.conv2d(x, y, z, padding=1, groups=2)", [(2, 4, 4, 5), (6, 2, 3, 3), (6,)]),
    ("t_conv2d_depthwise", "F.conv2d(x, y, stride=2, padding=1, groups=3)", [(2, 3, 6, 5), (6, 1, 3, 3)]),
    ("t_conv2d_same", "torch.sin(F.conv2d(x, y, padding='same'))", [(1, 2, 4, 5), (3, 2, 2, 3)]),
    ("t_conv2d_one", "F.conv2d(x, y, z)", [(2, 4, 5), (3, 2, 2, 2), (3,)]),
    ("t_conv1d_dilated", "torch.sin(F.conv1d(F.pad(x, (4, 0)), y, z, dilation=2))", [(2, 3, 8), (4, 3, 3), (4,)]),
    ("t_transpose2d", "torch.sin(F.conv_transpose2d(x, y, z, stride=(2, 3), padding=1, output_padding=(1, 0)))", [(2, 3, 3, 4), (3, 2, 3, 4), (2,)]),
    ("t_transpose2d_groups", "F.conv_transpose2d(x, y, stride=2, groups=2, dilation=2)", [(1, 4, 3, 3), (4, 3, 2, 2)]),
    ("t_transpose1d", "F.conv_transpose1d(x, y, z, stride=2, padding=1)", [(2, 3, 5), (3, 2, 4), (2,)]),
    ("t_max_pool2d", "torch.sin(F.max_pool2d(x, 3, 2, 1))", [(2, 2, 7, 6)]),
    ("t_max_pool2d_ties", "F.max_pool2d(x - x.detach(), 2)", [(1, 2, 4, 6)]),
    ("t_max_pool2d_sizes", "F.max_pool2d(x, (3, 2), (1, 2))", [(1, 2, 5, 6)]),
    ("t_avg_pool2d", "torch.sin(F.avg_pool2d(x, 3, 2, 1))", [(2, 2, 7, 6)]),
    ("t_max_pool1d", "F.max_pool1d(x, 3, 2)", [(2, 3, 9)]),
    ("t_avg_pool1d", "F.avg_pool1d(x, 4, 2, 1)", [(3, 9)]),
    ("t_adaptive_avg", "torch.sin(F.adaptive_avg_pool2d(x, (3, 2)))", [(2, 2, 7, 6)]),
    ("t_adaptive_avg_one", "torch.sin(F.adaptive_avg_pool2d(x, 1))", [(2, 2, 3, 4)]),
    ("t_adaptive_avg_more", "torch.sin(F.adaptive_avg_pool2d(x, (5, 3)))", [(2, 3, 7)]),
    ("t_adaptive_max", "torch.sin(F.adaptive_max_pool2d(x, (3, 2)))", [(2, 2, 7, 6)]),
    ("t_adaptive_max_ties", "F.adaptive_max_pool2d(x - x.detach(), (2, 3))", [(1, 2, 4, 5)]),
    ("t_adaptive_max_all_ties", "F.adaptive_max_pool2d(x - x.detach(), 1)", [(1, 2, 4, 5)]),
    ("t_adaptive_avg1d", "torch.sin(F.adaptive_avg_pool1d(x, 4))", [(2, 3, 9)]),
    ("t_adaptive_max1d", "F.adaptive_max_pool1d(x, 3)", [(3, 9)]),
    ("t_interpolate_factor", "torch.sin(F.interpolate(x, scale_factor=(2, 3)))", [(2, 2, 3, 2)]),
    ("t_interpolate_nearest", "torch.sin(F.interpolate(x, size=(5, 3)))", [(1, 2, 3, 7)]),
    ("t_interpolate_bilinear", "torch.sin(F.interpolate(x, scale_factor=2, mode='bilinear'))", [(2, 2, 3, 4)]),
    ("t_interpolate_smaller", "torch.sin(F.interpolate(x, size=(4, 3), mode='bilinear'))", [(1, 2, 7, 8)]),
    ("t_interpolate_corners", "torch.sin(F.interpolate(x, size=(7, 1), mode='bilinear', align_corners=True))", [(1, 2, 3, 4)]),
]

CHANNELS = [
    ("t_batch_norm", "torch.sin(F.batch_norm(x, None, None, y, z, True))", [(3, 2, 4, 3), (2,), (2,)]),
    ("t_batch_norm_rows", "torch.sin(F.batch_norm(x, None, None, y, z, True, eps=0.1))", [(5, 3), (3,), (3,)]),
    ("t_batch_norm_given", "torch.sin(F.batch_norm(x, M, V, y, z))", [(2, 3, 2, 4), (3,), (3,)], {"M": M, "V": V}),
    ("t_group_norm", "torch.sin(F.group_norm(x, 2, y, z))", [(2, 4, 3, 2), (4,), (4,)]),
    ("t_group_norm_rows", "torch.sin(F.group_norm(x, 3, y, z))", [(2, 6), (6,), (6,)]),
    ("t_instance_norm", "torch.sin(F.instance_norm(x, weight=y, bias=z))", [(2, 3, 2, 3), (3,), (3,)]),
    ("t_instance_norm1d", "torch.sin(F.instance_norm(x, weight=y, bias=z, eps=0.1))", [(2, 2, 5), (2,), (2,)]),
    ("t_conv3d", "torch.sin(F.conv3d(x, y, z, stride=(2, 1, 2), padding=(1, 0, 2), dilation=(1, 2, 1)))", [(2, 2, 4, 5, 3), (3, 2, 3, 2, 2), (3,)]),
    ("t_conv3d_groups", "F.conv3d(x, y, padding=1, groups=2)", [(1, 4, 2, 3, 3), (4, 2, 2, 3, 2)]),
]

MASK = torch.tensor([[1, 0, 1, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 0, 1]])  # the second row sees nothing
ATTENDED = "F.scaled_dot_product_attention(x, y, z, attn_mask=torch.ones(3, 7, dtype=torch.bool)"
ATTENTION_ROWS = [
    ("t_attention_first", "F.scaled_dot_product_attention(x, y[:, :4], z[:, :4])", [(2, 3, 4), (2, 7, 4), (2, 7, 5)]),
    ("t_attention_from", ATTENDED + ".tril(2))", [(2, 3, 4), (2, 7, 4), (2, 7, 5)]),
    ("t_attention_window", ATTENDED + ".tril(3).triu(2))", [(2, 3, 4), (2, 7, 4), (2, 7, 5)]),
    ("t_attention_mask", "F.scaled_dot_product_attention(x, y, z, attn_mask=MASK.bool())", [(2, 3, 4), (2, 7, 4), (2, 7, 5)], {"MASK": MASK}),
    ("t_attention_bias", "F.scaled_dot_product_attention(x, y, z, attn_mask=w)", [(2, 3, 4), (2, 7, 4), (2, 7, 5), (3, 7)]),
]

WINDOWS = [
    ("t_unfold_overlap", "torch.sin(x.unfold(1, 4, 2)) * y", [(2, 9, 3), (2, 3, 3, 4)]),
    ("t_unfold_parts", "torch.sin(x.unfold(0, 5, 2)) * torch.exp(x.unfold(0, 5, 2))", [(12,)]),
    ("t_unfold_gaps", "torch.exp(x.unfold(0, 2, 3))", [(9, 2)]),
    ("t_unfold_many", "torch.sin(torch.sin(x).unfold(0, 10, 1) @ y)", [(24,), (10, 2)]),
    ("t_unfold_few", "torch.sin(x.unfold(0, 19, 2)) * y", [(22,), (2, 19)]),
    ("t_unfold_images", "torch.sin(x.unfold(2, 3, 2).unfold(3, 2, 1))", [(1, 2, 7, 5)]),
]


def data(x):
    return {"shape": list(x.shape), "data": x.detach().flatten().tolist(), **({"dtype": "int64"} if x.dtype == torch.int64 else {})}


def item(name, py, shapes, constants={}):
    xs = [torch.randn(s, dtype=torch.float64).requires_grad_() for s in shapes]
    names = ["x", "y", "z", "w"][: len(xs)]
    y = eval(py, {"torch": torch, "F": F, **constants, **dict(zip(names, xs))})
    cotangent, v = torch.randn_like(y), [torch.randn_like(x) for x in xs]
    gradients = torch.autograd.grad(y, xs, cotangent, create_graph=True)
    slope = sum((g * d).sum() for g, d in zip(gradients, v))
    products = torch.autograd.grad(slope, xs, allow_unused=True) if slope.requires_grad else [None] * len(xs)
    products = [torch.zeros_like(x) if p is None else p for p, x in zip(products, xs)]
    by_name = lambda values: {n: data(t) for n, t in zip(names, values)}
    return {"id": name, "py": py, "inputs": by_name(xs), "consts": {n: data(c) for n, c in constants.items()}, "output": data(y),
            "cotangent": data(cotangent), "grads": by_name(gradients), "hvp": {"v": by_name(v), "hv": by_name(products)}}


for group, items in {"parts": PARTS, "reduced_loss": LOSSES, "order": ORDER, "images": IMAGES, "channels": CHANNELS, "attention_rows": ATTENTION_ROWS, "windows": WINDOWS}.items():
    text = header(group, [item(*i) for i in items])
    (HERE / f"data_{group}.hpp").write_text(text.replace("generate.py: golden values of PyTorch", f"torch_items.py: values of PyTorch {torch.__version__.split('+')[0]}"))
