"""What comprehensions give, as the interpreter walks a function."""

from __future__ import annotations

import ast

from . import operators
from .environment import Environment
from .evaluation import Evaluation
from .kind_joins import forget, join_all
from .kinds import UNKNOWN, Dict, Elements, Kind, Mapping, Python, Sequence
from .staging import is_tensor
from .syntax import makes_list

MOST_ITEMS = 64
"""How many items of a comprehension are told apart."""


class ComprehensionEvaluation(Evaluation):
    """What comprehensions give."""

    def _listcomp(self, node: ast.ListComp, environment: Environment) -> Kind:
        return self._comprehension("list", node, [node.elt], environment)

    def _setcomp(self, node: ast.SetComp, environment: Environment) -> Kind:
        return self._comprehension("set", node, [node.elt], environment)

    def _generatorexp(self, node: ast.GeneratorExp, environment: Environment) -> Kind:
        return self._comprehension("tuple", node, [node.elt], environment)

    def _dictcomp(self, node: ast.DictComp, environment: Environment) -> Kind:
        times: list[dict[ast.expr, Kind]] = []
        results = [node.key, node.value]
        found, exact = self._gathered(
            node, results, node.generators, environment, times
        )
        self._hold_all(times)
        keys = [key for key, _ in found]
        if any(map(is_tensor, keys)):
            self.problem("a tensor is a key here", node, "GL109")
        named = all(isinstance(k, Python) and k.known and k.type == "str" for k in keys)
        if exact and named:
            entries = {str(k.value): v for k, v in found if isinstance(k, Python)}
            return Dict(tuple(entries.items()))
        values = [forget(value) for _, value in found]
        return Mapping(join_all(map(forget, keys)), join_all(values))

    def _gathered(
        self,
        node: ast.expr,
        results: list[ast.expr],
        generators: list[ast.comprehension],
        environment: Environment,
        times: list[dict[ast.expr, Kind]],
    ) -> tuple[list[tuple[Kind, ...]], bool]:
        """What a comprehension works out for each of its items, and whether it does so for all of these."""
        if not generators:
            kinds = tuple(self.evaluate(e, environment) for e in results)
            times.append(self._kinds_in(*results))
            return [kinds], True
        generator, *rest = generators
        source = self.evaluate(generator.iter, environment)
        times.append(self._kinds_in(generator.iter))
        if self.iterates_in_graph(generator.iter, source):
            self.problem("a comprehension over a tensor is not lifted", node, "GL109")
            self.operation()
            return [(UNKNOWN,) * len(results)], False
        exact = isinstance(source, Sequence) and len(source.items) <= MOST_ITEMS
        elements = source.items if isinstance(source, Sequence) and exact else ()
        if not exact:
            element = operators.iterate(source)
            if element is None:
                reason = f"what a loop over {source} gives is not known"
                self.problem(reason, generator.iter)
            elements = (element or UNKNOWN,)
        found: list[tuple[Kind, ...]] = []
        for item in elements:
            inner = environment.copy()
            self._bind_target(generator.target, item, inner)
            for condition in generator.ifs:
                truth = self.test(condition, inner)
                if truth == "tensor":
                    self._filters(node)
                exact = exact and truth is True
            times.append(self._kinds_in(generator.target, *generator.ifs))
            more, same = self._gathered(node, results, rest, inner, times)
            exact = exact and same
            found += more
        return found, exact

    def _filters(self, node: ast.expr) -> None:
        """Note that a tensor decides what a comprehension has."""
        if isinstance(node, ast.DictComp):
            reason = "which keys the dict has is decided by a tensor"
            way_out = "keep all keys, and a tensor of bools beside the values, or `tf.where` in them"
            self.problem(reason, node, "GL109", way_out)
        else:
            self.problem("a comprehension filters by a tensor", node, "GL109")

    def _comprehension(
        self,
        name: str,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        results: list[ast.expr],
        environment: Environment,
    ) -> Kind:
        if len(node.generators) != 1:
            times: list[dict[ast.expr, Kind]] = []
            found, exact = self._gathered(
                node, results, node.generators, environment, times
            )
            self._hold_all(times)
            kinds = [kind for (kind,) in found]
            if exact and name != "set":
                return Sequence(name, tuple(kinds))
            return Elements(name, join_all(kinds))
        (generator,) = node.generators
        source = self.evaluate(generator.iter, environment)
        if self.iterates_in_graph(generator.iter, source):
            reason = "a comprehension over a tensor is lifted as a list, or in `sum`, `any`, `all`"
            is_set = isinstance(node, ast.SetComp)
            way_out = "make a list, and take `tf.unique(...)` of it" if is_set else ""
            self.problem(reason, node, "GL109", way_out)
            self.operation()
            if isinstance(node, ast.ListComp) and (
                makes_list(node.elt) or isinstance(node.elt, ast.Constant)
            ):
                each = operators.iterate(source) or UNKNOWN
                made = self._comprehended(node, node.elt, generator, each, environment)
                return Elements(name, made)
            return UNKNOWN
        if (
            isinstance(source, Sequence)
            and not generator.ifs
            and len(source.items) <= MOST_ITEMS
        ):
            items, times = [], []
            for item in source.items:
                items.append(
                    self._comprehended(node, node.elt, generator, item, environment)
                )
                times.append(self._kinds_in(generator.target, node.elt))
            self._hold_all(times)
            return (
                Sequence(name, tuple(items))
                if name != "set"
                else Elements("set", join_all(items))
            )
        element = operators.iterate(source)
        if element is None:
            self.problem(
                f"what a loop over {source} gives is not known", generator.iter
            )
            return UNKNOWN
        return Elements(
            name, self._comprehended(node, node.elt, generator, element, environment)
        )

    def _comprehended(
        self,
        owner: ast.expr,
        result: ast.expr,
        generator: ast.comprehension,
        element: Kind,
        environment: Environment,
    ) -> Kind:
        inner = environment.copy()
        self._bind_target(generator.target, element, inner)
        for condition in generator.ifs:
            if self.test(condition, inner) == "tensor":
                self._filters(owner)
        return self.evaluate(result, inner)

    def _bind_target(
        self, target: ast.expr, kind: Kind, environment: Environment
    ) -> None:
        if isinstance(target, ast.Name):
            environment.bind(target.id, kind)
            self.facts.kinds[target] = kind
            return
        items = kind.items if isinstance(kind, Sequence) else None
        if (
            not isinstance(target, ast.Tuple)
            or items is None
            or len(items) != len(target.elts)
        ):
            self.problem("how this unpacks is not known", target)
            return
        for inner, item in zip(target.elts, items, strict=True):
            self._bind_target(inner, item, environment)
