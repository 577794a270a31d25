"""Stubs for other Shinkai tools, which are not available: each raises an error when it is called."""


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)

    async def missing(*_args, **_kwargs):
        raise RuntimeError(f"The Shinkai tool {name} is not available here.")

    return missing
