"""Other Shinkai tools are not here: what a tool imports of them is there, and says so when it is called."""


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)

    async def missing(*_args, **_kwargs):
        raise RuntimeError(f"The Shinkai tool {name} is not available here.")

    return missing
