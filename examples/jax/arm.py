# SPDX-License-Identifier: BSL-1.0
"""Angles with which an arm reaches 1,000 places: the arm is C++ (arm.cpp), the search is JAX.

    arm.py ./libarm.so
"""
import sys

import jax
import jax.numpy as jnp

import tenure_xla

hand = tenure_xla.load(sys.argv[1]).hand
lengths = jnp.array([1.0, 0.8, 0.5])


def step(angles, goal):
    jacobian = jax.jacfwd(hand)(angles, lengths)
    return angles + jacobian.T @ jnp.linalg.solve(jacobian @ jacobian.T + 1e-3 * jnp.eye(2), goal - hand(angles, lengths))


@jax.jit
@jax.vmap
def reach(goal):
    return jax.lax.fori_loop(0, 50, lambda _, angles: step(angles, goal), jnp.array([0.3, 0.4, 0.5]))


turns = jnp.linspace(0.0, 3.0, 1000)
goals = 1.5 * jnp.stack([jnp.cos(turns), jnp.sin(turns)], axis=1)
angles = reach(goals)
error = jax.vmap(hand, (0, None))(angles, lengths) - goals
print(hand)
print("largest distance to a goal below 1e-4:", bool(jnp.max(jnp.linalg.norm(error, axis=1)) < 1e-4))
slopes = jax.grad(lambda sizes: jnp.sum(jax.vmap(hand, (0, None))(angles, sizes)))(lengths)
print("derivatives by the lengths:", [f"{s:.0f}" for s in slopes.tolist()])
