"""Listing of the models of an endpoint or hub."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from time import time

from omibench.errors import ModelError, PassingError
from omibench.extras import require_extra
from omibench.models.api.failures import Failure, failure_of_connection, failure_of_status
from omibench.models.api.http import CALL_S, MOST_REPLY, call_with_timeout, read_key, sdk_client
from omibench.params.reevaluate import HubWatch, Watch
from omibench.text.masking import mask

TIMEOUT_S = 30.0
MOST_IDS = 10_000
"""The maximum number of ids read from one endpoint, in case its list never ends."""
_SANE = re.compile(r"[A-Za-z0-9][\w./:@+-]{0,199}", re.ASCII)

log = logging.getLogger("omibench.study.reevaluate")


def list_models(name: str, watch: Watch) -> list[str]:
    """Return the ids of all models of a watch's endpoint or hub, each once, matching or not.

    Ids that no model can have (blanks, control characters, more than 200 characters) are skipped
    with a warning, because they are external input.

    Raises:
        ModelError: The list cannot be read; the message gives the watch's name.
        PassingError: A retry may succeed.
    """
    model_ids = list(dict.fromkeys(_list_ids(name, watch)))
    odd = [model_id for model_id in model_ids if not _SANE.fullmatch(model_id)]
    if odd:
        log.warning("watch %r: %d ids are not valid model ids and are skipped", name, len(odd))
    return [model_id for model_id in model_ids if model_id not in odd]


def _list_ids(name: str, watch: Watch) -> list[str]:
    if isinstance(watch, HubWatch):
        return _list_hub(name, watch)
    api, base_url, key_env = watch.endpoint()
    require_extra("api", f"watch {name!r}", api)
    sdk = import_module(api)
    kind, most = ("Anthropic", {"limit": 1000}) if api == "anthropic" else ("OpenAI", {})
    root = getattr(sdk, f"{kind}Error")
    with (
        _translate_errors(name, sdk.APIStatusError, sdk.APIConnectionError, root),
        # Connects only to the watch's endpoint, with bounded replies.
        sdk_client(
            getattr(sdk, kind),
            sdk.DefaultHttpxClient,
            key=read_key(key_env).get_secret_value(),
            base_url=base_url,
            options={"timeout": TIMEOUT_S},
            most_s=CALL_S,
        ) as client,
    ):
        return call_with_timeout(CALL_S, lambda: _ids(client.models.list(**most)))


def _list_hub(name: str, watch: HubWatch) -> list[str]:
    require_extra("hub", f"watch {name!r}: a hub")
    from httpx2 import TransportError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    token = read_key(watch.token_env).get_secret_value() if watch.token_env else False
    hub = HfApi(endpoint=watch.url, token=token)
    with _translate_errors(name, HfHubHTTPError, TransportError, ValueError), _bounded_hub():
        try:
            return call_with_timeout(
                CALL_S,
                lambda: _ids(
                    hub.list_models(
                        author=watch.author,
                        search=watch.search,
                        pipeline_tag=watch.task,
                        sort="created_at",
                        limit=watch.newest,
                    )
                ),
            )
        except OfflineModeIsEnabled:
            raise ModelError(
                f"watch {name!r}: HF_HUB_OFFLINE is set, so the hub cannot be queried; unset it"
            ) from None


@contextmanager
def _bounded_hub() -> Iterator[None]:
    """Apply our limits to huggingface_hub's shared client for the duration of the block."""
    from huggingface_hub import get_session

    from omibench.models.api.hooks import Hooks

    session, our_hooks = get_session(), Hooks(MOST_REPLY, CALL_S, leave=True).of_client()
    before = session.event_hooks
    session.event_hooks = {
        kind: [*before.get(kind, []), *hooks] for kind, hooks in our_hooks.items()
    }
    try:
        yield
    finally:
        session.event_hooks = before


def _ids(models: Iterable[object]) -> list[str]:
    return [str(getattr(model, "id", "")) for model in islice(models, MOST_IDS)]


@contextmanager
def _translate_errors(
    name: str, status: type[Exception], connection: type[Exception], defect: type[Exception]
) -> Iterator[None]:
    """Convert errors of a client's library to one line."""
    try:
        yield
    except status as error:
        reply = getattr(error, "response", None)
        if reply is None:
            raise _error(name, Failure(str(error))) from None
        failure = failure_of_status(reply.status_code, reply.headers, reply.text, time())
        raise _error(name, failure) from None
    except connection as error:
        raise _error(name, failure_of_connection(error)) from None
    except Failure as failure:
        raise _error(name, failure) from None
    except (defect, TypeError, AttributeError) as error:
        raise _error(name, Failure(f"the list cannot be read: {error}")) from None


def _error(name: str, failure: Failure) -> ModelError:
    kind = PassingError if failure.transient else ModelError
    return kind(f"watch {name!r}: its models cannot be listed: {mask(failure.message)}")
