"""Compiled Python modules for a plan, as conda packages of one Python version carry them.

Without them the interpreter would compile at every start, or write files into the environment that no package
owns. The .pyc files hold the hash of their source (PEP 552), not its time: they stay valid whatever time an
unpacked file gets, and the same source gives the same bytes.
"""

import importlib._bootstrap_external as bootstrap
import importlib.util
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from layout import Entry, Plan

TAG = sys.implementation.cache_tag


def add(plans: dict[str, Plan], python: str, cache: Path):
    """Adds lib/pythonX.Y/**/__pycache__/*.pyc to each plan; files that do not compile (test data) get none."""
    if f"{sys.version_info[0]}.{sys.version_info[1]}" != python:
        raise RuntimeError(f"{sys.executable}: not Python {python}, which is needed to compile .pyc files")
    cache.mkdir(parents=True, exist_ok=True)
    jobs = []
    for name, plan in plans.items():
        for path, entry in plan.items():
            if path.startswith(f"lib/python{python}/") and path.endswith(".py") and entry.target is None:
                jobs.append((name, path, entry))
    with ProcessPoolExecutor(2) as pool:
        compiled = pool.map(_compile, [entry.content for _, _, entry in jobs], [path for _, path, _ in jobs],
                            [cache] * len(jobs), chunksize=32)
        for (name, path, _), file in zip(jobs, compiled):
            if file:
                folder, _, module = path.rpartition("/")
                plans[name][f"{folder}/__pycache__/{module.removesuffix('.py')}.{TAG}.pyc"] = Entry(source=file)


def _compile(content, path, cache):
    source = content()
    digest = importlib.util.source_hash(source)
    # The path is part of the code: it shows in tracebacks of modules whose file is gone.
    name = importlib.util.source_hash(path.encode()).hex()
    kept = cache / f"{digest.hex()}-{name}.{TAG}.pyc"
    if not kept.exists():
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
        temporary = kept.with_suffix(".new")
        temporary.write_bytes(bootstrap._code_to_hash_pyc(code, digest, True))
        temporary.rename(kept)
    return kept
