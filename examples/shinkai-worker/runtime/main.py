"""Runs one Shinkai tool. Reads its input from standard input and writes the result to a file."""
import asyncio
import importlib.util
import inspect
import json
import os
import sys

given = json.load(sys.stdin)
os.environ.update(given["environment"])
sys.path.insert(0, os.path.dirname(given["tool"]))


def made(module, name, values):
    """An object of the tool's own class of that name; attributes that are not given keep the class's defaults."""
    kind = getattr(module, name, None) or type(name, (), {})
    value = kind.__new__(kind)
    for key in getattr(kind, "__annotations__", {}):
        if not hasattr(value, key):
            setattr(value, key, None)
    for key, one in values.items():
        setattr(value, key, one)
    return value


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return plain(vars(value)) if hasattr(value, "__dict__") else str(value)


async def answer():
    spec = importlib.util.spec_from_file_location("tool", given["tool"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["tool"] = module
    spec.loader.exec_module(module)
    value = module.run(made(module, "CONFIG", given["config"]), made(module, "INPUTS", given["parameters"]))
    return {"value": plain(await value if inspect.isawaitable(value) else value)}


try:
    said = asyncio.run(answer())
except Exception as error:  # a failure of the tool is a result too
    said = {"error": str(error) or type(error).__name__}
with open(given["result"], "w", encoding="utf-8") as file:
    json.dump(said, file, allow_nan=False)
