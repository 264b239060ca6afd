"""Functions that are hard to edit: odd layouts and every kind of statement."""

from __future__ import annotations

import dataclasses
import textwrap
import typing

TRICKY = {
    "elif": """
        def f(x):
            if x: a
            elif y:
                b
            elif z: c
            else:
                d
            e
        """,
    "one-line suites": """
        def f(x):
            if x: a; b
            else: c; d;
            for y in x: e
            while x: f; break
            with x: g
            try: h
            except E: i
            finally: j
            class C: k = 1; l = 2
            def g(): return 1
        """,
    "a function on one line": "def f(x): a = x; return a\n",
    "semicolons": """
        def f(x):
            a = 1; b = 2
            c = 3;
            d = 4; e = 5; f = 6  # why
        """,
    "decorators": """
        def f(x):
            @a
            # why
            @b(1,
               2)
            def g():
                c

            @d
            class C:
                @e
                def h(self): return 1
        """,
    "match": """
        def f(x):
            match x:
                # why
                case 1: a
                case [y, *z] if y:
                    b; c
                case {"k": 1} | C(d=2):
                    pass
                case _:
                    if x: e
        """,
    "try": """
        def f(x):
            try:
                a
            except A: b
            except (B, C) as d:
                e
            except:
                f
            else:
                g
            finally:
                h
            try:
                i
            finally:
                j
        """,
    "exception groups": """
        def f(x):
            try:
                a
            except* E:
                b
        """,
    "loops with else": """
        def f(x):
            for a in x:
                b
            else:
                c
            while x:
                for d in x: e
                else: f
            else:
                g
        """,
    "with": """
        def f(x):
            with (a as b, c):
                with d as e, \\
                     f:
                    g
        """,
    "async": """
        async def f(x):
            async for a in x:
                async with b as c:
                    await d
        """,
    "docstrings and texts": '''
        def f(x):
            """Doc
            string."""
            """Another"""
            a = """
        if x: b
            """; c
            return (
                d  # why
            )
        ''',
    "comments in odd places": """
        def f(x):  # head
            # first
            if x:  # test
                # inside
                a  # one
                # last
            # between
            else:  # other
                b
            # after

            # far
            return a  # end
        """,
    "backslashes and blank lines": """
        def f(x):

            a = b + \\
                c

            assert a, \\
                "b"


            return a
        """,
}

STANDARD = [textwrap, dataclasses, typing]
