"""The module that Shinkai provides next to a tool's code."""
import json
import os
from typing import List


async def get_access_token(provider_name: str) -> str:
    """The user's token of the tool's own `oauth` entry with that name, in any case; never of another entry."""
    for entry in json.loads(os.environ.get("SHINKAI_OAUTH") or "[]"):
        if entry["name"].lower() == provider_name.lower():
            return entry.get("accessToken") or ""
    raise ValueError(f"OAuth configuration not found for provider: {provider_name}")


async def get_home_path() -> str:
    return os.environ.get("SHINKAI_HOME", "")


async def get_mount_paths() -> List[str]:
    return _paths("SHINKAI_MOUNT")


async def get_asset_paths() -> List[str]:
    return _paths("SHINKAI_ASSETS")


async def get_shinkai_node_location() -> str:
    return os.environ.get("SHINKAI_NODE_LOCATION", "")


def _paths(name: str) -> List[str]:
    return [path.strip() for path in os.environ.get(name, "").split(",") if path.strip()]
