"""What `stillflow serve` does, its options, and its exit codes."""

from __future__ import annotations

import sys

from stillflow.serving import models
from stillflow.serving.application import Application
from stillflow.serving.batching import Batcher

_THREADS = 8


def add_arguments(parser):
    """Declares the options."""
    parser.add_argument(
        "model", help="a folder with a SavedModel, a folder of versions, or the file of a frozen GraphDef"
    )
    parser.add_argument("--name", help="what requests call the model; by default what its folder or file is called")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; by default %(default)s")
    parser.add_argument("--port", type=int, default=8501, help="the port, 0 for any free one; by default %(default)s")
    parser.add_argument(
        "--batch-rows",
        type=int,
        default=0,
        metavar="ROWS",
        help="run requests that wait at the same time together, up to so many rows; only for models that compute "
        "each row by itself; by default 0, each request by itself",
    )
    parser.add_argument(
        "--max-megabytes", type=int, default=256, help="how large a request may be; by default %(default)s"
    )


def make_server(model, host="127.0.0.1", port=8501, batch_rows=0, max_bytes=256 << 20):
    """A server that answers requests for a Model, and what closes it: (server, close).

    Raises:
      ModelError: if the HTTP server is not installed.
      OSError: if the address cannot be listened at.
    """
    try:
        import waitress  # type: ignore[import-untyped]
    except ImportError:
        raise models.ModelError(
            "Serving needs waitress, which the extra 'serve' installs: pip install stillflow[serve]"
        ) from None
    batcher = Batcher(model, batch_rows) if batch_rows > 0 else None
    run = batcher.run if batcher else model.run
    application = Application(models.Models(model), run, max_bytes)
    server = waitress.create_server(
        application, host=host, port=port, threads=_THREADS, ident="stillflow", max_request_body_size=max_bytes + 1,
        clear_untrusted_proxy_headers=True,
    )  # fmt: skip

    def close():
        server.close()
        if batcher:
            batcher.close()
        model.close()

    return server, close


def run(arguments) -> int:
    """Serves until it is interrupted. Returns 0 then; 2 if nothing can be served, as stderr says."""
    try:
        model = models.load(arguments.model, arguments.name)
        server, close = make_server(
            model, arguments.host, arguments.port, arguments.batch_rows, arguments.max_megabytes << 20
        )
    except (models.ModelError, OSError) as error:
        print(f"stillflow serve: {error}", file=sys.stderr)
        return 2
    address = f"http://{server.effective_host}:{server.effective_port}/v1/models/{model.name}"
    print(f"stillflow serve: {address} (version {model.version})", file=sys.stderr, flush=True)
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        close()
    return 0
