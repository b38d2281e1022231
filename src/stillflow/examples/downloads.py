"""Files of data that are downloaded where they are missing."""

from __future__ import annotations

import os
import shutil
import urllib.error
import urllib.request

_TIMEOUT_SECONDS = 30


def downloaded(name, folder, source_url, owner):
    """The path of a file, which is downloaded into the folder if it is not there.

    Raises FileNotFoundError if that is not possible; `owner` is who needs the file.
    """
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return path
    partial = f"{path}.partial"
    try:
        os.makedirs(folder, exist_ok=True)
        with urllib.request.urlopen(source_url + name, timeout=_TIMEOUT_SECONDS) as source, open(partial, "wb") as to:
            shutil.copyfileobj(source, to)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FileNotFoundError(
            f"{owner} needs the file {name} in the directory {os.path.abspath(folder)}, and it cannot be downloaded "
            f"from {source_url}{name} ({reason}). Put the file there and run again."
        ) from None
    os.replace(partial, path)
    print("Successfully downloaded", name, os.path.getsize(path), "bytes.")
    return path
