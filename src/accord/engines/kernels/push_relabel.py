"""Minimum cuts with real capacities: push–relabel kernels, dense for complete graphs, by adjacency for the others.

A node with log odds h > 0 has h units of flow from the source, one with h < 0 can pass |h| units to the sink, and an
edge of gain J lets J units through in either direction. Only the first phase is run (flow that cannot reach the sink
stays where it is); the two extreme minimum cuts can be read off its end:

- a node is on the source side of *every* minimum cut if left-over flow can still reach it,
- a node is on the sink side of *every* minimum cut if the sink can still be reached from it.
"""

import numpy as np
from numba import njit

from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["cut_dense", "cut_sparse"]

# Capacities below this share of the largest one count as used up.
_RELATIVE = 1e-12


@njit(cache=True, error_model="numpy")
def _split(h: FloatArray, excess: FloatArray, sink: FloatArray) -> float:
    largest = 0.0
    for i in range(len(h)):
        excess[i], sink[i] = max(h[i], 0.0), max(-h[i], 0.0)
        largest = max(largest, abs(h[i]))
    return largest


@njit(cache=True, error_model="numpy")
def _heights_dense(room: FloatArray, sink: FloatArray, eps: float, height: IntArray, stack: IntArray) -> None:
    """Distance to the sink in the residual graph; n + 1 where it cannot be reached."""
    n = len(sink)
    head, tail = 0, 0
    for i in range(n):
        height[i] = n + 1
        if sink[i] > eps:
            height[i] = 1
            stack[tail] = i
            tail += 1
    while head < tail:
        v = stack[head]
        head += 1
        for w in range(n):
            if height[w] == n + 1 and room[w, v] > eps:
                height[w] = height[v] + 1
                stack[tail] = w
                tail += 1


@njit(cache=True, error_model="numpy")
def cut_dense(h: FloatArray, room: FloatArray, low: BoolArray, high: BoolArray) -> None:
    """The smallest (``low``) and the largest (``high``) source side; ``room[i, j]`` is used up."""
    n = len(h)
    excess, sink = np.empty(n), np.empty(n)
    eps = _RELATIVE * max(_split(h, excess, sink), room.max())
    height, queue, current = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    _heights_dense(room, sink, eps, height, queue)
    waiting, at_height = np.zeros(n, np.bool_), np.zeros(n + 2, np.int64)
    head, n_waiting = 0, 0
    for i in range(n):
        at_height[height[i]] += 1
        if excess[i] > eps and height[i] <= n:
            queue[n_waiting] = i
            waiting[i] = True
            n_waiting += 1
    while n_waiting > 0:
        v = queue[head]
        head = head + 1 if head + 1 < n else 0
        n_waiting -= 1
        waiting[v] = False
        while excess[v] > eps and height[v] <= n:
            if height[v] == 1 and sink[v] > eps:
                pushed = min(excess[v], sink[v])
                sink[v] -= pushed
                excess[v] -= pushed
                continue
            w = current[v]
            while w < n and not (height[w] == height[v] - 1 and room[v, w] > eps):
                w += 1
            if w < n:
                current[v] = w
                pushed = min(excess[v], room[v, w])
                room[v, w] -= pushed
                room[w, v] += pushed
                excess[v] -= pushed
                excess[w] += pushed
                if not waiting[w]:
                    place = head + n_waiting
                    queue[place if place < n else place - n] = w
                    waiting[w] = True
                    n_waiting += 1
                continue
            old, lowest = height[v], n
            if sink[v] > eps:
                lowest = 0
            for w in range(n):
                if room[v, w] > eps and height[w] < lowest:
                    lowest = height[w]
            at_height[old] -= 1
            height[v] = lowest + 1
            at_height[height[v]] += 1
            current[v] = 0
            if at_height[old] == 0:  # a gap: nothing above it can reach the sink
                for w in range(n):
                    if old < height[w] <= n:
                        at_height[height[w]] -= 1
                        height[w] = n + 1
                        at_height[n + 1] += 1
    _heights_dense(room, sink, eps, height, queue)
    for i in range(n):
        high[i] = height[i] == n + 1
        low[i] = excess[i] > eps and high[i]
    n_stack = 0
    for i in range(n):
        if low[i]:
            queue[n_stack] = i
            n_stack += 1
    while n_stack > 0:
        n_stack -= 1
        v = queue[n_stack]
        for w in range(n):
            if not low[w] and room[v, w] > eps:
                low[w] = True
                queue[n_stack] = w
                n_stack += 1


