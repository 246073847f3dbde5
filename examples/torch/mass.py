# SPDX-License-Identifier: BSL-1.0
"""Finds a spring from measured places of its mass: the simulation is C++ (mass.cpp), the fit is PyTorch.

    mass.py ./libmass.so
"""
import sys

import torch

import tenure_torch

swing = tenure_torch.load(sys.argv[1]).swing
forces = torch.sin(torch.outer(torch.arange(1.0, 9.0), torch.linspace(0.0, 5.0, 100)))
measured = torch.func.vmap(swing, (None, 0))({"stiffness": torch.tensor(2.0), "damping": torch.tensor(0.3)}, forces)


class Spring(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stiffness = torch.nn.Parameter(torch.tensor(1.0))
        self.damping = torch.nn.Parameter(torch.tensor(0.0))


spring = Spring()
optimizer = torch.optim.Adam(spring.parameters(), lr=0.05)
for _ in range(300):
    optimizer.zero_grad()
    places = torch.stack([swing(spring, force) for force in forces])
    torch.nn.functional.mse_loss(places, measured).backward()
    optimizer.step()
print(swing)
print(f"stiffness {spring.stiffness.item():.2f}, damping {spring.damping.item():.2f}")
