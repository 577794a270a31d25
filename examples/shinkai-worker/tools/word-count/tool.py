from typing import Optional
from shinkai_local_support import get_home_path


class CONFIG:
    separator: str = " "


class INPUTS:
    text: str
    limit: Optional[int] = None


class OUTPUT:
    words: int
    home: bool


async def run(config: CONFIG, inputs: INPUTS) -> OUTPUT:
    output = OUTPUT()
    output.words = len([word for word in inputs.text.split(config.separator) if word])
    output.home = bool(await get_home_path())
    return output