@njit(cache=True, error_model="numpy")
def _heights_sparse(
    first: int,
    edges: IntArray,
    offsets: IntArray,
    ends: IntArray,
    room: FloatArray,
    sink: FloatArray,
    eps: float,
    height: IntArray,
    at_height: IntArray,
    stack: IntArray,
) -> None:
    n = len(sink)
    head, tail = 0, 0
    at_height[:] = 0
    for i in range(n):
        height[i] = n + 1
        if sink[i] > eps:
            height[i] = 1
            stack[tail] = i
            tail += 1
    while head < tail:
        v = stack[head]
        head += 1
        for place in range(offsets[first + v], offsets[first + v + 1]):
            end = ends[place]
            w = edges[end >> 1, 1 - (end & 1)] - first
            if height[w] == n + 1 and room[end ^ 1] > eps:  # from w to v
                height[w] = height[v] + 1
                stack[tail] = w
                tail += 1
    for i in range(n):
        at_height[height[i]] += 1


@njit(cache=True, error_model="numpy")
def cut_sparse(
    h: FloatArray,
    first: int,
    edges: IntArray,
    offsets: IntArray,
    ends: IntArray,
    room: FloatArray,
    largest: float,
    low: BoolArray,
    high: BoolArray,
) -> None:
    """The same by adjacency. ``room[2e]`` is the capacity left from the first end of edge e to the second."""
    n = len(h)
    excess, sink = np.empty(n), np.empty(n)
    eps = _RELATIVE * max(_split(h, excess, sink), largest)
    height, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    current, at_height = offsets[first : first + n].copy(), np.zeros(n + 2, np.int64)
    _heights_sparse(first, edges, offsets, ends, room, sink, eps, height, at_height, queue)
    waiting = np.zeros(n, np.bool_)
    head, n_waiting, n_relabels = 0, 0, 0
    for i in range(n):
        if excess[i] > eps and height[i] <= n:
            queue[n_waiting] = i
            waiting[i] = True
            n_waiting += 1
    afresh = np.empty(n, np.int64)
    while n_waiting > 0:
        if n_relabels > n:  # exact heights again: cheaper than lifting nodes one by one
            n_relabels = 0
            _heights_sparse(first, edges, offsets, ends, room, sink, eps, height, at_height, afresh)
            for i in range(n):
                current[i] = offsets[first + i]
        v = queue[head]
        head = head + 1 if head + 1 < n else 0
        n_waiting -= 1
        waiting[v] = False
        while excess[v] > eps and height[v] <= n:
            if height[v] == 1 and sink[v] > eps:
                pushed = min(excess[v], sink[v])
                sink[v] -= pushed
                excess[v] -= pushed
                continue
            stop = offsets[first + v + 1]
            place, w, end = current[v], -1, 0
            while place < stop:
                end = ends[place]
                if room[end] > eps:
                    w = edges[end >> 1, 1 - (end & 1)] - first
                    if height[w] == height[v] - 1:
                        break
                place += 1
            current[v] = place
            if place < stop:
                pushed = min(excess[v], room[end])
                room[end] -= pushed
                room[end ^ 1] += pushed
                excess[v] -= pushed
                excess[w] += pushed
                if not waiting[w]:
                    spot = head + n_waiting
                    queue[spot if spot < n else spot - n] = w
                    waiting[w] = True
                    n_waiting += 1
                continue
            old, lowest = height[v], n
            if sink[v] > eps:
                lowest = 0
            for place in range(offsets[first + v], stop):
                end = ends[place]
                if room[end] > eps:
                    lowest = min(lowest, height[edges[end >> 1, 1 - (end & 1)] - first])
            at_height[old] -= 1
            height[v] = lowest + 1
            at_height[height[v]] += 1
            current[v] = offsets[first + v]
            n_relabels += 1
            if at_height[old] == 0:
                n_relabels = n + 1  # a gap: the next exact heights take all above it out
                height[v] = n + 1
    _heights_sparse(first, edges, offsets, ends, room, sink, eps, height, at_height, queue)
    n_stack = 0
    for i in range(n):
        high[i] = height[i] == n + 1
        low[i] = excess[i] > eps and high[i]
        if low[i]:
            queue[n_stack] = i
            n_stack += 1
    while n_stack > 0:
        n_stack -= 1
        v = queue[n_stack]
        for place in range(offsets[first + v], offsets[first + v + 1]):
            end = ends[place]
            w = edges[end >> 1, 1 - (end & 1)] - first
            if not low[w] and room[end] > eps:
                low[w] = True
                queue[n_stack] = w
                n_stack += 1
