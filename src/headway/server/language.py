"""The language of whoever types `headway-server`, found as the `headway` command finds it."""

import os
from collections.abc import Mapping

from headway.domain.errors import Language


def language(environ: Mapping[str, str] = os.environ) -> Language:
    """From HEADWAY_LANG, else LC_ALL, LC_MESSAGES or LANG, the first that is set; English unless it is Chinese."""
    names = ("HEADWAY_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environ[name] for name in names if environ.get(name)), "en")
    return "zh" if wanted.lower().startswith("zh") else "en"
