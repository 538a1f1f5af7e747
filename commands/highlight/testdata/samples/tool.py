#!/usr/bin/env python3
"""A tool
of several lines."""
import os, sys
from dataclasses import dataclass


@dataclass
class Point:
    x: float = 1.5e3
    y: int = 0o17

    def __str__(self) -> str:
        return f"({self.x:.2f}, {self.y!r})"  # a comment


async def main(*args, **kwargs):
    try:
        async with open("a\n") as f:
            print(f'{len(args)}', file=sys.stderr)
    except (OSError, ValueError) as e:
        raise SystemExit(1) from e
    return None if not args else [a for a in args if a is not True]
