"""Which of the packages that apt names are kept, and what each of them depends on."""

from collections import defaultdict

import elf
from debs import Package
from names import Dependency, dependency_field


class Closure:
    """Debian's closure of the roots, cut down to what needed libraries and Python modules reach."""

    def __init__(self, packages: list[Package], table: dict):
        self.packages = {package.name: package for package in packages}
        self.host = set(table["host"])
        self.data = table["data"]
        self.extra = table["extra_depends"]
        self.missing_allowed = table["missing_libraries"]
        self.reasons_to_drop = table["dropped"]
        self.provider_of_alternative = self._alternatives()  # link of update-alternatives -> package
        self.owner = self._owners()  # soname -> package
        self.providers = self._providers()  # name -> packages of that name or providing it
        self.kept: dict[str, str] = {}  # package -> what reached it first
        self.missing: set[str] = set()  # sonames that nothing provides
        self._reach(table["roots"])

    def _alternatives(self):
        best = {}
        for package in self.packages.values():
            for link, _, priority in package.alternatives:
                if link not in best or priority > best[link][0]:
                    best[link] = (priority, package.name)
        return {link: name for link, (_, name) in best.items()}

    def _owners(self):
        owner = {link.rsplit("/", 1)[-1]: name for link, name in self.provider_of_alternative.items()}
        for package in self.packages.values():
            for path, facts in package.elves.items():
                for name in {facts.soname, path.rsplit("/", 1)[-1]} - {None}:
                    owner.setdefault(name, package.name)
        return owner

    def _providers(self):
        providers = defaultdict(list)
        for package in self.packages.values():
            providers[package.name].append(package.name)
            for item in dependency_field(package.control.get("Provides", "")):
                providers[item[0].name].append(package.name)
        return providers

    def _reach(self, roots):
        waiting = [(root, "requested") for root in reversed(roots)]
        while waiting:
            name, why = waiting.pop()
            if name in self.kept or name in self.host:
                continue
            self.kept[name] = why
            edges = [(owner, f"{name} needs {soname}") for owner, soname in self.needed(name)]
            edges += [(found.name, f"{name} depends on it for its Python modules")
                      for _, found in self.declared(name) if self.packages[found.name].modules or is_python(found.name)]
            edges += [(found.name, f"{name} depends on it: {self.data[found.name]}")
                      for _, found in self.declared(name) if found.name in self.data]
            edges += [(extra, f"{name} requires it at run time") for extra in self.extra.get(name, [])]
            waiting.extend(reversed(edges))

    def needed(self, name: str):
        """(package, soname) for each library that an ELF file of the package needs, itself and the host's too."""
        sonames = sorted({soname for facts in self.packages[name].elves.values() for soname in facts.needed})
        for soname in sonames:
            if soname in self.owner:
                yield self.owner[soname], soname
            else:
                self.missing.add(soname)

    def declared(self, name: str):
        """(dependency as written, package that satisfies it) of the control file, where apt has chosen one."""
        control = self.packages[name].control
        for field in ("Pre-Depends", "Depends"):
            for alternatives in dependency_field(control.get(field, "")):
                for choice in alternatives:
                    if found := self.providers.get(choice.name):
                        yield choice, self.packages[found[0]]
                        break

    def depends(self, name: str) -> dict[str, list[Dependency]]:
        """Kept packages that this one needs, each with the bounds its control file gives."""
        wanted = defaultdict(list)
        for choice, found in self.declared(name):
            if found.name in self.kept:
                # The version of a virtual package says nothing about the package that provides it.
                wanted[found.name] += [choice] if choice.name == found.name and choice.relation else []
        for owner, _ in self.needed(name):
            if owner in self.kept:
                wanted[owner] += []
        for extra in self.extra.get(name, []):
            wanted[extra] += []
        wanted.pop(name, None)
        return wanted

    def glibc(self, name: str) -> str | None:
        """The oldest glibc that every ELF file of the package runs on; None without ELF files."""
        versions = [facts.glibc for facts in self.packages[name].elves.values() if facts.glibc]
        return max(versions, key=elf.release, default=None)

    def why_dropped(self, name: str) -> str:
        if name in self.host:
            return "provided by the host"
        return self.reasons_to_drop.get(name, "not reached by needed libraries or Python modules")

    def unexplained_missing(self) -> list[str]:
        return sorted(self.missing - set(self.missing_allowed))


def is_python(name: str) -> bool:
    return name.startswith(("python3", "libpython3"))


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of packages that depend on each other (strongly connected components of more than one)."""
    index, low, stack, on_stack, groups = {}, {}, [], set(), []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, following = work[-1]
            for next_ in following:
                if next_ not in index:
                    index[next_] = low[next_] = len(index)
                    stack.append(next_)
                    on_stack.add(next_)
                    work.append((next_, iter(sorted(graph[next_]))))
                    break
                if next_ in on_stack:
                    low[node] = min(low[node], index[next_])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1:
                        groups.append(sorted(group))
    return groups
