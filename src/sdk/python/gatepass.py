"""A client of Gatepass in one file: Python 3.9 or newer, the standard library alone.

    from gatepass import Gatepass

    gatepass = Gatepass()  # GATEPASS_URL and GATEPASS_API_KEY
    profile = gatepass.run("Sandbox_Profile", {"greeting": "Good morning"}, user="ada",
                           consent=lambda link: print("Please open", link["url"]))

`run` has the whole main job, `wait` waits for a consent, `fetch` calls a provider's API, and each operation of
`/openapi.json` is a method. A client may be used by several threads at once.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import random
import re
import socket
import ssl
import threading
import time
import uuid
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Iterator, Literal, Mapping, Optional, Sequence, TypedDict, Union
from urllib.parse import quote, unquote, urlencode, urlsplit

__version__ = "0.2.0"

_log = logging.getLogger("gatepass")  # methods, paths and durations; never a key, a token or a body

_MAX_CONSENTS = 3
_LONGEST_RETRY_AFTER = 60.0
_POLL = 45.0
_POLL_GRACE = 15.0
_HELD = 1.0  # Gatepass did not hold a poll that took less time: it held too many, or was shutting down
_NOT_FORWARDED = {"authorization", "host", "content-length", "transfer-encoding", "connection"}

_Repetition = Literal["safe", "by_key", "unsafe"]


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Any = _Unset()
"""Leaves a member out. `None` is sent as `null`, which resets a member where an operation says so."""


class GatepassError(Exception):
    """Every error of this client. Switch on `code`: those of Gatepass are listed as `ErrorCode`, and this client adds
    `connection_error`, `timeout`, `unexpected_answer`, `invalid_options`, `tool_error`, `authorization_failed` and
    `authorization_timeout`."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        errors: Sequence[Mapping[str, Any]] = (),
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        why: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        """The HTTP status; `None` where no answer was received."""
        self.errors = errors
        """Each thing that is wrong with the request: `path`, `code`, `message`."""
        self.request_id = request_id
        """The id of the request in Gatepass's log."""
        self.retry_after = retry_after
        """How long Gatepass asks to wait before the next attempt, in seconds."""
        self.why = why
        """Why there is no token or consent, where that is known: what to change, and who can."""

    def __str__(self) -> str:
        return f"{self.code}: {self.args[0]}"


class AuthorizationRequired(GatepassError):
    """The user must approve first: show `authorization["url"]`, then `wait(authorization["id"])`, and try again."""

    def __init__(self, authorization: RequiredAuthorization, *, status: Optional[int] = None) -> None:
        super().__init__("authorization_required", f"The user must approve this first, at {authorization['url']}", status=status)
        self.authorization = authorization


class AuthorizationFailed(GatepassError):
    """The authorization has failed for good. `reason` is stable, the message says what to do."""

    def __init__(self, authorization: Authorization) -> None:
        self.reason = authorization.get("reason", "provider_refused")
        text = authorization.get("message", "Begin another authorization.")
        if not authorization["id"].startswith("appr_"):
            text = f"The authorization failed ({self.reason}). {text}"
        super().__init__("authorization_failed", text, why=authorization.get("cause"))
        self.authorization = authorization


class ToolFailed(GatepassError):
    """The tool failed. The message is for users and models; `developer_message` is not for models."""

    def __init__(self, error: ExecuteError, kind: str, execution_id: str) -> None:
        pause = error.get("retry_after_ms")
        super().__init__("tool_error", error["message"], retry_after=None if pause is None else pause / 1000)
        self.kind = kind
        self.can_retry = error["can_retry"]
        self.developer_message = error.get("developer_message")
        self.execution_id = execution_id


class Response:
    """An answer of a provider's API, of any status."""

    def __init__(self, status: int, headers: Message, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"<Response {self.status}>"


class _Client:
    """Sends requests to one Gatepass with one API key. Never follows a redirect: the API has none, and another server
    could get the key."""

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 2,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """`url` and `api_key` are `GATEPASS_URL` and `GATEPASS_API_KEY` by default. `timeout` limits one attempt as a
        whole, in seconds. `context` says which certificates are trusted. Proxies of the environment are not used."""
        url = url or os.environ.get("GATEPASS_URL")
        key = api_key or os.environ.get("GATEPASS_API_KEY")
        if not url:
            raise GatepassError("invalid_options", "Pass url, or set GATEPASS_URL, to the URL of Gatepass.")
        if not key:
            raise GatepassError("invalid_options", "Pass api_key, or set GATEPASS_API_KEY.")
        if re.fullmatch(r"[\x21-\x7e]+", key) is None:
            raise GatepassError("invalid_options", "api_key has characters that no API key has.")
        try:
            parts = urlsplit(url)
            is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in parts.netloc
        except ValueError:  # of a port or an IPv6 address
            is_usable = False
        if not is_usable:
            raise GatepassError("invalid_options", "url must be an http(s) URL without a user.")
        if not timeout > 0:
            raise GatepassError("invalid_options", "timeout must be more than 0.")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._timeout = timeout
        self._max_retries = max_retries
        self._base_path = parts.path.rstrip("/")
        # in functions, not in attributes: what prints the attributes of an object must not print the key
        self._authorization: Callable[[], str] = lambda: f"Bearer {key}"
        if parts.scheme == "https":
            trusted = context or ssl.create_default_context()  # reads all certificates of the system: once, not for each request
            self._connection: Callable[[float], http.client.HTTPConnection] = lambda limit: http.client.HTTPSConnection(
                parts.netloc, timeout=limit, context=trusted
            )
        else:
            self._connection = lambda limit: http.client.HTTPConnection(parts.netloc, timeout=limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def __reduce__(self) -> Any:
        raise TypeError("A client holds an API key, which is not copied: make another client.")

    def run(
        self,
        tool: str,
        input: Optional[Mapping[str, Any]] = None,
        *,
        user: Optional[str] = None,
        consent: Optional[Callable[[RequiredAuthorization], Any]] = None,
        approval: Optional[Callable[[RequiredAuthorization], Any]] = None,
        account: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Runs a tool and returns its value. If the user must approve first, calls `consent` with the link, waits, and
        runs the tool again; without `consent` raises `AuthorizationRequired`. `approval` is called in its place when a
        person must approve exactly this call (its `id` begins with `appr_`). Raises `ToolFailed` if the tool failed.
        Returns the description of an artifact if the tool has stored its result elsewhere."""
        body = {"tool_name": tool, "input": dict(input or {}), "user_id": user or UNSET, "account": account or UNSET}
        consents = 0
        while True:
            answer, headers = self._answer("POST", "/v1/tools/execute", "by_key", body=body, timeout=timeout)
            if not isinstance(answer, dict) or "execution_id" not in answer:
                raise GatepassError("unexpected_answer", "The answer is not a run of a tool. Is this the URL of a Gatepass?")
            output = answer.get("output", {})
            if "error" in output:
                kind = headers.get("x-gatepass-error-kind", "UNKNOWN")
                raise ToolFailed(output["error"], kind, answer["execution_id"])
            if "requires_authorization" not in output:
                # an answer's value cannot be a list: Gatepass sends one as `items`, and a header says so
                value = output.get("artifact", output.get("value"))
                return value["items"] if headers.get("x-gatepass-value") == "list" else value
            required = output["requires_authorization"]
            is_approval = required["id"].startswith("appr_")
            show = approval if is_approval and approval is not None else consent
            if show is None or consents == _MAX_CONSENTS:
                raise AuthorizationRequired(required)
            consents += 1
            show(required)
            self.wait(required["id"])

    def wait(self, authorization_id: str, timeout: float = 600.0) -> Authorization:
        """Waits until the user has approved; goes on after restarts of Gatepass and failures of the network. The answer
        is without the token. Raises `AuthorizationFailed` when the user refused or the link expired, and a
        `GatepassError` of the code `authorization_timeout` after `timeout` seconds; the link may still be open then."""
        deadline = time.monotonic() + timeout
        failures = 0
        while True:
            begun = time.monotonic()
            left = deadline - begun
            if left <= 0:
                raise GatepassError("authorization_timeout", f"The user has not approved within {timeout:g} s.")
            asked: Optional[float] = None
            try:
                # rounded up: the timeout of the request ends a poll that is longer than the time left
                query = {"id": authorization_id, "wait": int(min(_POLL, left)) + (left < _POLL)}
                limit = min(_POLL + _POLL_GRACE, left)
                found = self._answer("GET", "/v1/auth/status", "safe", query=query, timeout=limit, max_retries=0)[0]
                status = (found or {}).get("status")
                if status == "failed":
                    raise AuthorizationFailed(found)
                if status == "completed":
                    found.pop("context", None)  # the token, which a caller of `wait` does not need
                    return found
                failures = 0 if time.monotonic() - begun >= _HELD else failures + 1
            except GatepassError as error:
                if not _is_transient(error):
                    raise
                failures += 1
                asked = error.retry_after
            if failures > 0:
                pause = max(_backoff(failures - 1), asked or 0)
                time.sleep(max(0, min(pause, deadline - time.monotonic())))

    def fetch(
        self,
        user: str,
        provider: str,
        path: str,
        *,
        method: str = "GET",
        body: Union[None, bytes, str, Mapping[str, Any], Sequence[Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        account: Optional[str] = None,
        scopes: Optional[Sequence[str]] = None,
        timeout: Optional[float] = None,
    ) -> Response:
        """Sends a request to the provider's API; Gatepass adds the user's token, which never reaches this process.
        `path` is below the API's base URL. Returns answers of every status, redirects too. Raises
        `AuthorizationRequired` when the user must approve first; for HEAD, whose answer has no room for the link, a
        `GatepassError` of the code `authorization_required`."""
        bare = path.split("?")[0].replace("\\", "/")
        if not path.startswith("/") or any(unquote(part) in (".", "..") for part in bare.split("/")):
            raise GatepassError("invalid_request", 'path must begin with "/" and have no "." or ".." in it.')
        if isinstance(body, (bytes, str)) or body is None:
            data = body.encode() if isinstance(body, str) else body
            sent = {}
        else:
            data = json.dumps(body).encode()
            sent = {"content-type": "application/json"}
        for name, value in (headers or {}).items():
            if name.lower() not in _NOT_FORWARDED and not name.lower().startswith("x-gatepass-"):
                sent[name.lower()] = value
        sent["x-gatepass-user"] = user
        if account is not None:
            sent["x-gatepass-account"] = account
        if scopes is not None:
            sent["x-gatepass-scopes"] = " ".join(scopes)
        target = f"/proxy/{_segment('provider', provider)}{quote(path, safe=_PATH_CHARACTERS)}"
        method = method.upper()
        repetition: _Repetition = "unsafe" if method in ("POST", "PATCH") else "safe"

        def once() -> Response:
            response = self._send(method, target, sent, data, timeout)
            refused = response.headers.get("x-gatepass-error")
            if refused is not None:
                # the answer to HEAD has no body
                raise _refusal(response, _parse(response.body) or {"name": refused, "message": f"Gatepass refused the request: {refused}."})
            return response

        response = self._repeated(once, f"{method} /proxy/{provider}", repetition, self._max_retries)
        # the provider refused the token, and Gatepass has refreshed it
        is_replaced = response.headers.get("x-gatepass-token") == "replaced"
        return self._repeated(once, f"{method} /proxy/{provider}", repetition, self._max_retries) if is_replaced else response

    def each(self, method: Callable[..., Any], *args: Any, **filters: Any) -> Iterator[Any]:
        """Yields the items of all pages of a list: `for tool in gatepass.each(gatepass.list_tools, q="mail"): ...`"""
        position: dict[str, Any] = {name: filters.pop(name) for name in ("cursor", "offset") if name in filters}
        read = position.get("offset") or 0
        while True:
            page = method(*args, **filters, **position)
            yield from page["items"]
            read += len(page["items"])
            cursor = page.get("next_cursor")
            if cursor is not None:
                position = {"cursor": cursor}
            elif "cursor" not in position and page["items"] and read < page["total_count"]:
                position = {"offset": read}  # a list without cursors
            else:
                return

    def _call(self, method: str, path: str, repetition: _Repetition, **parts: Any) -> Any:
        return self._answer(method, path, repetition, **parts)[0]

    def _answer(
        self,
        method: str,
        path: str,
        repetition: _Repetition,
        *,
        params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = UNSET,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        is_json: bool = True,
    ) -> tuple[Any, Message]:
        target = re.sub(r"\{(\w+)\}", lambda found: _segment(found[1], (params or {})[found[1]]), path)
        asked = {name: _text(value) for name, value in (query or {}).items() if value is not UNSET and value is not None}
        if asked:
            target += f"?{urlencode(asked)}"
        headers = {"accept": "application/json" if is_json else "*/*"}
        data: Optional[bytes] = None
        if body is not UNSET:
            headers["content-type"] = "application/json"
            present = {k: v for k, v in body.items() if v is not UNSET} if isinstance(body, dict) else body
            data = json.dumps(present, allow_nan=False).encode()
        if repetition == "by_key":
            headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())

        def once() -> tuple[Any, Message]:
            response = self._send(method, target, headers, data, timeout)
            status = response.status
            if 200 <= status < 300 and not is_json:
                return response.body, response.headers
            found = _parse(response.body)
            # an import whose tools were all refused has its `items` too
            if not (200 <= status < 300 or (status == 422 and isinstance(found, dict) and "items" in found)):
                raise _refusal(response, found)
            if not isinstance(found, dict) and response.body.strip():
                text = "The answer is no JSON object. Is this the URL of a Gatepass?"
                raise GatepassError("unexpected_answer", text, status=status)
            return found, response.headers

        retries = self._max_retries if max_retries is None else max_retries
        return self._repeated(once, f"{method} {path}", repetition, retries)

    def _repeated(self, once: Callable[[], Any], what: str, repetition: _Repetition, max_retries: int) -> Any:
        """Repeats an attempt after failures, unless it may have had an effect that must not happen twice."""
        retries = 0
        while True:
            begun = time.monotonic()
            try:
                result = once()
                _log.debug("%s answered in %d ms", what, (time.monotonic() - begun) * 1000)
                return result
            except GatepassError as error:
                is_repeatable = _is_transient(error) and (repetition != "unsafe" or error.status == 429)
                pause = _backoff(retries) if error.retry_after is None else error.retry_after
                if not is_repeatable or retries >= max_retries or pause > _LONGEST_RETRY_AFTER:
                    raise
                retries += 1
                _log.warning("%s failed: %s; attempt %d in %.1f s", what, error.code, retries + 1, pause)
            time.sleep(pause)

    def _send(
        self, method: str, target: str, headers: Mapping[str, str], body: Optional[bytes], timeout: Optional[float]
    ) -> Response:
        """One attempt. The deadline covers all of it: the timeout of a socket alone begins again with each byte."""
        encoded = {name: _header(value) for name, value in headers.items()}
        limit = self._timeout if timeout is None else timeout
        connection = self._connection(limit)
        deadline = _Deadline(limit)
        try:
            with deadline:
                connection.connect()
                deadline.cover(connection.sock)
                encoded["authorization"] = self._authorization().encode()
                connection.request(method, self._base_path + target, body, encoded)
                answer = connection.getresponse()
                response = Response(answer.status, answer.headers, answer.read())
        except (OSError, http.client.HTTPException) as cause:
            if not deadline.is_over and not isinstance(cause, socket.timeout):
                raise GatepassError("connection_error", f"{self.url} could not be reached.") from cause
            raise GatepassError("timeout", f"There was no answer within {limit:g} s.") from cause
        finally:
            connection.close()
        if deadline.is_over:  # a body without a length ends with its connection
            raise GatepassError("timeout", f"There was no answer within {limit:g} s.")
        return response


class _Deadline:
    """Shuts a socket down after a time, which ends what waits for it."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self.socket: Optional[socket.socket] = None
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def _end(self) -> None:
        self.is_over = True
        try:
            if self.socket is not None:
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)  # that of TLS would leave the rest unencrypted
        except OSError:
            pass  # it has ended

    def cover(self, connected: socket.socket) -> None:
        self.socket = connected
        if self.is_over:  # before there was a socket to shut down
            raise socket.timeout("Connecting took all of the time.")

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


_PATH_CHARACTERS = "/?&=%:@!$'()*+,;~[]"


def _segment(name: str, value: str) -> str:
    """Refuses what would reach another operation: an empty id (the whole list), `.` and `..`."""
    if value in ("", ".", ".."):
        raise GatepassError("invalid_request", f"{value!r} is no {name}.")
    return quote(value, safe="")


def _header(value: str) -> bytes:
    """Header values are bytes: UTF-8. HTTP strips white space at the ends, so that the header would name another user."""
    if value != value.strip(" \t\r\n") or re.search(r"[\r\n\0]", value):
        raise GatepassError("invalid_request", "A header has a line break in it, or white space at an end.")
    return value.encode()


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse(body: bytes) -> Any:
    """Returns `None` for what is not JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def _refusal(response: Response, body: Any) -> GatepassError:
    status, headers = response.status, response.headers
    if not isinstance(body, dict) or not isinstance(body.get("name"), str) or not isinstance(body.get("message"), str):
        text = f"The answer has the status {status} and no error of Gatepass. Is this the URL of a Gatepass?"
        return GatepassError("unexpected_answer", text, status=status, retry_after=_retry_after(headers))
    if body["name"] == "authorization_required" and isinstance(body.get("requires_authorization"), dict):
        return AuthorizationRequired(body["requires_authorization"], status=status)
    return GatepassError(
        body["name"],
        body["message"],
        status=status,
        errors=body.get("errors", ()),
        request_id=headers.get("x-request-id"),
        retry_after=_retry_after(headers),
        why=body.get("cause"),
    )


def _retry_after(headers: Message) -> Optional[float]:
    """Seconds or a date (RFC 9110 section 10.2.3)."""
    text = (headers.get("retry-after") or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _is_transient(error: GatepassError) -> bool:
    """Whether the same request may succeed later."""
    if error.status is None:
        return error.code in ("connection_error", "timeout")
    return error.status in (408, 429) or (error.status >= 500 and error.status != 501)


def _backoff(retries: int) -> float:
    """Doubles with each attempt; shortened at random, so that clients that failed together do not return together."""
    return min(0.5 * 2**retries, 8.0) * (1 - random.random() / 2)


# Everything below is generated by `npm run wire-types`. Do not edit it.


class _AccessTokenRequired(TypedDict):
    access_token: str
    token_type: str
    scopes: list[str]


class AccessToken(_AccessTokenRequired, total=False):
    expires_at: str


class _AddedPackRequired(TypedDict):
    id: str
    name: str
    tools: list[PackTool]
    scopes: list[str]
    worker: AddedPackWorker
    providers: list[AuthProviderResponse]
    made: list[str]


class AddedPack(_AddedPackRequired, total=False):
    toolset: AddedPackToolset
    policy: AddedPackWorker


class AddedPackWorker(TypedDict):
    id: str


class AddedPackToolset(TypedDict):
    id: str
    url: str


class _AnswerConditionAtRequired(TypedDict):
    at: str


_AnswerConditionAtMayBeNamed = TypedDict("_AnswerConditionAtMayBeNamed", {"is": "Union[str, float, bool]"}, total=False)


class AnswerConditionAt(_AnswerConditionAtRequired, _AnswerConditionAtMayBeNamed, total=False):
    pass


class AnswerConditionAt_(TypedDict):
    at: str
    is_above_page: Literal[True]


class AnswerConditionAt__(TypedDict):
    at: str
    is_as_long_as: str


class AnswerConditionLacks(TypedDict):
    lacks: str


class AnswerConditionLink(TypedDict):
    link: Literal["next"]


class AnswerDescription(TypedDict, total=False):
    members: list[str]
    drop: list[str]
    foreign: list[str]
    limit: int
    convert: dict[str, Literal["base64_text", "name_value_object", "gmail_payload_text", "html_text", "adf_text", "rich_text_text", "google_document_text", "epoch_seconds_time", "epoch_milliseconds_time"]]
    long_texts: AnswerDescriptionLongTexts
    file: AnswerFile
    empty: JsonValue


_AnswerDescriptionLongTextsNamed = TypedDict("_AnswerDescriptionLongTextsNamed", {"from": "str"})


class AnswerDescriptionLongTexts(_AnswerDescriptionLongTextsNamed):
    limit: int


class AnswerFile(TypedDict, total=False):
    at: str
    name: list[str]
    content_type: list[str]


class AnthropicTool(TypedDict):
    name: str
    description: str
    input_schema: JsonSchema


class _ApiKeyRequired(TypedDict):
    id: str
    name: str
    project: str
    role: Literal["admin", "caller", "readonly", "approver"]
    status: Literal["active", "expired", "revoked"]
    created_at: str


class ApiKey(_ApiKeyRequired, total=False):
    user_id: str
    groups: list[str]
    expires_at: str
    rate_limit: int
    last_used_at: str
    replaced_by: str
    revoked_at: str


class _ApprovalRequired(TypedDict):
    id: str
    status: Literal["pending", "approved", "used", "denied", "expired", "cancelled", "superseded"]
    digest: str
    use: Literal["tool", "proxy", "token"]
    agent: str
    rules: list[str]
    remember: list[Literal["once", "hour", "standing"]]
    decisions: list[ApprovalDecisionsItem]
    created_at: str
    expires_at: str


class Approval(_ApprovalRequired, total=False):
    user_id: str
    tool_id: str
    provider_id: str
    group: str
    call: ApprovalCall
    execution_id: str


class ApprovalDecisionsItem(TypedDict):
    decision: Literal["approve", "deny"]
    approver: str
    proof: Literal["login", "application", "ticket", "console", "api_key", "client", "decision_point"]
    remember: Literal["once", "hour", "standing"]
    at: str


class _ApprovalCallRequired(TypedDict):
    title: str
    agent_name: str
    hosts: list[str]
    hints: list[Literal["read_only", "destructive", "open_world"]]
    arguments: JsonObject
    accounts: list[ApprovalCallAccountsItem]


class ApprovalCall(_ApprovalCallRequired, total=False):
    hidden: list[str]
    metadata: dict[str, str]
    run_at: str


class ApprovalCallAccountsItem(TypedDict):
    connection_id: str
    provider: str
    account: str


class _ArtifactRequired(TypedDict):
    url: str
    content_type: str
    size: float
    meta: ArtifactMeta


class Artifact(_ArtifactRequired, total=False):
    name: str
    expires_at: str


class ArtifactMeta(TypedDict):
    description: str


class AttemptOutput(TypedDict, total=False):
    value: JsonValue
    error: ToolError
    authorization: AttemptOutputAuthorization
    artifact: Artifact
    logs: list[AttemptOutputLogsItem]


class _AttemptOutputAuthorizationRequired(TypedDict):
    id: str
    url: str
    scopes: list[str]
    status: Literal["not_started", "pending", "completed", "failed"]
    user_id: str
    context: AttemptOutputAuthorizationContext


class AttemptOutputAuthorization(_AttemptOutputAuthorizationRequired, total=False):
    provider_id: str


class AttemptOutputAuthorizationContext(TypedDict):
    pass


class _AttemptOutputLogsItemRequired(TypedDict):
    level: str
    message: str


class AttemptOutputLogsItem(_AttemptOutputLogsItemRequired, total=False):
    subtype: str


class _AuditEntryRequired(TypedDict):
    seq: int
    at: str
    action: Literal["token.released", "authorization.confirmed", "authorization.completed", "authorization.failed", "authorization.refused", "connection.refreshed", "connection.needs_authorization", "connection.made_default", "connection.deleted", "connection.imported", "connections.exported", "shared_connection.added", "shared_connection.changed", "shared_connection.deleted", "provider.added", "provider.changed", "provider.connections_kept", "provider.environment_client_confirmed", "provider.deleted", "provider.tested", "tool.imported", "tool.bound", "tool.deleted", "tool.changed", "worker.added", "worker.changed", "worker.deleted", "worker.synced", "worker.waiting", "worker.accepted", "worker.named", "policy.set", "policy.deleted", "policy.refused", "toolset.set", "toolset.deleted", "tool.scheduled", "tool.cancelled", "tool.tried", "approval.requested", "approval.approved", "approval.denied", "approval.expired", "approval.used", "approval.superseded", "standing_approval.added", "standing_approval.removed", "secret.set", "secret.deleted", "project.created", "branding.set", "branding.domain_set", "branding.domain_proved", "branding.domain_removed", "key.created", "key.rotated", "key.revoked", "console.logged_in", "console.logged_out", "webhook.added", "webhook.changed", "webhook.secret_rotated", "webhook.replayed", "webhook.tested", "webhook.disabled", "webhook.deleted", "mcp_client.approved", "mcp_client.revoked", "connect_session.created", "connect_session.opened", "connect_session.restarted", "connect_session.cancelled", "portal.linked", "portal.entered", "user.exported", "user.erased", "audit.archived", "access.refused", "envelope.unreadable", "master_key.rotated", "installation.backed_up", "installation.restored", "installation.commits_lost", "installation.moved", "installation.rows_signed"]
    actor: AuditEntryActor


class AuditEntry(_AuditEntryRequired, total=False):
    user_id: str
    provider_id: str
    connection_id: str
    owner: Literal["project"]
    authorization_id: str
    subject: str
    tool: str
    scopes: list[str]
    reason: str
    detail: str
    fingerprint: str
    purpose: str
    request_id: str


class _AuditEntryActorRequired(TypedDict):
    kind: Literal["api_key", "user", "operator", "cli", "system"]


class AuditEntryActor(_AuditEntryActorRequired, total=False):
    id: str
    client: str


class _AuthProviderCreateRequestRequired(TypedDict):
    id: str


_AuthProviderCreateRequestMayBeNamed = TypedDict("_AuthProviderCreateRequestMayBeNamed", {"$schema": "str"}, total=False)


class AuthProviderCreateRequest(_AuthProviderCreateRequestRequired, _AuthProviderCreateRequestMayBeNamed, total=False):
    also_known_as: list[str]
    category: Literal["ai", "analytics", "calendar", "commerce", "communication", "content", "crm", "data", "design", "development", "education", "email", "files", "finance", "games", "health", "hr", "identity", "iot", "legal", "maps", "marketing", "media", "monitoring", "music", "other", "productivity", "project-management", "sales", "search", "security", "social", "sports", "storage", "support", "transport", "travel", "video"]
    owner: Literal["user", "project", "either", None]
    other_endpoints: AuthProviderCreateRequestOtherEndpoints
    second_way_of: str
    shares_endpoints_with: str
    registration: AuthProviderCreateRequestRegistration
    scopes: dict[str, Union[str, AuthProviderCreateRequestScopesValueText]]
    documentation: str
    sources: list[str]
    checked: str
    verified: bool
    logo: str
    name: str
    offline_access: AuthProviderCreateRequestOfflineAccess
    description: Optional[str]
    provider_id: Optional[str]
    external_id: Optional[str]
    type: Literal["oauth2", "oauth1", "credentials", None]
    status: Literal["active", "inactive", "missing", None]
    missing: JsonValue
    binding: JsonValue
    created_at: JsonValue
    updated_at: JsonValue
    oauth2: Optional[AuthProviderCreateRequestOauth2]
    oauth1: Optional[AuthProviderCreateRequestOauth1]
    credentials: Optional[AuthProviderCreateRequestCredentials]


class AuthProviderCreateRequestOtherEndpoints(TypedDict, total=False):
    authorization: list[str]
    pushed_authorization: list[str]
    device_authorization: list[str]
    temporary: list[str]
    token: list[str]
    refresh: list[str]
    exchange: list[str]
    renewal: list[str]
    choices: list[str]
    installations: list[str]
    installation_token: list[str]
    test: list[str]
    user_info: list[str]
    introspection: list[str]
    revocation: list[str]


class _AuthProviderCreateRequestRegistrationRequired(TypedDict):
    url: str


class AuthProviderCreateRequestRegistration(_AuthProviderCreateRequestRegistrationRequired, total=False):
    steps: list[str]
    fields: AuthProviderCreateRequestRegistrationFields


class AuthProviderCreateRequestRegistrationFields(TypedDict, total=False):
    redirect_uri: str
    client_id: str
    client_secret: str
    scopes: str


class _AuthProviderCreateRequestScopesValueTextRequired(TypedDict):
    text: Union[str, AuthProviderCreateRequestScopesValueTextTextEn]


class AuthProviderCreateRequestScopesValueText(_AuthProviderCreateRequestScopesValueTextRequired, total=False):
    level: Literal["read", "write", "admin"]
    sensitive: bool


class AuthProviderCreateRequestScopesValueTextTextEn(TypedDict):
    en: str


class AuthProviderCreateRequestOfflineAccess(TypedDict, total=False):
    params: dict[str, str]
    scopes: list[str]


class AuthProviderCreateRequestOauth2(TypedDict, total=False):
    client_id: str
    client_secret: Optional[str]
    redirect_uri: Optional[str]
    installation_url: JsonValue
    variables: Optional[dict[str, Optional[AuthProviderCreateRequestOauth2VariablesValue]]]
    kept_values: Optional[dict[str, AuthProviderCreateRequestOauth2KeptValuesValue]]
    scope_delimiter: Literal[" ", ",", None]
    pkce: Optional[AuthProviderCreateRequestOauth2Pkce]
    grant: Optional[AuthProviderCreateRequestOauth2Grant]
    owner: Literal["user", "project", "either", None]
    installation: Optional[AuthProviderCreateRequestOauth2Installation]
    authorize_request: Optional[AuthProviderCreateRequestOauth2AuthorizeRequest]
    pushed_authorization_request: Optional[AuthProviderCreateRequestOauth2PushedAuthorizationRequest]
    token_request: OAuth2RequestOfIssuer
    device_authorization_request: Optional[AuthProviderCreateRequestOauth2DeviceAuthorizationRequest]
    refresh_request: OAuth2RequestOfIssuer
    exchange_request: Optional[AuthProviderCreateRequestOauth2ExchangeRequest]
    renewal_request: Optional[AuthProviderCreateRequestOauth2RenewalRequest]
    choices_request: Optional[AuthProviderCreateRequestOauth2ChoicesRequest]
    installations_request: Optional[AuthProviderCreateRequestOauth2InstallationsRequest]
    installation_token_request: Optional[AuthProviderCreateRequestOauth2ExchangeRequest]
    user_info_request: Optional[AuthProviderCreateRequestOauth2UserInfoRequest]
    token_introspection_request: Optional[AuthProviderCreateRequestOauth2TokenIntrospectionRequest]
    revocation_request: Optional[AuthProviderCreateRequestOauth2RevocationRequest]
    verification_hosts: Optional[list[str]]
    unnamed_accounts: Optional[bool]
    client_assertion: Optional[AuthProviderCreateRequestOauth2ClientAssertion]
    unscoped_tokens: Optional[bool]
    installation_uri: Optional[str]
    installation_help_uri: Optional[str]
    assertion: Optional[AuthProviderCreateRequestOauth2Assertion]
    impersonation: Optional[AuthProviderCreateRequestOauth2Impersonation]
    request_object: Optional[AuthProviderCreateRequestOauth2RequestObject]
    dpop: Optional[AuthProviderCreateRequestOauth2Dpop]
    issuer: Optional[str]
    authorization_response_iss_parameter_supported: Optional[bool]
    token_types: Optional[list[str]]
    end_session_endpoint: Optional[str]
    rotation: Optional[AuthProviderCreateRequestOauth2Rotation]
    strict_rotation: Optional[bool]
    refresh_margin: Optional[int]
    refresh_token_expires_in: Optional[int]
    refresh_token_idle: Optional[int]
    keep_alive: Optional[bool]
    default_expires_in: Optional[int]
    environment_client: bool
    api: Optional[AuthProviderCreateRequestOauth2Api]
    scope_implies: Optional[dict[str, list[str]]]
    scope_aliases: Optional[dict[str, str]]
    keeps_earlier_grants: Optional[bool]
    callback_tells_scopes: Optional[bool]
    code_parameter: Optional[str]
    state_parameter: Optional[str]
    callback_members: Optional[dict[str, str]]
    default_scopes: Optional[list[str]]
    account: Optional[AuthProviderCreateRequestOauth2Account]
    public_clients: Optional[bool]
    ignores_id_token: Optional[bool]


class AuthProviderCreateRequestOauth2VariablesValue(TypedDict, total=False):
    value: str
    pattern: str
    one_of: list[str]
    label: str
    example: str
    ask: Literal["operator", "user"]


_AuthProviderCreateRequestOauth2KeptValuesValueNamed = TypedDict("_AuthProviderCreateRequestOauth2KeptValuesValueNamed", {"from": "Literal[\"authorization_response\", \"token_response\", \"user_info\", \"choice\"]"})


class AuthProviderCreateRequestOauth2KeptValuesValue(_AuthProviderCreateRequestOauth2KeptValuesValueNamed, total=False):
    at: str
    pattern: str
    one_of: list[str]
    example: str


class AuthProviderCreateRequestOauth2Pkce(TypedDict, total=False):
    enabled: bool
    code_challenge_method: Optional[str]
    required: Optional[bool]
    code_challenge_encoding: Literal["base64url", "hex", None]


class _AuthProviderCreateRequestOauth2GrantRequired(TypedDict):
    type: Literal["authorization_code", "client_credentials", "account_credentials", "jwt_bearer", "token_exchange", "device_code", "installation"]


class AuthProviderCreateRequestOauth2Grant(_AuthProviderCreateRequestOauth2GrantRequired, total=False):
    subject: Optional[AuthProviderCreateRequestOauth2GrantSubject]


class _AuthProviderCreateRequestOauth2GrantSubjectRequired(TypedDict):
    connection: str


class AuthProviderCreateRequestOauth2GrantSubject(_AuthProviderCreateRequestOauth2GrantSubjectRequired, total=False):
    token: Literal["access_token", "id_token"]


class AuthProviderCreateRequestOauth2Installation(TypedDict, total=False):
    hints: dict[str, str]
    hmac: Optional[AuthProviderCreateRequestOauth2InstallationHmac]
    install_uri: Optional[str]


class AuthProviderCreateRequestOauth2InstallationHmac(TypedDict):
    parameter: str


class AuthProviderCreateRequestOauth2AuthorizeRequest(TypedDict, total=False):
    endpoint: str
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    fragment: Optional[str]


class AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames(TypedDict, total=False):
    client_id: str
    client_secret: str
    code: str
    code_challenge: str
    code_challenge_method: str
    code_verifier: str
    grant_type: str
    redirect_uri: str
    refresh_token: str
    response_type: str
    scope: str


class _AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponseRequired(TypedDict):
    at: str


class AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse(_AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponseRequired, total=False):
    success: list[Union[str, float, bool]]
    code: Optional[str]
    description: Optional[str]
    codes: Optional[dict[str, Literal["invalid_grant", "invalid_client", "unauthorized_client", "invalid_request", "invalid_scope", "unsupported_grant_type", "access_denied", "server_error", "temporarily_unavailable", "slow_down", "authorization_pending", "expired_token"]]]


class AuthProviderCreateRequestOauth2PushedAuthorizationRequest(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth2DeviceAuthorizationRequest(TypedDict, total=False):
    endpoint: str
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]


class _AuthProviderCreateRequestOauth2ExchangeRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth2ExchangeRequest(_AuthProviderCreateRequestOauth2ExchangeRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]


class _AuthProviderCreateRequestOauth2RenewalRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth2RenewalRequest(_AuthProviderCreateRequestOauth2RenewalRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    least_age: Optional[int]


class _AuthProviderCreateRequestOauth2ChoicesRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth2ChoicesRequest(_AuthProviderCreateRequestOauth2ChoicesRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    at: Optional[str]
    id: Optional[str]
    name: Optional[str]
    detail: Optional[str]


class _AuthProviderCreateRequestOauth2InstallationsRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth2InstallationsRequest(_AuthProviderCreateRequestOauth2InstallationsRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    at: Optional[str]
    id: Optional[str]
    name: Optional[str]
    scopes: Optional[str]


class _AuthProviderCreateRequestOauth2UserInfoRequestRequired(TypedDict):
    endpoint: str
    triggers: AuthProviderCreateRequestOauth2UserInfoRequestTriggers


class AuthProviderCreateRequestOauth2UserInfoRequest(_AuthProviderCreateRequestOauth2UserInfoRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]


class AuthProviderCreateRequestOauth2UserInfoRequestTriggers(TypedDict, total=False):
    on_token_grant: bool
    on_token_refresh: bool


class _AuthProviderCreateRequestOauth2TokenIntrospectionRequestRequired(TypedDict):
    endpoint: str
    triggers: AuthProviderCreateRequestOauth2UserInfoRequestTriggers


class AuthProviderCreateRequestOauth2TokenIntrospectionRequest(_AuthProviderCreateRequestOauth2TokenIntrospectionRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    enabled: bool


class _AuthProviderCreateRequestOauth2RevocationRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth2RevocationRequest(_AuthProviderCreateRequestOauth2RevocationRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    revokes: Literal["access_token", "refresh_token", None]
    token_parameter: Optional[str]


class _AuthProviderCreateRequestOauth2ClientAssertionRequired(TypedDict):
    algorithm: Literal["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA", "HS256", "HS384", "HS512"]


class AuthProviderCreateRequestOauth2ClientAssertion(_AuthProviderCreateRequestOauth2ClientAssertionRequired, total=False):
    key_id: Optional[str]
    issuer: Optional[str]
    subject: Optional[str]
    audience: Optional[str]
    lifetime: int


class _AuthProviderCreateRequestOauth2AssertionRequired(TypedDict):
    algorithm: Literal["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA", "HS256", "HS384", "HS512"]


class AuthProviderCreateRequestOauth2Assertion(_AuthProviderCreateRequestOauth2AssertionRequired, total=False):
    key_id: Optional[str]
    issuer: Optional[str]
    subject: Optional[str]
    audience: Optional[str]
    lifetime: int
    claims: Optional[dict[str, Union[str, float, bool]]]


class AuthProviderCreateRequestOauth2Impersonation(TypedDict):
    pattern: str


class AuthProviderCreateRequestOauth2RequestObject(TypedDict, total=False):
    algorithm: Literal["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA", "HS256", "HS384", "HS512", None]
    key_id: Optional[str]


class AuthProviderCreateRequestOauth2Dpop(TypedDict, total=False):
    algorithm: Literal["ES256", "ES384", "ES512", "EdDSA"]
    optional: bool


class _AuthProviderCreateRequestOauth2RotationRequired(TypedDict):
    kind: Literal["none", "single_use", "grace"]


class AuthProviderCreateRequestOauth2Rotation(_AuthProviderCreateRequestOauth2RotationRequired, total=False):
    grace_seconds: Optional[int]


class AuthProviderCreateRequestOauth2Api(TypedDict, total=False):
    base_url: Optional[str]
    hosts: list[str]
    auth_header_value_format: Optional[str]
    headers: Optional[dict[str, str]]


class AuthProviderCreateRequestOauth2Account(TypedDict, total=False):
    id: list[str]
    name: list[str]


class AuthProviderCreateRequestOauth1(TypedDict, total=False):
    variables: Optional[dict[str, Optional[AuthProviderCreateRequestOauth2VariablesValue]]]
    temporary_request: AuthProviderCreateRequestOauth1TemporaryRequest
    authorize_request: AuthProviderCreateRequestOauth1AuthorizeRequest
    token_request: AuthProviderCreateRequestOauth1TokenRequest
    user_info_request: Optional[AuthProviderCreateRequestOauth1UserInfoRequest]
    signature_method: Literal["HMAC-SHA1", "HMAC-SHA256", "RSA-SHA1", "PLAINTEXT", None]
    realm: Optional[str]
    fixed_callback: Optional[bool]
    account: Optional[AuthProviderCreateRequestOauth1Account]
    api: Optional[AuthProviderCreateRequestOauth1Api]
    client_id: str
    client_secret: Optional[str]
    redirect_uri: Optional[str]
    installation_url: JsonValue


class _AuthProviderCreateRequestOauth1TemporaryRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth1TemporaryRequest(_AuthProviderCreateRequestOauth1TemporaryRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    params: Optional[dict[str, str]]


class _AuthProviderCreateRequestOauth1AuthorizeRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth1AuthorizeRequest(_AuthProviderCreateRequestOauth1AuthorizeRequestRequired, total=False):
    params: Optional[dict[str, str]]


class _AuthProviderCreateRequestOauth1TokenRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth1TokenRequest(_AuthProviderCreateRequestOauth1TokenRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    params: Optional[dict[str, str]]


class _AuthProviderCreateRequestOauth1UserInfoRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestOauth1UserInfoRequest(_AuthProviderCreateRequestOauth1UserInfoRequestRequired, total=False):
    params: Optional[dict[str, str]]
    headers: Optional[dict[str, str]]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]


class AuthProviderCreateRequestOauth1Account(TypedDict, total=False):
    id: list[str]
    name: list[str]


class AuthProviderCreateRequestOauth1Api(TypedDict, total=False):
    base_url: Optional[str]
    hosts: list[str]
    headers: Optional[dict[str, str]]


class AuthProviderCreateRequestCredentials(TypedDict, total=False):
    variables: Optional[dict[str, Optional[AuthProviderCreateRequestOauth2VariablesValue]]]
    fields: dict[str, CredentialField]
    place: CredentialPlaceInput
    test_request: Optional[AuthProviderCreateRequestCredentialsTestRequest]
    token_request: Optional[AuthProviderCreateRequestCredentialsTokenRequest]
    unchecked: Optional[bool]
    in_url: Optional[bool]
    account: Optional[AuthProviderCreateRequestCredentialsAccount]
    api: AuthProviderCreateRequestCredentialsApi


class _AuthProviderCreateRequestCredentialsTestRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestCredentialsTestRequest(_AuthProviderCreateRequestCredentialsTestRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    params: Optional[dict[str, str]]
    headers: Optional[dict[str, str]]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]


class _AuthProviderCreateRequestCredentialsTokenRequestRequired(TypedDict):
    endpoint: str


class AuthProviderCreateRequestCredentialsTokenRequest(_AuthProviderCreateRequestCredentialsTokenRequestRequired, total=False):
    method: Literal["GET", "POST", "DELETE", None]
    params: Optional[dict[str, str]]
    headers: Optional[dict[str, str]]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]


class AuthProviderCreateRequestCredentialsAccount(TypedDict, total=False):
    id: list[str]
    name: list[str]


class AuthProviderCreateRequestCredentialsApi(TypedDict, total=False):
    base_url: Optional[str]
    hosts: list[str]
    headers: Optional[dict[str, str]]


class _AuthProviderResponseRequired(TypedDict):
    id: str
    owner: Literal["user", "project", "either"]
    type: Literal["oauth2", "oauth1", "credentials"]
    status: Literal["active", "inactive", "missing"]
    binding: AuthProviderResponseBinding
    created_at: str
    updated_at: str


class AuthProviderResponse(_AuthProviderResponseRequired, total=False):
    description: str
    provider_id: str
    missing: list[str]
    oauth2: AuthProviderResponseOauth2
    oauth1: AuthProviderResponseOauth1
    credentials: AuthProviderResponseCredentials


class AuthProviderResponseBinding(TypedDict):
    id: str
    type: Literal["project"]


class _AuthProviderResponseOauth2Required(TypedDict):
    client_secret: AuthProviderResponseOauth2ClientSecret
    redirect_uri: str
    scope_delimiter: str
    pkce: AuthProviderResponseOauth2Pkce
    authorize_request: AuthProviderResponseOauth2AuthorizeRequest
    token_request: OAuth2Request


class AuthProviderResponseOauth2(_AuthProviderResponseOauth2Required, total=False):
    client_id: str
    installation_url: str
    variables: dict[str, ProviderVariable]
    kept_values: dict[str, AuthProviderResponseOauth2KeptValuesValue]
    grant: AuthProviderResponseOauth2Grant
    installation: AuthProviderResponseOauth2Installation
    pushed_authorization_request: AuthProviderResponseOauth2PushedAuthorizationRequest
    device_authorization_request: OAuth2Request
    refresh_request: OAuth2Request
    exchange_request: OAuth2Request
    renewal_request: AuthProviderResponseOauth2RenewalRequest
    choices_request: AuthProviderResponseOauth2ChoicesRequest
    installations_request: AuthProviderResponseOauth2InstallationsRequest
    installation_token_request: OAuth2Request
    user_info_request: AuthProviderResponseOauth2UserInfoRequest
    token_introspection_request: AuthProviderResponseOauth2TokenIntrospectionRequest
    revocation_request: AuthProviderResponseOauth2RevocationRequest
    verification_hosts: list[str]
    unnamed_accounts: Literal[True]
    client_assertion: AuthProviderResponseOauth2ClientAssertion
    unscoped_tokens: Literal[True]
    installation_uri: str
    installation_help_uri: str
    assertion: AuthProviderResponseOauth2Assertion
    impersonation: AuthProviderResponseOauth2Impersonation
    request_object: AuthProviderResponseOauth2RequestObject
    dpop: AuthProviderResponseOauth2Dpop
    issuer: str
    authorization_response_iss_parameter_supported: bool
    token_types: list[str]
    end_session_endpoint: str
    rotation: AuthProviderResponseOauth2Rotation
    strict_rotation: Literal[True]
    refresh_margin: float
    refresh_token_expires_in: float
    refresh_token_idle: float
    keep_alive: Literal[True]
    default_expires_in: float
    environment_client: Literal[True]
    api: AuthProviderResponseOauth2Api
    scope_implies: dict[str, list[str]]
    scope_aliases: dict[str, str]
    keeps_earlier_grants: bool
    callback_tells_scopes: bool
    code_parameter: str
    state_parameter: str
    callback_members: dict[str, str]
    default_scopes: list[str]
    account: AuthProviderResponseOauth2Account
    public_clients: bool
    ignores_id_token: Literal[True]


class AuthProviderResponseOauth2ClientSecret(TypedDict):
    binding: Literal["project"]
    editable: bool
    exists: bool


_AuthProviderResponseOauth2KeptValuesValueNamed = TypedDict("_AuthProviderResponseOauth2KeptValuesValueNamed", {"from": "Literal[\"authorization_response\", \"token_response\", \"user_info\", \"choice\"]"})


class _AuthProviderResponseOauth2KeptValuesValueRequired(_AuthProviderResponseOauth2KeptValuesValueNamed):
    at: str


class AuthProviderResponseOauth2KeptValuesValue(_AuthProviderResponseOauth2KeptValuesValueRequired, total=False):
    pattern: str
    one_of: list[str]
    example: str


class _AuthProviderResponseOauth2PkceRequired(TypedDict):
    enabled: bool
    code_challenge_method: str


class AuthProviderResponseOauth2Pkce(_AuthProviderResponseOauth2PkceRequired, total=False):
    required: Literal[True]
    code_challenge_encoding: Literal["hex"]


class _AuthProviderResponseOauth2GrantRequired(TypedDict):
    type: Literal["client_credentials", "account_credentials", "jwt_bearer", "token_exchange", "device_code", "installation"]


class AuthProviderResponseOauth2Grant(_AuthProviderResponseOauth2GrantRequired, total=False):
    subject: AuthProviderResponseOauth2GrantSubject


class AuthProviderResponseOauth2GrantSubject(TypedDict):
    connection: str
    token: Literal["access_token", "id_token"]


class _AuthProviderResponseOauth2InstallationRequired(TypedDict):
    hints: dict[str, str]


class AuthProviderResponseOauth2Installation(_AuthProviderResponseOauth2InstallationRequired, total=False):
    hmac: AuthProviderResponseOauth2InstallationHmac
    install_uri: str


class AuthProviderResponseOauth2InstallationHmac(TypedDict):
    parameter: str


class _AuthProviderResponseOauth2AuthorizeRequestRequired(TypedDict):
    endpoint: str
    method: str
    params: dict[str, str]


class AuthProviderResponseOauth2AuthorizeRequest(_AuthProviderResponseOauth2AuthorizeRequestRequired, total=False):
    parameter_names: dict[str, str]
    fragment: str


class AuthProviderResponseOauth2PushedAuthorizationRequest(TypedDict):
    endpoint: str


class _AuthProviderResponseOauth2RenewalRequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str
    least_age: float


class AuthProviderResponseOauth2RenewalRequest(_AuthProviderResponseOauth2RenewalRequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str


class _AuthProviderResponseOauth2ChoicesRequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str
    at: str
    id: str
    name: str


class AuthProviderResponseOauth2ChoicesRequest(_AuthProviderResponseOauth2ChoicesRequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str
    detail: str


class _AuthProviderResponseOauth2InstallationsRequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str
    at: str
    id: str
    name: str


class AuthProviderResponseOauth2InstallationsRequest(_AuthProviderResponseOauth2InstallationsRequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str
    scopes: str


class _AuthProviderResponseOauth2UserInfoRequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str
    triggers: AuthProviderResponseOauth2UserInfoRequestTriggers


class AuthProviderResponseOauth2UserInfoRequest(_AuthProviderResponseOauth2UserInfoRequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str


class AuthProviderResponseOauth2UserInfoRequestTriggers(TypedDict):
    on_token_grant: bool
    on_token_refresh: bool


class _AuthProviderResponseOauth2TokenIntrospectionRequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str
    triggers: AuthProviderResponseOauth2UserInfoRequestTriggers
    enabled: Literal[True]


class AuthProviderResponseOauth2TokenIntrospectionRequest(_AuthProviderResponseOauth2TokenIntrospectionRequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str


class _AuthProviderResponseOauth2RevocationRequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str


class AuthProviderResponseOauth2RevocationRequest(_AuthProviderResponseOauth2RevocationRequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str
    revokes: str
    token_parameter: str


class _AuthProviderResponseOauth2ClientAssertionRequired(TypedDict):
    algorithm: str
    lifetime: float


class AuthProviderResponseOauth2ClientAssertion(_AuthProviderResponseOauth2ClientAssertionRequired, total=False):
    key_id: str
    issuer: str
    subject: str
    audience: str


class _AuthProviderResponseOauth2AssertionRequired(TypedDict):
    algorithm: Literal["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA", "HS256", "HS384", "HS512"]
    lifetime: float


class AuthProviderResponseOauth2Assertion(_AuthProviderResponseOauth2AssertionRequired, total=False):
    key_id: str
    issuer: str
    subject: str
    audience: str
    claims: dict[str, Union[str, float, bool]]


class AuthProviderResponseOauth2Impersonation(TypedDict):
    pattern: str


class AuthProviderResponseOauth2RequestObject(TypedDict, total=False):
    algorithm: str
    key_id: str


class _AuthProviderResponseOauth2DpopRequired(TypedDict):
    algorithm: Literal["ES256", "ES384", "ES512", "EdDSA"]


class AuthProviderResponseOauth2Dpop(_AuthProviderResponseOauth2DpopRequired, total=False):
    optional: Literal[True]


class _AuthProviderResponseOauth2RotationRequired(TypedDict):
    kind: str


class AuthProviderResponseOauth2Rotation(_AuthProviderResponseOauth2RotationRequired, total=False):
    grace_seconds: float


class _AuthProviderResponseOauth2ApiRequired(TypedDict):
    hosts: list[str]


class AuthProviderResponseOauth2Api(_AuthProviderResponseOauth2ApiRequired, total=False):
    base_url: str
    auth_header_value_format: str
    headers: dict[str, str]


class AuthProviderResponseOauth2Account(TypedDict):
    id: list[str]
    name: list[str]


class _AuthProviderResponseOauth1Required(TypedDict):
    temporary_request: AuthProviderResponseOauth1TemporaryRequest
    authorize_request: AuthProviderResponseOauth1AuthorizeRequest
    token_request: AuthProviderResponseOauth1TemporaryRequest
    signature_method: Literal["HMAC-SHA1", "HMAC-SHA256", "RSA-SHA1", "PLAINTEXT"]
    client_secret: AuthProviderResponseOauth2ClientSecret
    redirect_uri: str


class AuthProviderResponseOauth1(_AuthProviderResponseOauth1Required, total=False):
    variables: dict[str, ProviderVariable]
    user_info_request: AuthProviderResponseOauth1UserInfoRequest
    realm: str
    fixed_callback: Literal[True]
    account: AuthProviderResponseOauth2Account
    api: AuthProviderResponseOauth1Api
    client_id: str
    installation_url: str


class AuthProviderResponseOauth1TemporaryRequest(TypedDict):
    endpoint: str
    method: str
    params: dict[str, str]


class AuthProviderResponseOauth1AuthorizeRequest(TypedDict):
    endpoint: str
    params: dict[str, str]


class _AuthProviderResponseOauth1UserInfoRequestRequired(TypedDict):
    endpoint: str
    params: dict[str, str]


class AuthProviderResponseOauth1UserInfoRequest(_AuthProviderResponseOauth1UserInfoRequestRequired, total=False):
    headers: dict[str, str]
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse


class _AuthProviderResponseOauth1ApiRequired(TypedDict):
    hosts: list[str]


class AuthProviderResponseOauth1Api(_AuthProviderResponseOauth1ApiRequired, total=False):
    base_url: str
    headers: dict[str, str]


class _AuthProviderResponseCredentialsRequired(TypedDict):
    fields: dict[str, CredentialField]
    place: AuthProviderResponseCredentialsPlace
    api: AuthProviderResponseOauth1Api


class AuthProviderResponseCredentials(_AuthProviderResponseCredentialsRequired, total=False):
    variables: dict[str, ProviderVariable]
    test_request: AuthProviderResponseCredentialsTestRequest
    token_request: AuthProviderResponseCredentialsTokenRequest
    unchecked: Literal[True]
    in_url: Literal[True]
    account: AuthProviderResponseOauth2Account


class AuthProviderResponseCredentialsPlace(TypedDict, total=False):
    bearer: str
    basic: AuthProviderResponseCredentialsPlaceBasic
    headers: dict[str, str]
    query: dict[str, str]
    path: str


class AuthProviderResponseCredentialsPlaceBasic(TypedDict):
    username: str
    password: str


class _AuthProviderResponseCredentialsTestRequestRequired(TypedDict):
    endpoint: str
    method: str
    params: dict[str, str]
    request_content_type: str


class AuthProviderResponseCredentialsTestRequest(_AuthProviderResponseCredentialsTestRequestRequired, total=False):
    headers: dict[str, str]
    error_response: OAuth2ErrorResponse


class _AuthProviderResponseCredentialsTokenRequestRequired(TypedDict):
    endpoint: str
    method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str


class AuthProviderResponseCredentialsTokenRequest(_AuthProviderResponseCredentialsTokenRequestRequired, total=False):
    headers: dict[str, str]
    error_response: OAuth2ErrorResponse
    response_map: dict[str, str]
    expiration_format: str


class AuthProviderUpdateRequest(TypedDict, total=False):
    id: str
    description: Optional[str]
    provider_id: Optional[str]
    owner: Literal["user", "project", "either", None]
    type: Literal["oauth2", "oauth1", "credentials", None]
    status: Literal["active", "inactive", "missing", None]
    missing: JsonValue
    binding: JsonValue
    created_at: JsonValue
    updated_at: JsonValue
    keep_connections: bool
    oauth2: Optional[AuthProviderUpdateRequestOauth2]
    oauth1: Optional[AuthProviderCreateRequestOauth1]
    credentials: Optional[AuthProviderCreateRequestCredentials]


class AuthProviderUpdateRequestOauth2(TypedDict, total=False):
    client_id: str
    client_secret: Optional[str]
    redirect_uri: Optional[str]
    installation_url: JsonValue
    variables: Optional[dict[str, Optional[AuthProviderCreateRequestOauth2VariablesValue]]]
    kept_values: Optional[dict[str, AuthProviderCreateRequestOauth2KeptValuesValue]]
    scope_delimiter: Literal[" ", ",", None]
    pkce: Optional[AuthProviderCreateRequestOauth2Pkce]
    grant: Optional[AuthProviderCreateRequestOauth2Grant]
    owner: Literal["user", "project", "either", None]
    installation: Optional[AuthProviderCreateRequestOauth2Installation]
    authorize_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    pushed_authorization_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    token_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    device_authorization_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    refresh_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    exchange_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    renewal_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    choices_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    installations_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    installation_token_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    user_info_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    token_introspection_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    revocation_request: Optional[AuthProviderUpdateRequestOauth2AuthorizeRequest]
    verification_hosts: Optional[list[str]]
    unnamed_accounts: Optional[bool]
    client_assertion: Optional[AuthProviderCreateRequestOauth2ClientAssertion]
    unscoped_tokens: Optional[bool]
    installation_uri: Optional[str]
    installation_help_uri: Optional[str]
    assertion: Optional[AuthProviderCreateRequestOauth2Assertion]
    impersonation: Optional[AuthProviderCreateRequestOauth2Impersonation]
    request_object: Optional[AuthProviderCreateRequestOauth2RequestObject]
    dpop: Optional[AuthProviderCreateRequestOauth2Dpop]
    issuer: Optional[str]
    authorization_response_iss_parameter_supported: Optional[bool]
    token_types: Optional[list[str]]
    end_session_endpoint: Optional[str]
    rotation: Optional[AuthProviderCreateRequestOauth2Rotation]
    strict_rotation: Optional[bool]
    refresh_margin: Optional[int]
    refresh_token_expires_in: Optional[int]
    refresh_token_idle: Optional[int]
    keep_alive: Optional[bool]
    default_expires_in: Optional[int]
    environment_client: bool
    api: Optional[AuthProviderCreateRequestOauth2Api]
    scope_implies: Optional[dict[str, list[str]]]
    scope_aliases: Optional[dict[str, str]]
    keeps_earlier_grants: Optional[bool]
    callback_tells_scopes: Optional[bool]
    code_parameter: Optional[str]
    state_parameter: Optional[str]
    callback_members: Optional[dict[str, str]]
    default_scopes: Optional[list[str]]
    account: Optional[AuthProviderCreateRequestOauth2Account]
    public_clients: Optional[bool]
    ignores_id_token: Optional[bool]


class AuthProviderUpdateRequestOauth2AuthorizeRequest(TypedDict, total=False):
    endpoint: str
    method: Literal["GET", "POST", "DELETE", None]
    auth_method: Optional[str]
    params: Optional[dict[str, str]]
    parameter_names: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestParameterNames]
    headers: Optional[dict[str, str]]
    auth_header_value_format: Optional[str]
    request_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_content_type: Literal["application/x-www-form-urlencoded", "application/json", None]
    response_map: Optional[dict[str, str]]
    error_response: Optional[AuthProviderCreateRequestOauth2AuthorizeRequestErrorResponse]
    expiration_format: Literal["relative_seconds", "relative_milliseconds", "absolute_unix_timestamp", "iso_8601", "access_token_jwt", None]
    triggers: AuthProviderCreateRequestOauth2UserInfoRequestTriggers
    enabled: bool
    revokes: Literal["access_token", "refresh_token", None]
    token_parameter: Optional[str]
    least_age: Optional[int]
    fragment: Optional[str]
    at: Optional[str]
    id: Optional[str]
    name: Optional[str]
    scopes: Optional[str]
    detail: Optional[str]


class _AuthorizationRequired(TypedDict):
    id: str
    status: Literal["not_started", "pending", "completed", "failed"]
    user_id: str
    provider_id: str
    scopes: list[str]
    context: AuthorizationContext


class Authorization(_AuthorizationRequired, total=False):
    url: str
    missing_scopes: list[str]
    expires_at: str
    reason: FailureReason
    message: str
    cause: Cause


class AuthorizationContext(TypedDict, total=False):
    token: str
    token_type: str
    expires_at: str
    user_info: JsonObject
    previous_account: AuthorizationContextPreviousAccount


class AuthorizationContextPreviousAccount(TypedDict):
    id: str
    name: str
    connection_id: str


class _AuthorizeRequestRequired(TypedDict):
    auth_requirement: AuthorizeRequestAuthRequirement
    user_id: str


class AuthorizeRequest(_AuthorizeRequestRequired, total=False):
    next_uri: Optional[str]
    user_display: Optional[str]
    lang: Optional[str]
    install_id: Optional[str]
    account: Optional[str]


class AuthorizeRequestAuthRequirement(TypedDict, total=False):
    provider_id: Optional[str]
    id: Optional[str]
    provider_type: Literal["oauth2", None]
    oauth2: Optional[AuthorizeRequestAuthRequirementOauth2]
    variables: Optional[dict[str, str]]


class AuthorizeRequestAuthRequirementOauth2(TypedDict, total=False):
    scopes: Optional[list[str]]


class _BegunConnectSessionRequired(TypedDict):
    id: str
    auth_id: str
    status: Literal["pending", "completed", "failed"]
    expires_at: str
    session_token: str


class BegunConnectSession(_BegunConnectSessionRequired, total=False):
    reason: FailureReason
    message: str
    connection: BegunConnectSessionConnection
    connections: list[BegunConnectSessionConnection]
    url: str


class BegunConnectSessionConnection(TypedDict):
    id: str
    provider_id: str


class _BrandingRequired(TypedDict):
    project_id: str


class Branding(_BrandingRequired, total=False):
    app_name: str
    lang: str
    logo_url: str
    accent: str
    accent_dark: str
    app_url: str
    privacy_url: str
    support_url: str
    texts: dict[str, dict[str, str]]
    domain: OwnDomain
    updated_at: str


class BrandingChanges(TypedDict, total=False):
    app_name: Optional[str]
    lang: Literal["en", "de", "fr", "es", "pt", "ja", "zh", None]
    logo: Optional[str]
    accent: Optional[str]
    accent_dark: Optional[str]
    app_url: Optional[str]
    privacy_url: Optional[str]
    support_url: Optional[str]
    domain: Optional[str]
    texts: Optional[BrandingChangesTexts]


class BrandingChangesTexts(TypedDict, total=False):
    en: OwnTexts
    de: OwnTexts
    fr: OwnTexts
    es: OwnTexts
    pt: OwnTexts
    ja: OwnTexts
    zh: OwnTexts


class _CatalogueEntryRequired(TypedDict):
    id: str
    name: str
    also_known_as: list[str]
    category: str
    verified: bool
    type: Literal["oauth2", "oauth1", "credentials"]
    without_user: bool
    variables: list[str]


class CatalogueEntry(_CatalogueEntryRequired, total=False):
    second_way_of: str
    documentation: str


class Cause(TypedDict):
    code: CauseCode
    message: str
    to_do: str
    who: Literal["user", "operator", "tool_author"]


class _ChainCompletedRequired(TypedDict):
    status: Literal["completed"]
    steps: list[ChainStep]


class ChainCompleted(_ChainCompletedRequired, total=False):
    structured: JsonValue


class ChainFailed(TypedDict):
    status: Literal["failed"]
    steps: list[ChainStep]


class _ChainRequiresAuthorizationRequired(TypedDict):
    status: Literal["requires_authorization"]
    steps: list[ChainStep]
    requires_authorization: ChainRequiresAuthorizationRequiresAuthorization


class ChainRequiresAuthorization(_ChainRequiresAuthorizationRequired, total=False):
    resume: str


class ChainRequiresAuthorizationRequiresAuthorization(TypedDict):
    id: str
    url: str
    scopes: list[str]
    status: Literal["not_started", "pending", "completed", "failed"]
    step: int
    toolId: str


class _ChainStepCompletedRequired(TypedDict):
    toolId: str
    status: Literal["completed"]
    executionId: str
    duration: float


class ChainStepCompleted(_ChainStepCompletedRequired, total=False):
    backend: RunBackend
    structured: JsonValue
    mcpResult: McpResult


class _ChainStepFailedRequired(TypedDict):
    toolId: str
    status: Literal["failed"]
    error: RunError


class ChainStepFailed(_ChainStepFailedRequired, total=False):
    backend: RunBackend
    executionId: str
    duration: float
    mcpResult: McpResult


class ChainStepSkipped(TypedDict):
    toolId: str
    status: Literal["skipped"]


class ChunkEvent(TypedDict):
    kind: Literal["chunk"]
    toolId: str
    data: JsonValue


class _CodeResultRequired(TypedDict):
    value: Any
    stdout: str
    stderr: str
    toolCalls: list[CodeToolCall]
    duration: float
    backend: CodeResultBackend


class CodeResult(_CodeResultRequired, total=False):
    error: CodeResultError
    requires_authorization: CodeResultRequiresAuthorization
    resume: str


class CodeResultBackend(TypedDict):
    kind: Literal["wasm"]
    readiness: Literal["beta"]
    details: CodeResultBackendDetails


class CodeResultBackendDetails(TypedDict):
    engine: Literal["quickjs-ng"]
    language: Literal["javascript", "typescript"]
    limits: CodeResultBackendDetailsLimits


class CodeResultBackendDetailsLimits(TypedDict):
    timeout_ms: int
    memory_mb: int
    tool_calls: int
    chain_steps: int


class _CodeResultErrorRequired(TypedDict):
    kind: Literal["code_error", "timeout", "memory_limit", "tool_call_limit", "chain_step_limit", "output_limit", "sandbox_violation", "cancelled", "replay_diverged"]
    message: str


class CodeResultError(_CodeResultErrorRequired, total=False):
    line: int
    column: int


class CodeResultRequiresAuthorization(TypedDict):
    id: str
    url: str
    scopes: list[str]
    status: Literal["not_started", "pending", "completed", "failed"]
    toolId: str


class _CodeToolCallRequired(TypedDict):
    toolId: str
    duration: float


class CodeToolCall(_CodeToolCallRequired, total=False):
    args: JsonValue
    structured: JsonValue
    truncated: bool
    backendKind: Literal["mcp", "provider", "local"]
    executionId: str
    error: CodeToolCallError
    errorOp: Literal["run", "chain"]
    replayed: bool


class CodeToolCallError(TypedDict):
    kind: str
    message: str
    canRetry: bool


class ConfirmedUser(TypedDict):
    auth_id: str
    next_uri: str


class _ConnectSessionRequired(TypedDict):
    id: str
    auth_id: str
    status: Literal["pending", "completed", "failed"]
    expires_at: str


class ConnectSession(_ConnectSessionRequired, total=False):
    reason: FailureReason
    message: str
    connection: BegunConnectSessionConnection
    connections: list[BegunConnectSessionConnection]


class _ConnectSessionRequestRequired(TypedDict):
    user_id: str
    allowed_origin: str


class ConnectSessionRequest(_ConnectSessionRequestRequired, total=False):
    provider_id: Optional[str]
    scopes: Optional[list[str]]
    account: Optional[str]
    variables: Optional[dict[str, str]]
    tool: Optional[str]
    connection_id: Optional[str]
    next_uri: Optional[str]
    user_display: Optional[str]
    lang: Optional[str]


class _ConnectionRequired(TypedDict):
    id: str
    user_id: str
    provider_id: str
    account: ConnectionAccount
    scopes: list[str]
    status: Literal["active", "needs_authorization"]
    created_at: str
    default: bool


class Connection(_ConnectionRequired, total=False):
    status_reason: Literal["refresh_refused", "consent_withdrawn", "token_expired", "refresh_token_expired", "provider_changed", "refresh_outcome_lost", "account_changed", "credential_refused", "installation_removed", "unreadable"]
    expires_at: str
    last_used_at: str


class ConnectionAccount(TypedDict):
    id: str
    name: str


class CredentialField(TypedDict, total=False):
    label: str
    secret: bool
    pattern: str
    one_of: list[str]
    example: str
    help_url: str
    max: int
    multiline: bool


class CredentialPlaceInput(TypedDict, total=False):
    bearer: str
    basic: CredentialPlaceInputBasic
    headers: Optional[dict[str, str]]
    query: dict[str, str]
    path: str


class CredentialPlaceInputBasic(TypedDict):
    username: str
    password: str


class DeletedConnection(TypedDict):
    id: str
    revocation: Literal["revoked", "unsupported", "failed"]


class _DescribedToolRequired(TypedDict):
    fully_qualified_name: str
    qualified_name: str
    name: str
    tool_id: str
    description: str
    toolkit: DescribedToolToolkit
    input: DescribedToolInput
    output: DescribedToolOutput
    requirements: ToolRequirements


class DescribedTool(_DescribedToolRequired, total=False):
    metadata: JsonObject
    tags: list[str]
    formatted_schema: DescribedToolFormattedSchema


class _DescribedToolToolkitRequired(TypedDict):
    name: str


class DescribedToolToolkit(_DescribedToolToolkitRequired, total=False):
    version: str
    description: str


class DescribedToolInput(TypedDict):
    parameters: list[ToolParameter]


class _DescribedToolOutputRequired(TypedDict):
    available_modes: list[str]


class DescribedToolOutput(_DescribedToolOutputRequired, total=False):
    description: str
    value_schema: ValueSchema


class DescribedToolFormattedSchema(TypedDict, total=False):
    openai: OpenAiTool
    anthropic: AnthropicTool
    mcp: McpTool
    jsonschema: JsonSchema
    json_schema: JsonSchema
    arcade: ToolDefinition
    oxp: OxpTool


class _DiagnosisCheckRequired(TypedDict):
    name: str
    status: Literal["ok", "warning", "failed"]
    message: str


class DiagnosisCheck(_DiagnosisCheckRequired, total=False):
    fix: str


class DoneEvent(TypedDict):
    kind: Literal["done"]
    toolId: str
    data: DoneEventData


class _DoneEventDataRequired(TypedDict):
    executionId: str
    duration: float


class DoneEventData(_DoneEventDataRequired, total=False):
    backend: RunBackend
    structured: JsonValue
    mcpResult: McpResult


class _ErrorBodyRequired(TypedDict):
    name: ErrorCode
    message: str


class ErrorBody(_ErrorBodyRequired, total=False):
    errors: list[ErrorBodyErrorsItem]
    cause: Cause
    requires_authorization: RequiredAuthorization


class _ErrorBodyErrorsItemRequired(TypedDict):
    path: str
    code: FaultCode
    message: str


class ErrorBodyErrorsItem(_ErrorBodyErrorsItemRequired, total=False):
    line: int
    column: int
    label: str
    catalogued: str


class ErrorDescription(TypedDict, total=False):
    failed_if: list[AnswerCondition]
    code: list[str]
    message: list[str]
    details: list[str]
    kinds: dict[str, Literal["bad_token", "forbidden", "not_found", "invalid_input", "rate_limit", "quota", "server"]]
    sentences: dict[str, str]
    advice: dict[str, str]
    wait: list[ErrorDescriptionWaitItem]


class _ErrorDescriptionWaitItemRequired(TypedDict):
    unit: Literal["seconds", "milliseconds", "epoch_seconds", "epoch_milliseconds", "time"]


class ErrorDescriptionWaitItem(_ErrorDescriptionWaitItemRequired, total=False):
    header: str
    at: str
    amount: float


class ErrorEvent(TypedDict):
    kind: Literal["error"]
    toolId: str
    data: Union[ErrorEventDataExecutionId, ErrorEventDataExecutionId_, ErrorBody]


class _ErrorEventDataExecutionIdRequired(TypedDict):
    executionId: str
    duration: float
    error: RunError


class ErrorEventDataExecutionId(_ErrorEventDataExecutionIdRequired, total=False):
    backend: RunBackend
    mcpResult: McpResult


class _ErrorEventDataExecutionId_Required(TypedDict):
    executionId: str
    duration: float
    requires_authorization: RequiredAuthorization


class ErrorEventDataExecutionId_(_ErrorEventDataExecutionId_Required, total=False):
    backend: RunBackend


class _ExecuteErrorRequired(TypedDict):
    message: str
    can_retry: bool
    developer_message: str


class ExecuteError(_ExecuteErrorRequired, total=False):
    additional_prompt_content: str
    retry_after_ms: float


class ExecuteOutputValue(TypedDict):
    value: JsonValue


class ExecuteOutputError(TypedDict):
    error: ExecuteError


class ExecuteOutputRequiresAuthorization(TypedDict):
    requires_authorization: RequiredAuthorization


class ExecuteOutputArtifact(TypedDict):
    artifact: Artifact


class _ExecuteResultRequired(TypedDict):
    execution_id: str
    duration: float
    finished_at: str
    success: bool


class ExecuteResult(_ExecuteResultRequired, total=False):
    output: ExecuteOutput


class _ExplainedStepRequired(TypedDict):
    at: str
    step: Literal["begun", "link_opened", "logged_in", "clicked", "pushed_authorization", "temporary_credentials", "device_authorization", "sent_to_provider", "callback", "refused", "user_confirmed", "code_exchange", "user_info", "introspection", "choices", "stored", "ended", "connected", "refreshed", "refresh_failed", "needs_authorization", "used"]
    details: ExplainedStepDetails


class ExplainedStep(_ExplainedStepRequired, total=False):
    provider_id: str
    attempt: int


class ExplainedStepDetails(TypedDict, total=False):
    endpoint: str
    method: str
    authentication: str
    parameters: list[str]
    scopes: list[str]
    missing_scopes: list[str]
    redirect_uri: str
    code_challenge_method: str
    status: int
    failure: str
    took_ms: int
    received: list[str]
    error: str
    description: str
    reason: str
    message: str
    claim: str
    clock_difference_seconds: int
    connection_id: str
    account: str
    previous_account: str
    by: str
    times: int
    first_at: str
    unanswered: int


class _ExplanationRequired(TypedDict):
    id: str
    kind: Literal["authorization", "connection"]
    user_id: str
    status: Literal["pending", "completed", "failed", "active", "needs_authorization"]
    created_at: str
    providers: list[ExplanationProvidersItem]
    steps: list[ExplainedStep]


class Explanation(_ExplanationRequired, total=False):
    reason: str
    message: str
    requester: str
    expires_at: str
    ended_at: str
    earlier_steps_dropped: Literal[True]
    cause: Cause


class _ExplanationProvidersItemRequired(TypedDict):
    provider_id: str
    name: str
    scopes: list[str]


class ExplanationProvidersItem(_ExplanationProvidersItemRequired, total=False):
    redirect_uri: str
    missing_scopes: list[str]
    connection_id: str


class _ForeignConnectionRequired(TypedDict):
    user_id: str
    provider_id: str
    access_token: str


class ForeignConnection(_ForeignConnectionRequired, total=False):
    refresh_token: str
    token_type: str
    expires_at: Union[str, float]
    scopes: list[str]
    account: ForeignConnectionAccount
    user_info: dict[str, JsonValue]
    extra: dict[str, JsonValue]
    kept_values: dict[str, str]
    token_secret: str
    dpop_key: dict[str, str]
    default: bool


class ForeignConnectionAccount(TypedDict, total=False):
    id: str
    name: str


class HttpWorkerChange(TypedDict, total=False):
    uri: str
    secret: str
    timeout: int
    retry: int


class _HttpWorkerRegistrationRequired(TypedDict):
    uri: str
    secret: str


class HttpWorkerRegistration(_HttpWorkerRegistrationRequired, total=False):
    timeout: int
    retry: int


class HttpWorkerSettings(TypedDict):
    uri: str
    timeout: float
    retry: float
    secret: KeptSecret


class ImportResult(TypedDict):
    items: list[ImportedTool]


class _ImportedConnectionRequired(TypedDict):
    index: int
    result: Literal["created", "replaced", "present", "refused"]


class ImportedConnection(_ImportedConnectionRequired, total=False):
    connection_id: str
    check: Literal["refreshed", "refused", "unavailable", "not_possible"]
    member: str
    reason: str


class _ImportedToolRequired(TypedDict):
    name: str
    result: Literal["created", "updated", "unchanged", "refused"]
    providers: list[ImportedToolProvidersItem]
    warnings: list[ImportedToolWarningsItem]


class ImportedTool(_ImportedToolRequired, total=False):
    tool_id: str
    reason: str


class _ImportedToolProvidersItemRequired(TypedDict):
    id: str
    name: str
    missing: list[str]


class ImportedToolProvidersItem(_ImportedToolProvidersItemRequired, total=False):
    redirect_uri: str


class ImportedToolWarningsItem(TypedDict):
    path: str
    message: str


class _IssuedApiKeyRequired(TypedDict):
    id: str
    key: str
    project: str
    role: Literal["admin", "caller", "readonly", "approver"]
    name: str


class IssuedApiKey(_IssuedApiKeyRequired, total=False):
    user_id: str
    groups: list[str]
    expires_at: str
    rate_limit: int


class KeptSecret(TypedDict):
    binding: Literal["project"]
    editable: Literal[True]
    exists: bool


class _McpClientRequired(TypedDict):
    id: str
    user_id: str
    client_id: str
    client_name: str
    redirect_uri: str
    scopes: list[str]
    has_access: bool
    created_at: str


class McpClient(_McpClientRequired, total=False):
    last_used_at: str


class McpResult(TypedDict, total=False):
    content: list[JsonObject]
    structuredContent: JsonValue
    isError: bool
    _meta: JsonObject


class _McpToolRequired(TypedDict):
    name: str
    title: str
    description: str
    inputSchema: JsonSchema


class McpTool(_McpToolRequired, total=False):
    outputSchema: JsonSchema
    annotations: ToolAnnotations
    icons: list[JsonObject]
    _meta: JsonObject


class McpToolRequirements(TypedDict, total=False):
    authorization: list[McpToolRequirementsAuthorizationItem]
    secrets: list[str]


class McpToolRequirementsAuthorizationItem(TypedDict, total=False):
    id: str
    provider_id: str
    scopes: list[str]


class McpWorkerChange(TypedDict, total=False):
    uri: str
    secret: Optional[str]
    timeout: int
    retry: int
    secrets: Optional[dict[str, Optional[str]]]
    oauth2: Optional[McpWorkerChangeOauth2]
    headers: Optional[dict[str, str]]
    namespace: Optional[str]
    token_meta: Optional[str]
    providers: Optional[list[str]]
    requirements: McpWorkerChangeRequirements


class McpWorkerChangeOauth2(TypedDict, total=False):
    client_id: Optional[str]
    client_secret: Optional[str]
    authorization_url: Optional[str]
    external_id: Optional[str]
    scopes: Optional[list[str]]


class McpWorkerChangeRequirements(TypedDict, total=False):
    authorization: list[McpToolRequirementsAuthorizationItem]
    secrets: list[str]
    tools: dict[str, McpToolRequirements]


class _McpWorkerRegistrationRequired(TypedDict):
    uri: str


class McpWorkerRegistration(_McpWorkerRegistrationRequired, total=False):
    secret: Optional[str]
    timeout: int
    retry: int
    secrets: Optional[dict[str, str]]
    oauth2: Optional[McpWorkerChangeOauth2]
    headers: Optional[dict[str, str]]
    namespace: Optional[str]
    token_meta: Optional[str]
    providers: Optional[list[str]]
    requirements: McpWorkerChangeRequirements


class _McpWorkerSettingsRequired(TypedDict):
    uri: str
    timeout: float
    retry: float


class McpWorkerSettings(_McpWorkerSettingsRequired, total=False):
    secret: KeptSecret
    headers: dict[str, str]
    secrets: dict[str, KeptSecret]
    namespace: str
    token_meta: str
    providers: list[str]
    requirements: McpWorkerSettingsRequirements
    external_id: str
    redirect_uri: str
    oauth2: McpWorkerSettingsOauth2
    authorization: McpWorkerSettingsAuthorization


class McpWorkerSettingsRequirements(TypedDict, total=False):
    authorization: list[McpToolRequirementsAuthorizationItem]
    secrets: list[str]
    tools: dict[str, McpToolRequirements]


class _McpWorkerSettingsOauth2Required(TypedDict):
    client_secret: KeptSecret


class McpWorkerSettingsOauth2(_McpWorkerSettingsOauth2Required, total=False):
    client_id: str
    authorization_url: str
    external_id: str
    scopes: list[str]
    redirect_uri: str
    supported_scopes: list[str]


class _McpWorkerSettingsAuthorizationRequired(TypedDict):
    scopes: list[str]


class McpWorkerSettingsAuthorization(_McpWorkerSettingsAuthorizationRequired, total=False):
    user_id: str


class _NewPackRequired(TypedDict):
    id: str


class NewPack(_NewPackRequired, total=False):
    read_only: bool
    tools: list[str]
    provider_id: str
    approvals: Union[Literal["user"], NewPackApprovalsGroup, Literal[False]]


class NewPackApprovalsGroup(TypedDict):
    group: str


class _NewPolicyRequired(TypedDict):
    id: str
    effect: Literal["allow", "deny", "hook", "approve"]
    match: PolicyMatch


class NewPolicy(_NewPolicyRequired, total=False):
    description: Optional[str]
    enabled: bool
    hook: NewPolicyHook
    approve: PolicyApproval


class _NewPolicyHookRequired(TypedDict):
    url: str


class NewPolicyHook(_NewPolicyHookRequired, total=False):
    format: Literal["arcade", "authzen"]
    timeout_ms: int
    on_failure: Literal["deny", "allow"]
    secret: str


class _NewWebhookRequired(TypedDict):
    url: str


class NewWebhook(_NewWebhookRequired, total=False):
    description: str
    types: list[Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]]
    enabled: bool


class _OAuth2ErrorResponseRequired(TypedDict):
    at: str
    success: list[str]


class OAuth2ErrorResponse(_OAuth2ErrorResponseRequired, total=False):
    code: str
    description: str
    codes: dict[str, str]


class _OAuth2RequestRequired(TypedDict):
    endpoint: str
    method: str
    auth_method: str
    params: dict[str, str]
    request_content_type: str
    response_content_type: str


class OAuth2Request(_OAuth2RequestRequired, total=False):
    parameter_names: dict[str, str]
    headers: dict[str, str]
    auth_header_value_format: str
    response_map: dict[str, str]
    error_response: OAuth2ErrorResponse
    expiration_format: str


class OpenAiTool(TypedDict):
    type: Literal["function"]
    function: OpenAiToolFunction


class OpenAiToolFunction(TypedDict):
    name: str
    description: str
    parameters: JsonSchema


class _OpenapiCredentialIdRequired(TypedDict):
    id: str


class OpenapiCredentialId(_OpenapiCredentialIdRequired, total=False):
    scopes: list[str]
    header: str
    always: bool


class _OpenapiCredentialProviderIdRequired(TypedDict):
    provider_id: str


class OpenapiCredentialProviderId(_OpenapiCredentialProviderIdRequired, total=False):
    scopes: list[str]
    header: str
    always: bool


class _OpenapiCredentialSecretRequired(TypedDict):
    secret: str


class OpenapiCredentialSecret(_OpenapiCredentialSecretRequired, total=False):
    header: str
    always: bool


class _OpenapiRequestRequired(TypedDict):
    name: str
    description: str
    url: str
    input_schema: JsonSchema


class OpenapiRequest(_OpenapiRequestRequired, total=False):
    version: str
    title: str
    method: str
    path: dict[str, JsonValue]
    headers: dict[str, JsonValue]
    query: dict[str, JsonValue]
    body: JsonValue
    content_type: str
    follow_redirects: bool
    output_schema: JsonSchema
    tags: list[str]
    annotations: ToolAnnotations
    authorization: Union[OpenapiRequestToken, OpenapiRequestTokenByKind, OpenapiRequestAuthorizationSecret, list[OpenapiRequestCredential]]
    answer: AnswerDescription
    errors: ErrorDescription
    pages: OpenapiRequestPages


_OpenapiRequestAuthorizationSecretNamed = TypedDict("_OpenapiRequestAuthorizationSecretNamed", {"in": "Literal[\"header\", \"query\"]"})


class OpenapiRequestAuthorizationSecret(_OpenapiRequestAuthorizationSecretNamed):
    secret: str
    name: str


class _OpenapiRequestPagesRequired(TypedDict):
    by: Literal["token", "link", "number", "offset", "last"]


class OpenapiRequestPages(_OpenapiRequestPagesRequired, total=False):
    at: str
    parameters: list[str]
    after: str
    more: AnswerCondition
    request: OpenapiRequestPagesRequest


class OpenapiRequestPagesRequest(TypedDict, total=False):
    method: str
    url: str
    path: dict[str, JsonValue]
    headers: dict[str, JsonValue]
    query: dict[str, JsonValue]
    body: JsonValue
    content_type: str


class _OpenapiRequestTokenRequired(TypedDict):
    id: str


class OpenapiRequestToken(_OpenapiRequestTokenRequired, total=False):
    scopes: list[str]
    alternatives: list[list[str]]
    header: str


class _OpenapiRequestTokenByKindRequired(TypedDict):
    provider_id: str


class OpenapiRequestTokenByKind(_OpenapiRequestTokenByKindRequired, total=False):
    scopes: list[str]
    alternatives: list[list[str]]
    header: str


class OpenapiWorkerChange(TypedDict, total=False):
    document: Union[str, JsonObject]
    url: str
    request: OpenapiRequest
    requests: list[OpenapiRequest]
    server_url: str
    namespace: str
    authorization: dict[str, OpenapiCredential]
    operations: OpenapiWorkerChangeOperations
    headers: dict[str, str]
    check_output: bool
    timeout: int
    retry: int


class OpenapiWorkerChangeOperations(TypedDict, total=False):
    include: list[str]
    exclude: list[str]


class OpenapiWorkerRegistration(TypedDict, total=False):
    document: Union[str, JsonObject]
    url: str
    request: OpenapiRequest
    requests: list[OpenapiRequest]
    server_url: str
    namespace: str
    authorization: dict[str, OpenapiCredential]
    operations: OpenapiWorkerChangeOperations
    headers: dict[str, str]
    check_output: bool
    timeout: int
    retry: int


class _OpenapiWorkerSettingsRequired(TypedDict):
    timeout: float
    retry: float


class OpenapiWorkerSettings(_OpenapiWorkerSettingsRequired, total=False):
    document: OpenapiWorkerSettingsDocument
    url: str
    request: OpenapiRequest
    requests: list[OpenapiRequest]
    server_url: str
    namespace: str
    authorization: dict[str, OpenapiCredential]
    operations: OpenapiWorkerSettingsOperations
    headers: dict[str, str]
    check_output: bool


class _OpenapiWorkerSettingsDocumentRequired(TypedDict):
    openapi: str


class OpenapiWorkerSettingsDocument(_OpenapiWorkerSettingsDocumentRequired, total=False):
    title: str
    version: str


class OpenapiWorkerSettingsOperations(TypedDict, total=False):
    include: list[str]
    exclude: list[str]


class _OwnDomainRequired(TypedDict):
    name: str
    status: Literal["unproved", "proved"]
    challenge: OwnDomainChallenge
    origin: str
    redirect_uris: list[OwnDomainRedirectUrisItem]


class OwnDomain(_OwnDomainRequired, total=False):
    proved_at: str
    login_redirect_uri: str


class OwnDomainChallenge(TypedDict):
    type: Literal["TXT"]
    name: str
    value: str


class OwnDomainRedirectUrisItem(TypedDict):
    provider_id: str
    redirect_uri: str


_OwnTextsMayBeNamed = TypedDict("_OwnTextsMayBeNamed", {"connect.note": "str", "completed.note": "str", "failed.note": "str"}, total=False)


class OwnTexts(_OwnTextsMayBeNamed, total=False):
    pass


class _OxpCallRequired(TypedDict):
    tool_id: str


class OxpCall(_OxpCallRequired, total=False):
    call_id: Optional[str]
    trace_id: Optional[str]
    input: Optional[JsonObject]
    inputs: Optional[dict[str, JsonValue]]
    context: Optional[OxpCallContext]


class OxpCallContext(TypedDict, total=False):
    authorization: Optional[list[OxpCallContextAuthorizationItem]]
    secrets: Optional[list[OxpCallContextSecretsItem]]
    user_id: Optional[str]


class _OxpCallContextAuthorizationItemRequired(TypedDict):
    id: str


class OxpCallContextAuthorizationItem(_OxpCallContextAuthorizationItemRequired, total=False):
    token: Optional[str]


class _OxpCallContextSecretsItemRequired(TypedDict):
    id: str


class OxpCallContextSecretsItem(_OxpCallContextSecretsItemRequired, total=False):
    value: Optional[str]


class OxpFailure(TypedDict):
    call_id: str
    duration: float
    success: Literal[False]
    error: ExecuteError


class OxpSuccess(TypedDict):
    call_id: str
    duration: float
    success: Literal[True]
    value: JsonValue


class _OxpToolRequired(TypedDict):
    id: str
    name: str
    description: str
    version: str
    input_schema: JsonSchema
    output_schema: Optional[JsonSchema]


class OxpTool(_OxpToolRequired, total=False):
    requirements: OxpToolRequirements


class OxpToolRequirements(TypedDict, total=False):
    authorization: list[OxpToolRequirementsAuthorizationItem]
    secrets: list[AddedPackWorker]
    user_id: Literal[True]


class OxpToolRequirementsAuthorizationItem(TypedDict):
    id: str
    oauth2: OxpToolRequirementsAuthorizationItemOauth2


class OxpToolRequirementsAuthorizationItemOauth2(TypedDict):
    scopes: list[str]


class OxpWorkerChange(TypedDict, total=False):
    uri: str
    api_key: Optional[str]
    jwt_secret: Optional[str]
    audience: Optional[str]
    envelope: Literal["request", "none"]
    timeout: int
    retry: int


class _OxpWorkerRegistrationRequired(TypedDict):
    uri: str


class OxpWorkerRegistration(_OxpWorkerRegistrationRequired, total=False):
    api_key: str
    jwt_secret: str
    audience: str
    envelope: Literal["request", "none"]
    timeout: int
    retry: int


class _OxpWorkerSettingsRequired(TypedDict):
    uri: str
    envelope: Literal["request", "none"]
    timeout: float
    retry: float


class OxpWorkerSettings(_OxpWorkerSettingsRequired, total=False):
    api_key: KeptSecret
    jwt_secret: KeptSecret
    audience: str


class Pack(TypedDict):
    id: str
    name: str
    summary: str
    provider_id: str
    version: str
    tool_count: int
    checked_count: int
    compared: PackCompared
    checked_at: str
    source: Literal["gatepass", "own"]


class PackCompared(TypedDict):
    description: int
    client: int
    nothing: int


class _PackDetailRequired(TypedDict):
    id: str
    name: str
    summary: str
    provider_id: str
    version: str
    tool_count: int
    checked_count: int
    compared: PackCompared
    checked_at: str
    source: Literal["gatepass", "own"]
    sources: list[str]
    tools: list[PackTool]
    scopes: list[str]
    worker: JsonObject
    toolset: JsonObject


class PackDetail(_PackDetailRequired, total=False):
    policy: JsonObject


class PackTool(TypedDict):
    name: str
    description: str
    provider_id: str
    scopes: list[str]
    approval: Literal["none", "ask"]
    read_only: bool
    destructive: bool
    checks: list[Literal["description", "client"]]


class _PackUpdateRequired(TypedDict):
    id: str
    version: str
    dry_run: bool
    unchanged: int
    changed: list[PackUpdateChangedItem]
    gone: list[str]
    new: list[str]


class PackUpdate(_PackUpdateRequired, total=False):
    waiting: list[str]


class PackUpdateChangedItem(TypedDict):
    name: str
    members: list[PackUpdateChangedItemMembersItem]


class _PackUpdateChangedItemMembersItemRequired(TypedDict):
    at: str


class PackUpdateChangedItemMembersItem(_PackUpdateChangedItemMembersItemRequired, total=False):
    before: JsonValue
    after: JsonValue


class _PolicyRequired(TypedDict):
    id: str
    enabled: bool
    effect: Literal["allow", "deny", "hook", "approve"]
    match: PolicyMatch
    created_at: str
    updated_at: str


class Policy(_PolicyRequired, total=False):
    description: str
    hook: PolicyHook
    approve: PolicyApproval


class PolicyHook(TypedDict):
    url: str
    format: Literal["arcade", "authzen"]
    timeout_ms: int
    on_failure: Literal["deny", "allow"]
    secret: PolicyHookSecret


class PolicyHookSecret(TypedDict):
    exists: bool


class PolicyApproval(TypedDict, total=False):
    by: Union[Literal["user", "user_in_client"], PolicyApprovalByGroup]
    expires_seconds: int
    use_within_seconds: int
    remember: list[Literal["once", "hour", "standing"]]


class _PolicyApprovalByGroupRequired(TypedDict):
    group: str


class PolicyApprovalByGroup(_PolicyApprovalByGroupRequired, total=False):
    count: int


class _PolicyArgumentRequired(TypedDict):
    at: str


_PolicyArgumentMayBeNamed = TypedDict("_PolicyArgumentMayBeNamed", {"as": "Literal[\"email\", \"url\"]", "not": "PolicyArgumentNot"}, total=False)


class PolicyArgument(_PolicyArgumentRequired, _PolicyArgumentMayBeNamed, total=False):
    one_of: list[Optional[Union[str, float, bool]]]
    matches: str
    domains: list[str]
    schema: dict[str, JsonValue]
    missing: Literal["match", "no_match"]


class PolicyArgumentNot(TypedDict, total=False):
    one_of: list[Optional[Union[str, float, bool]]]
    matches: str
    domains: list[str]
    schema: dict[str, JsonValue]


class PolicyDryRun(TypedDict):
    since: str
    until: str
    complete: bool
    uses: int
    permitted: int
    refused: int
    asked: int
    undecided: int
    refused_by: list[PolicyDryRunRefusedByItem]
    asked_by: list[PolicyDryRunAskedByItem]
    samples: list[PolicyDryRunSamplesItem]


class PolicyDryRunRefusedByItem(TypedDict):
    id: str
    refused: int


class PolicyDryRunAskedByItem(TypedDict):
    id: str
    asked: int
    by: Union[Literal["user", "user_in_client"], PolicyApprovalByGroup]


class _PolicyDryRunSamplesItemRequired(TypedDict):
    at: str
    seq: int
    user_id: str
    use: Literal["tool", "proxy", "token"]
    providers: list[str]
    decision: Literal["refused", "asked", "undecided"]
    policies: list[str]


class PolicyDryRunSamplesItem(_PolicyDryRunSamplesItemRequired, total=False):
    tool: str
    reason: Literal["denied", "not_allowed", "arguments_failed", "rate", "quota", "hook_refused", "hook_failed", "not_approved"]
    because: list[Literal["arguments", "hook", "hosts", "scopes", "workers"]]


class PolicyMatch(TypedDict, total=False):
    users: list[str]
    tools: list[str]
    workers: list[str]
    providers: list[str]
    owners: list[Literal["user", "project"]]
    scopes: list[str]
    hosts: list[str]
    uses: list[Literal["tool", "proxy", "token"]]
    hints: list[Literal["read_only", "destructive", "open_world"]]
    methods: list[str]
    paths: list[str]
    arguments: list[PolicyArgument]
    time: PolicyMatchTime
    rate: PolicyMatchRate
    quota: PolicyMatchQuota


_PolicyMatchTimeMayBeNamed = TypedDict("_PolicyMatchTimeMayBeNamed", {"from": "str"}, total=False)


class PolicyMatchTime(_PolicyMatchTimeMayBeNamed, total=False):
    days: list[int]
    to: str
    zone: str


class PolicyMatchRate(TypedDict):
    limit: int
    seconds: int
    per: Literal["user", "tool", "project"]


class _PolicyMatchQuotaRequired(TypedDict):
    limit: int
    per: Literal["user", "tool", "agent", "project"]
    window: Literal["hour", "day"]


class PolicyMatchQuota(_PolicyMatchQuotaRequired, total=False):
    zone: str


class _PolicyVerdictRequired(TypedDict):
    decision: Literal["permitted", "refused", "depends"]
    refused_by: list[str]
    undecided: list[PolicyVerdictUndecidedItem]


class PolicyVerdict(_PolicyVerdictRequired, total=False):
    reason: Literal["denied", "not_allowed", "arguments_failed"]
    asks: list[PolicyVerdictAsksItem]
    without_scopes: list[str]


class PolicyVerdictUndecidedItem(TypedDict):
    id: str
    by: Literal["arguments", "owners", "rate", "quota", "hook", "approval"]


class PolicyVerdictAsksItem(TypedDict):
    id: str
    by: Union[Literal["user", "user_in_client"], PolicyApprovalByGroup]


class PortalLink(TypedDict):
    url: str
    expires_at: str


class PortalLinkRequest(TypedDict, total=False):
    return_url: Optional[str]
    user_display: Optional[str]
    lang: Optional[str]
    may: list[Literal["view", "disconnect", "connect", "approve", "export", "erase"]]
    seconds: int


class ProgressEvent(TypedDict):
    kind: Literal["progress"]
    toolId: str
    data: ProgressEventData


class _ProgressEventDataRequired(TypedDict):
    progress: float


class ProgressEventData(_ProgressEventDataRequired, total=False):
    total: float
    message: str


class Project(TypedDict):
    id: str
    name: str
    created_at: str


class ProviderVariable(TypedDict, total=False):
    value: str
    ask: Literal["user"]
    pattern: str
    one_of: list[str]
    label: str
    example: str


class _ProxyErrorRequired(TypedDict):
    name: ErrorCode
    message: str


class ProxyError(_ProxyErrorRequired, total=False):
    errors: list[ErrorBodyErrorsItem]
    cause: Cause
    requires_authorization: RequiredAuthorization


class _QuotaRequired(TypedDict):
    policy_id: str
    per: Literal["user", "tool", "agent", "project"]
    used: int
    limit: int
    window_start: str
    window_end: str


class Quota(_QuotaRequired, total=False):
    subject: str


class RequiredAuthorization(TypedDict):
    id: str
    url: str
    scopes: list[str]
    status: Literal["not_started", "pending", "completed", "failed"]


class _RequiredProviderRequired(TypedDict):
    provider_type: Literal["oauth2"]
    oauth2: OxpToolRequirementsAuthorizationItemOauth2


class RequiredProvider(_RequiredProviderRequired, total=False):
    id: str
    provider_id: str
    status: Literal["active", "inactive"]
    status_reason: str
    token_status: Literal["not_started", "pending", "completed", "failed"]


class _RequiredSecretRequired(TypedDict):
    key: str


class RequiredSecret(_RequiredSecretRequired, total=False):
    met: bool
    status_reason: str


class _RequiredWorkerRequired(TypedDict):
    id: str
    met: bool
    status: Literal["active", "inactive", "unreachable"]


class RequiredWorker(_RequiredWorkerRequired, total=False):
    status_reason: str


class RunBackendKind(TypedDict):
    kind: Literal["mcp"]
    mcp: RunBackendKindMcp


class RunBackendKindMcp(TypedDict):
    serverName: str


class RunBackendKind_(TypedDict):
    kind: Literal["provider"]
    provider: RunBackendKind_Provider


class RunBackendKind_Provider(TypedDict):
    providerId: str
    toolId: str


class RunBackendKind__(TypedDict):
    kind: Literal["local"]
    local: RunBackendKind__Local


class RunBackendKind__Local(TypedDict):
    name: str


class _RunErrorRequired(TypedDict):
    kind: ToolErrorKind
    message: str
    can_retry: bool
    op: Literal["resolve", "select_backend", "validate_input", "execute", "validate_output"]
    toolId: str


class RunError(_RunErrorRequired, total=False):
    additional_prompt_content: str
    retry_after_ms: float
    developer_message: str
    status_code: int
    extra: JsonObject


class _RunFailedRequired(TypedDict):
    tool: RunTool
    executionId: str
    duration: float
    error: RunError


class RunFailed(_RunFailedRequired, total=False):
    backend: RunBackend
    mcpResult: McpResult


class _RunHeldRequired(TypedDict):
    tool: RunTool
    executionId: str
    duration: float
    status: Literal["scheduled", "waiting_for_approval", "running", "completed", "failed", "cancelled"]


class RunHeld(_RunHeldRequired, total=False):
    backend: RunBackend
    requires_authorization: RequiredAuthorization


class _RunRequestRequired(TypedDict):
    toolId: str


class RunRequest(_RunRequestRequired, total=False):
    tool_version: Optional[str]
    args: JsonObject
    user_id: Optional[str]
    account: Optional[str]
    accounts: Optional[dict[str, str]]
    next_uri: Optional[str]
    user_display: Optional[str]
    lang: Optional[str]
    metadata: Optional[dict[str, str]]
    keep_content: Optional[bool]
    when_approved: Literal["run", None]


class _RunRequiresAuthorizationRequired(TypedDict):
    tool: RunTool
    executionId: str
    duration: float
    requires_authorization: RequiredAuthorization


class RunRequiresAuthorization(_RunRequiresAuthorizationRequired, total=False):
    backend: RunBackend


class _RunSucceededRequired(TypedDict):
    tool: RunTool
    executionId: str
    duration: float


class RunSucceeded(_RunSucceededRequired, total=False):
    backend: RunBackend
    structured: JsonValue
    mcpResult: McpResult


class _RunToolRequired(TypedDict):
    name: str
    title: str
    description: str
    inputSchema: JsonSchema
    tags: list[str]


class RunTool(_RunToolRequired, total=False):
    namespace: str
    version: str
    outputSchema: JsonSchema
    annotations: ToolAnnotations
    _meta: JsonObject
    icons: list[JsonObject]


class _SecretRequired(TypedDict):
    id: str
    key: str
    binding: AuthProviderResponseBinding
    created_at: str
    updated_at: str


class Secret(_SecretRequired, total=False):
    description: str
    last_accessed_at: str


class SessionVerification(TypedDict):
    verifier_url: str
    unsafe_skip_verification: bool
    unsafe_skip_verification_choice_allowed: Literal[False]


class _SharedConnectionRequired(TypedDict):
    id: str
    owner: Literal["project"]
    name: str
    shared_with: SharedConnectionSharedWith
    status: Literal["active", "needs_attention"]
    created_at: str
    updated_at: str


class SharedConnection(_SharedConnectionRequired, total=False):
    provider_id: str
    scopes: list[str]
    status_reason: Literal["refresh_refused", "consent_withdrawn", "token_expired", "refresh_token_expired", "provider_changed", "refresh_outcome_lost", "account_changed", "credential_refused", "installation_removed", "unreadable"]


class _SharedConnectionSharedWithRequired(TypedDict):
    users: list[str]


class SharedConnectionSharedWith(_SharedConnectionSharedWithRequired, total=False):
    agents: list[str]
    tools: list[str]


class _SharedProviderRequired(TypedDict):
    met: bool
    provider_id: str
    provider_type: Literal["oauth2"]
    scopes: list[str]
    status: Literal["active", "inactive"]
    tool_names: list[str]


class SharedProvider(_SharedProviderRequired, total=False):
    status_reason: str
    token_status: Literal["not_started", "pending", "completed", "failed"]
    authorization_id: str
    url: str


class _SharedRequirementsRequired(TypedDict):
    met: bool
    authorization: SharedRequirementsAuthorization
    secrets: SharedRequirementsSecrets
    workers: SharedRequirementsWorkers


class SharedRequirements(_SharedRequirementsRequired, total=False):
    authorization_id: str
    url: str


class SharedRequirementsAuthorization(TypedDict):
    met: bool
    items: dict[str, SharedProvider]


class SharedRequirementsSecrets(TypedDict):
    met: bool
    items: dict[str, SharedSecret]


class SharedRequirementsWorkers(TypedDict):
    met: bool
    items: dict[str, SharedWorker]


class _SharedSecretRequired(TypedDict):
    met: bool
    tool_names: list[str]


class SharedSecret(_SharedSecretRequired, total=False):
    status_reason: str


class _SharedWorkerRequired(TypedDict):
    met: bool
    status: Literal["active", "inactive", "unreachable"]
    tool_names: list[str]


class SharedWorker(_SharedWorkerRequired, total=False):
    status_reason: str


class ShownTool(TypedDict):
    name: str
    tool_id: str
    description: str


class _StandingApprovalRequired(TypedDict):
    id: str
    kind: Literal["approval", "block"]
    agent: str
    subject: str
    fixed: list[str]
    created_at: str
    expires_at: str


class StandingApproval(_StandingApprovalRequired, total=False):
    user_id: str


class _StreamRunRequestRequired(TypedDict):
    toolId: str


class StreamRunRequest(_StreamRunRequestRequired, total=False):
    tool_version: Optional[str]
    args: JsonObject
    user_id: Optional[str]
    account: Optional[str]
    accounts: Optional[dict[str, str]]
    next_uri: Optional[str]
    user_display: Optional[str]
    lang: Optional[str]
    metadata: Optional[dict[str, str]]
    keep_content: Optional[bool]


class ToolAnnotations(TypedDict, total=False):
    title: str
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


class _ToolDefinitionRequired(TypedDict):
    fully_qualified_name: str
    qualified_name: str
    name: str
    tool_id: str
    description: str
    toolkit: DescribedToolToolkit
    input: DescribedToolInput
    output: DescribedToolOutput
    requirements: ToolRequirements


class ToolDefinition(_ToolDefinitionRequired, total=False):
    metadata: JsonObject
    tags: list[str]


class _ToolDetailRequired(TypedDict):
    fully_qualified_name: str
    qualified_name: str
    name: str
    tool_id: str
    description: str
    toolkit: DescribedToolToolkit
    input: DescribedToolInput
    output: DescribedToolOutput
    requirements: ToolRequirements


class ToolDetail(_ToolDetailRequired, total=False):
    metadata: JsonObject
    tags: list[str]
    formatted_schema: DescribedToolFormattedSchema
    document: JsonObject


class _ToolErrorRequired(TypedDict):
    kind: ToolErrorKind
    message: str
    can_retry: bool


class ToolError(_ToolErrorRequired, total=False):
    additional_prompt_content: str
    retry_after_ms: float
    developer_message: str
    status_code: int
    extra: JsonObject
    stacktrace: str


class _ToolExecutionRequired(TypedDict):
    id: str
    tool_id: str
    tool_name: str
    toolkit_name: str
    execution_type: Literal["immediate", "scheduled"]
    execution_status: Literal["scheduled", "waiting_for_approval", "running", "completed", "failed", "cancelled"]
    entry_point: Literal["execute", "run", "run_stream", "run_chain", "code", "oxp", "mcp", "tool", "console"]
    created_at: str
    updated_at: str


class ToolExecution(_ToolExecutionRequired, total=False):
    toolkit_version: str
    user_id: str
    outcome: Literal["value", "artifact", "error", "requires_authorization"]
    error_kind: str
    duration: float
    run_at: str
    approval_id: str
    started_at: str
    finished_at: str
    api_key_id: str


class _ToolExecutionDetailRequired(TypedDict):
    id: str
    tool_id: str
    tool_name: str
    toolkit_name: str
    execution_type: Literal["immediate", "scheduled"]
    execution_status: Literal["scheduled", "waiting_for_approval", "running", "completed", "failed", "cancelled"]
    entry_point: Literal["execute", "run", "run_stream", "run_chain", "code", "oxp", "mcp", "tool", "console"]
    created_at: str
    updated_at: str


class ToolExecutionDetail(_ToolExecutionDetailRequired, total=False):
    toolkit_version: str
    user_id: str
    outcome: Literal["value", "artifact", "error", "requires_authorization"]
    error_kind: str
    duration: float
    run_at: str
    approval_id: str
    started_at: str
    finished_at: str
    api_key_id: str
    input: JsonObject
    attempts: list[ToolExecutionDetailAttemptsItem]
    unreadable: list[Literal["input", "attempts"]]


class _ToolExecutionDetailAttemptsItemRequired(TypedDict):
    id: str
    started_at: str
    finished_at: str
    success: bool


class ToolExecutionDetailAttemptsItem(_ToolExecutionDetailAttemptsItemRequired, total=False):
    output: AttemptOutput
    system_error_message: str


class _ToolMetadataRequired(TypedDict):
    name: str


class ToolMetadata(_ToolMetadataRequired, total=False):
    tool_set: Optional[str]
    version: Optional[Union[str, float]]
    description: Optional[str]
    parameters: dict[str, JsonValue]
    result: dict[str, JsonValue]
    configurations: dict[str, JsonValue]
    oauth: Optional[list[ToolMetadataOauthItem]]


class _ToolMetadataOauthItemRequired(TypedDict):
    name: str


class ToolMetadataOauthItem(_ToolMetadataOauthItemRequired, total=False):
    version: Optional[str]
    responseType: Optional[str]
    authorizationUrl: Optional[str]
    tokenUrl: Optional[str]
    issuer: Optional[str]
    scopes: Optional[list[str]]
    scopeImplies: Optional[dict[str, list[str]]]
    scopeAliases: Optional[dict[str, str]]
    clientId: Optional[str]
    clientSecret: Optional[str]
    redirectUrl: Optional[str]
    pkceType: Optional[str]
    requestTokenContentType: Optional[str]
    requestTokenAuthHeader: Optional[str]
    tokenTypes: Optional[list[str]]
    refreshToken: Optional[Union[str, bool]]


class _ToolParameterRequired(TypedDict):
    name: str
    value_schema: ValueSchema
    required: bool
    inferrable: bool


class ToolParameter(_ToolParameterRequired, total=False):
    description: str


class _ToolRequirementsRequired(TypedDict):
    secrets: list[RequiredSecret]


class ToolRequirements(_ToolRequirementsRequired, total=False):
    met: bool
    authorization: RequiredProvider
    authorizations: list[RequiredProvider]
    worker: RequiredWorker


class _ToolsetRequired(TypedDict):
    id: str
    url: str
    names: Literal["prefixed", "bare"]
    created_at: str
    updated_at: str


class Toolset(_ToolsetRequired, total=False):
    tools: list[str]
    namespaces: list[str]
    tags: list[str]
    providers: list[str]
    instructions: str
    listing: Literal["all", "search"]


class _ToolsetDetailRequired(TypedDict):
    id: str
    url: str
    names: Literal["prefixed", "bare"]
    created_at: str
    updated_at: str
    tool_count: int
    warnings: list[ImportedToolWarningsItem]


class ToolsetDetail(_ToolsetDetailRequired, total=False):
    tools: list[str]
    namespaces: list[str]
    tags: list[str]
    providers: list[str]
    instructions: str
    listing: Literal["all", "search"]


class UnreadableColour(TypedDict):
    name: Literal["invalid_request"]
    message: str
    errors: list[UnreadableColourErrorsItem]
    nearest: str


class UnreadableColourErrorsItem(TypedDict):
    path: str
    code: str
    message: str


class UserConnection(TypedDict):
    id: str
    connection_id: str
    connection_status: Literal["active", "needs_authorization"]
    provider_id: str
    provider_type: Literal["oauth2"]
    provider_description: str
    provider_user_info: JsonObject
    scopes: list[str]
    user_id: str


class _ValueSchemaRequired(TypedDict):
    val_type: Literal["string", "integer", "number", "boolean", "json", "array"]


class ValueSchema(_ValueSchemaRequired, total=False):
    inner_val_type: Literal["string", "integer", "number", "boolean", "json", "array"]
    enum: list[str]
    properties: dict[str, ValueSchema]
    required_keys: list[str]
    inner_properties: dict[str, ValueSchema]
    inner_required_keys: list[str]
    items: ValueSchema
    nullable: Literal[True]
    description: str


class _WebhookRequired(TypedDict):
    id: str
    url: str
    enabled: bool
    state: Literal["active", "failing", "disabled"]
    failures: int
    created_at: str
    updated_at: str


class Webhook(_WebhookRequired, total=False):
    description: str
    types: list[Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]]
    disabled_reason: Literal["operator", "failing", "gone"]
    disabled_at: str
    failing_since: str
    previous_secret_until: str


class _WebhookDeliveryRequired(TypedDict):
    event_id: str
    type: Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]
    subject: str
    sequence: int
    state: Literal["waiting", "delivered", "failed"]
    attempts: int
    created_at: str


class WebhookDelivery(_WebhookDeliveryRequired, total=False):
    next_attempt_at: str
    last_status: int
    last_error: str
    ended_at: str


class _WebhookReplayRequired(TypedDict):
    replayed: int


class WebhookReplay(_WebhookReplayRequired, total=False):
    next_cursor: str


class _WebhookTestRequired(TypedDict):
    delivered: bool


class WebhookTest(_WebhookTestRequired, total=False):
    status: int
    error: str


class _WebhookWithSecretRequired(TypedDict):
    id: str
    url: str
    enabled: bool
    state: Literal["active", "failing", "disabled"]
    failures: int
    created_at: str
    updated_at: str
    secret: str


class WebhookWithSecret(_WebhookWithSecretRequired, total=False):
    description: str
    types: list[Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]]
    disabled_reason: Literal["operator", "failing", "gone"]
    disabled_at: str
    failing_since: str
    previous_secret_until: str


class _WorkerRequired(TypedDict):
    id: str
    type: Literal["http", "oxp", "mcp", "openapi", "module"]
    enabled: bool
    status: Literal["active", "inactive", "unreachable", "unauthorized"]
    managed: bool
    binding: AuthProviderResponseBinding
    requirements: WorkerRequirements
    pinning: Literal["hold", "record", "off"]
    acceptance: WorkerAcceptance


class Worker(_WorkerRequired, total=False):
    http: HttpWorkerSettings
    mcp: McpWorkerSettings
    openapi: OpenapiWorkerSettings
    oxp: OxpWorkerSettings
    synced_at: str
    sync_error: str


class _WorkerRequirementsRequired(TypedDict):
    met: bool


class WorkerRequirements(_WorkerRequirementsRequired, total=False):
    status_reason: str
    authorization: WorkerRequirementsAuthorization


class WorkerRequirementsAuthorization(TypedDict):
    met: bool
    oauth2: WorkerRequirementsAuthorizationOauth2


class WorkerRequirementsAuthorizationOauth2(TypedDict):
    met: bool


class _WorkerAcceptanceRequired(TypedDict):
    accepted: WorkerAcceptanceAccepted


class WorkerAcceptance(_WorkerAcceptanceRequired, total=False):
    waiting: WorkerAcceptanceWaiting
    changed: list[WorkerAcceptanceChangedItem]
    look_alikes: list[WorkerAcceptanceLookAlikesItem]
    automatic: Literal[True]


class WorkerAcceptanceAccepted(TypedDict):
    providers: list[WorkerAcceptanceAcceptedProvidersItem]
    secrets: list[str]


class WorkerAcceptanceAcceptedProvidersItem(TypedDict):
    id: str
    scopes: list[str]


class WorkerAcceptanceWaiting(TypedDict):
    providers: list[WorkerAcceptanceAcceptedProvidersItem]
    secrets: list[str]
    tools: list[str]
    names: list[WorkerAcceptanceWaitingNamesItem]
    digest: str


class _WorkerAcceptanceWaitingNamesItemRequired(TypedDict):
    name: str


class WorkerAcceptanceWaitingNamesItem(_WorkerAcceptanceWaitingNamesItemRequired, total=False):
    owner: str


class _WorkerAcceptanceChangedItemRequired(TypedDict):
    tool: str
    to: str
    since: str


_WorkerAcceptanceChangedItemMayBeNamed = TypedDict("_WorkerAcceptanceChangedItemMayBeNamed", {"from": "str"}, total=False)


class WorkerAcceptanceChangedItem(_WorkerAcceptanceChangedItemRequired, _WorkerAcceptanceChangedItemMayBeNamed, total=False):
    unstable: Literal[True]
    looks_like: WorkerAcceptanceChangedItemLooksLike
    addresses_model: list[str]
    diff: list[PackUpdateChangedItemMembersItem]


class WorkerAcceptanceChangedItemLooksLike(TypedDict):
    tool: str
    worker: str


class WorkerAcceptanceLookAlikesItem(TypedDict):
    tool: str
    like: str
    worker: str


class AcceptWorkerRequirementsToolsItem(TypedDict):
    tool: str
    to: str


class CallOxpToolAnswerResult(TypedDict):
    result: OxpResult


class ExecuteCodeLimits(TypedDict, total=False):
    timeout_ms: Optional[int]
    memory_mb: Optional[int]
    tool_calls: Optional[int]
    chain_steps: Optional[int]


class _GetArcadeHealthAnswerRequired(TypedDict):
    healthy: bool


class GetArcadeHealthAnswer(_GetArcadeHealthAnswerRequired, total=False):
    reason: str


class GetDiagnosisAnswer(TypedDict):
    ok: bool
    checks: list[DiagnosisCheck]


class GetHealthAnswer(TypedDict):
    status: Literal["ok"]


class _GetReadinessAnswerRequired(TypedDict):
    ready: Literal[True]


class GetReadinessAnswer(_GetReadinessAnswerRequired, total=False):
    unavailable_database_workers: list[str]


class _GetToolRequirementsToolsItemRequired(TypedDict):
    tool_name: str


class GetToolRequirementsToolsItem(_GetToolRequirementsToolsItemRequired, total=False):
    tool_version: Optional[str]


class _GetWorkerHealthAnswerRequired(TypedDict):
    id: str
    enabled: bool
    healthy: bool


class GetWorkerHealthAnswer(_GetWorkerHealthAnswerRequired, total=False):
    message: str


class ImportConnectionsAnswer(TypedDict):
    items: list[ImportedConnection]


class _ListApiKeysAnswerRequired(TypedDict):
    items: list[ApiKey]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListApiKeysAnswer(_ListApiKeysAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class _ListApprovalsAnswerRequired(TypedDict):
    items: list[Approval]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListApprovalsAnswer(_ListApprovalsAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class _ListAuditEntriesAnswerRequired(TypedDict):
    items: list[AuditEntry]


class ListAuditEntriesAnswer(_ListAuditEntriesAnswerRequired, total=False):
    next_before: int
    archived_through: int


class ListAuthProvidersAnswer(TypedDict):
    items: list[AuthProviderResponse]
    total_count: int
    offset: int
    limit: int
    page_count: int


class _ListConnectionsAnswerRequired(TypedDict):
    items: list[Connection]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListConnectionsAnswer(_ListConnectionsAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class ListConnectionsOfProjectAnswer(TypedDict):
    items: list[SharedConnection]
    total_count: int
    offset: int
    limit: int
    page_count: int


class _ListExecutionsAnswerRequired(TypedDict):
    items: list[ToolExecution]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListExecutionsAnswer(_ListExecutionsAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class ListFormattedToolsAnswer(TypedDict):
    items: list[FormattedTool]
    total_count: int
    offset: int
    limit: int
    page_count: int


class _ListMcpClientsAnswerRequired(TypedDict):
    items: list[McpClient]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListMcpClientsAnswer(_ListMcpClientsAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class ListOxpToolsAnswer(TypedDict):
    items: list[OxpTool]
    tools: list[OxpTool]


class ListPacksAnswer(TypedDict):
    items: list[Pack]
    total_count: int
    offset: int
    limit: int
    page_count: int
    faults: list[ListPacksAnswerFaultsItem]


class ListPacksAnswerFaultsItem(TypedDict):
    folder: str
    message: str


class ListPoliciesAnswer(TypedDict):
    items: list[Policy]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListProjectsAnswer(TypedDict):
    items: list[Project]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListProviderCatalogueAnswer(TypedDict):
    items: list[CatalogueEntry]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListQuotasAnswer(TypedDict):
    items: list[Quota]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListSecretsAnswer(TypedDict):
    items: list[Secret]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListStandingApprovalsAnswer(TypedDict):
    items: list[StandingApproval]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListToolsAnswer(TypedDict):
    items: list[DescribedTool]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListToolsetToolsAnswer(TypedDict):
    items: list[ShownTool]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListToolsetsAnswer(TypedDict):
    items: list[Toolset]
    total_count: int
    offset: int
    limit: int
    page_count: int


class _ListUserConnectionsAnswerRequired(TypedDict):
    items: list[UserConnection]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListUserConnectionsAnswer(_ListUserConnectionsAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class _ListWebhookDeliveriesAnswerRequired(TypedDict):
    items: list[WebhookDelivery]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListWebhookDeliveriesAnswer(_ListWebhookDeliveriesAnswerRequired, total=False):
    next_cursor: str
    total_count_is_minimum: Literal[True]


class ListWebhooksAnswer(TypedDict):
    items: list[Webhook]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListWorkerToolsAnswer(TypedDict):
    items: list[ToolDefinition]
    total_count: int
    offset: int
    limit: int
    page_count: int


class ListWorkersAnswer(TypedDict):
    items: list[Worker]
    total_count: int
    offset: int
    limit: int
    page_count: int


class _RotateApiKeyAnswerRequired(TypedDict):
    id: str
    key: str
    project: str
    role: Literal["admin", "caller", "readonly", "approver"]
    name: str
    replaces: RotateApiKeyAnswerReplaces


class RotateApiKeyAnswer(_RotateApiKeyAnswerRequired, total=False):
    user_id: str
    groups: list[str]
    expires_at: str
    rate_limit: int


class RotateApiKeyAnswerReplaces(TypedDict):
    id: str
    expires_at: str


class _RunChainStepsItemRequired(TypedDict):
    toolId: str


class RunChainStepsItem(_RunChainStepsItemRequired, total=False):
    tool_version: Optional[str]
    args: JsonObject
    usePrevious: Optional[bool]


class _TestWorkerAnswerRequired(TypedDict):
    id: str
    enabled: bool
    healthy: bool


class TestWorkerAnswer(_TestWorkerAnswerRequired, total=False):
    message: str
    tool_count: int


class UpdateConnectionOfProjectSharedWith(TypedDict, total=False):
    users: list[str]
    agents: Optional[list[str]]
    tools: Optional[list[str]]


class UpdatePolicyHook(TypedDict, total=False):
    url: str
    format: Literal["arcade", "authzen"]
    timeout_ms: int
    on_failure: Literal["deny", "allow"]
    secret: Optional[str]


class ValidateCustomVerifierAnswer(TypedDict):
    flow_id: str
    next_uri: str


AnswerCondition = Union[AnswerConditionAt, AnswerConditionAt_, AnswerConditionAt__, AnswerConditionLacks, AnswerConditionLink]
CauseCode = Literal["link_not_opened", "link_not_clicked", "login_not_finished", "at_provider", "redirect_uri_not_registered", "left_at_provider", "code_not_entered", "account_not_confirmed", "access_denied", "cancelled", "client_not_accepted", "pkce_refused", "scope_refused", "provider_down", "provider_limits_requests", "provider_paused", "request_refused", "wrong_issuer", "unusable_answer", "other_browser", "wrong_user", "user_not_confirmed", "not_sent_on", "client_missing", "wrong_client_secret", "subject_not_connected", "machine_grant_refused", "code_not_accepted", "clock_skew", "dpop_proof_refused", "id_token_refused", "host_not_allowed", "wrong_account", "nothing_to_choose", "not_chosen", "entry_changed", "own_fault", "scopes_withheld", "account_changed", "consent_withdrawn", "refresh_token_expired", "refresh_token_used_twice", "grant_refused", "no_refresh_token", "endpoints_changed", "credential_refused", "shared_connection_unusable", "installation_removed", "refreshed_as_another", "tokens_unreadable"]
ChainResult = Union[ChainCompleted, ChainFailed, ChainRequiresAuthorization]
ChainStep = Union[ChainStepCompleted, ChainStepFailed, ChainStepSkipped]
ErrorCode = Literal["invalid_request", "unsupported_media_type", "request_too_large", "method_not_allowed", "rate_limited", "too_many_pending", "invalid_authorization", "insufficient_role", "insufficient_scope", "user_not_allowed", "not_found", "already_exists", "already_decided", "digest_mismatch", "set_by_operator", "ambiguous_tool", "tool_source_changed", "provider_not_found", "provider_incomplete", "provider_inactive", "provider_unavailable", "token_request_refused", "scopes_not_granted", "not_accepted", "proxy_only", "host_not_allowed", "user_mismatch", "authorization_failed", "authorization_required", "authorization_expired", "denied_by_policy", "policy_check_failed", "invalid_tool", "invalid_input", "answer_not_kept", "entries_archived", "outcome_unknown", "store_unavailable", "not_implemented", "internal_error"]
ExecuteOutput = Union[ExecuteOutputValue, ExecuteOutputError, ExecuteOutputRequiresAuthorization, ExecuteOutputArtifact]
FailureReason = Literal["access_denied", "expired", "user_mismatch", "issuer_mismatch", "invalid_scope", "invalid_client", "invalid_grant", "provider_refused", "provider_bad_response", "provider_unavailable", "provider_changed", "account_mismatch", "nothing_to_choose", "approval_denied", "approval_expired", "approval_superseded"]
FaultCode = Literal["missing", "wrong_type", "not_one_of", "too_short", "too_long", "too_small", "too_large", "unknown_member", "unknown_parameter", "repeated_parameter", "invalid_json", "not_allowed", "conflict", "unknown", "invalid"]
JsonValue = Any
JsonSchema = dict[str, JsonValue]
FormattedTool = Union[OpenAiTool, AnthropicTool, McpTool, OxpTool, ToolDefinition, JsonSchema]
JsonObject = dict[str, JsonValue]
OAuth2RequestOfIssuer = Optional[AuthProviderCreateRequestOauth2DeviceAuthorizationRequest]
OpenapiCredential = Union[OpenapiCredentialId, OpenapiCredentialProviderId, OpenapiCredentialSecret]
OpenapiRequestCredential = Union[OpenapiRequestToken, OpenapiRequestTokenByKind, OpenapiRequestAuthorizationSecret]
OxpResult = Union[OxpSuccess, OxpFailure]
RunBackend = Union[RunBackendKind, RunBackendKind_, RunBackendKind__]
RunResult = Union[RunFailed, RunHeld, RunRequiresAuthorization, RunSucceeded]
StreamEvent = Union[ProgressEvent, ChunkEvent, DoneEvent, ErrorEvent]
ToolErrorKind = Literal["TOOLKIT_LOAD_FAILED", "TOOL_DEFINITION_BAD_DEFINITION", "TOOL_DEFINITION_BAD_INPUT_SCHEMA", "TOOL_DEFINITION_BAD_OUTPUT_SCHEMA", "TOOL_REQUIREMENTS_NOT_MET", "TOOL_RUNTIME_BAD_INPUT_VALUE", "TOOL_RUNTIME_BAD_OUTPUT_VALUE", "TOOL_RUNTIME_RETRY", "TOOL_RUNTIME_CONTEXT_REQUIRED", "TOOL_RUNTIME_FATAL", "CONTEXT_CHECK_FAILED", "CONTEXT_DENIED", "UPSTREAM_RUNTIME_BAD_REQUEST", "UPSTREAM_RUNTIME_AUTH_ERROR", "UPSTREAM_RUNTIME_NOT_FOUND", "UPSTREAM_RUNTIME_VALIDATION_ERROR", "UPSTREAM_RUNTIME_RATE_LIMIT", "UPSTREAM_RUNTIME_SERVER_ERROR", "UPSTREAM_RUNTIME_UNMAPPED", "NETWORK_TRANSPORT_RUNTIME_TIMEOUT", "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", "NETWORK_TRANSPORT_RUNTIME_UNMAPPED", "UNKNOWN"]


class Gatepass(_Client):
    """A client of a Gatepass with one method for each operation of its API."""

    def accept_worker_requirements(
        self, id: str, *, digest: str = UNSET, tools: list[AcceptWorkerRequirementsToolsItem] = UNSET,
        timeout: Optional[float] = None,
    ) -> Worker:
        """Accept the new requirements, names and definitions of the tools of a worker.

        Providers, scopes and secrets that the catalogue of a known worker names only after its registration
        wait until they are accepted here, and so do names that it claims for its tools: the worker has them
        from then on, also those that another source had. `acceptance` of GET /v1/workers/{id} shows them. With
        `digest`, they are accepted only if they have not changed since it was read, else 409 `not_accepted`.
        Definitions of tools (`acceptance.changed`) are accepted by that `digest`, with all that waits, or one
        by one by `tools`, with what each of them requires: so only as they were shown.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/workers/{id}/accept", "safe", params={"id": id}, body={"digest": digest,
            "tools": tools}, timeout=timeout,
        )

    def add_connection_of_project(
        self, *, provider_id: str, name: str, shared_with: SharedConnectionSharedWith,
        owner: Literal["project", None] = UNSET, scopes: Optional[list[str]] = UNSET,
        fields: Optional[dict[str, str]] = UNSET, idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> SharedConnection:
        """Add a connection of the project, and share it.

        For a provider whose `owner` is `project` or `either`. The provider is asked for a token first, or
        whether it takes the fields; if not, nothing is added.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/connections", "by_key", body={"provider_id": provider_id, "owner": owner,
            "name": name, "scopes": scopes, "fields": fields, "shared_with": shared_with},
            idempotency_key=idempotency_key, timeout=timeout,
        )

    def add_pack(
        self, *, id: str, read_only: bool = UNSET, tools: list[str] = UNSET, provider_id: str = UNSET,
        approvals: Union[Literal["user"], NewPackApprovalsGroup, Literal[False]] = UNSET,
        idempotency_key: Optional[str] = None, timeout: Optional[float] = None,
    ) -> AddedPack:
        """Add the tools of a pack.

        Makes, in this order, the policy for calls that people should approve, the provider entry where there is
        none, a toolset, and the worker. If a step fails, what was made is deleted again.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/packs", "by_key", body={"id": id, "read_only": read_only, "tools": tools,
            "provider_id": provider_id, "approvals": approvals}, idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def authorize(
        self, *, auth_requirement: AuthorizeRequestAuthRequirement, user_id: str,
        next_uri: Optional[str] = UNSET, user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET,
        install_id: Optional[str] = UNSET, account: Optional[str] = UNSET, timeout: Optional[float] = None,
    ) -> Authorization:
        """Begin an authorization, or get the token when it is covered.

        Answers `completed` with the token when a connection already covers the scopes, else `pending` with the
        `url` the user opens. The same user, provider and scopes share one live authorization.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/auth/authorize", "safe", body={"auth_requirement": auth_requirement,
            "user_id": user_id, "next_uri": next_uri, "user_display": user_display, "lang": lang,
            "install_id": install_id, "account": account}, timeout=timeout,
        )

    def authorize_tool(
        self, *, tool_name: str, tool_version: Optional[str] = UNSET, user_id: Optional[str] = UNSET,
        account: Optional[str] = UNSET, accounts: Optional[dict[str, str]] = UNSET,
        next_uri: Optional[str] = UNSET, user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET,
        timeout: Optional[float] = None,
    ) -> Authorization:
        """Begin the authorization that a tool needs, for a user.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/tools/authorize", "safe", body={"tool_name": tool_name, "tool_version": tool_version,
            "user_id": user_id, "account": account, "accounts": accounts, "next_uri": next_uri,
            "user_display": user_display, "lang": lang}, timeout=timeout,
        )

    def authorize_worker(
        self, id: str, *, user_id: str, next_uri: str = UNSET, timeout: Optional[float] = None,
    ) -> Authorization:
        """Begin the authorization that an MCP server itself needs.

        Its tools are then listed with the connection of this user; each user who calls them needs a connection
        of their own. If this user has a connection, the tools are read at once and the answer is `completed`.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/workers/{id}/authorize", "safe", params={"id": id}, query={"user_id": user_id,
            "next_uri": next_uri}, timeout=timeout,
        )

    def authorize_worker_by_get(
        self, id: str, *, user_id: str, next_uri: str = UNSET, timeout: Optional[float] = None,
    ) -> Authorization:
        """Begin the authorization that an MCP server itself needs.

        Its tools are then listed with the connection of this user; each user who calls them needs a connection
        of their own. If this user has a connection, the tools are read at once and the answer is `completed`.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/workers/{id}/authorize", "safe", params={"id": id}, query={"user_id": user_id,
            "next_uri": next_uri}, timeout=timeout,
        )

    def bind_tool(
        self, name: str, *, worker_id: str, tool: str, timeout: Optional[float] = None,
    ) -> ToolDefinition:
        """Bind a metadata tool to the worker tool that runs it.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/tools/{name}/binding", "safe", params={"name": name}, body={"worker_id": worker_id,
            "tool": tool}, timeout=timeout,
        )

    def call_oxp_tool(
        self, *, tool_id: str = UNSET, call_id: Optional[str] = UNSET, trace_id: Optional[str] = UNSET,
        input: Optional[JsonObject] = UNSET, inputs: Optional[dict[str, JsonValue]] = UNSET,
        context: Optional[OxpCallContext] = UNSET, schema: Optional[str] = UNSET, request: OxpCall = UNSET,
        timeout: Optional[float] = None,
    ) -> Union[CallOxpToolAnswerResult, OxpSuccess, OxpFailure]:
        """Call a tool by OXP.

        Gatepass adds tokens and secrets itself, so `context` takes none. A call that is not wrapped in
        `request` gets an answer without `result`, as in the newer text of OXP 1.0. Without the consent of the
        user the answer is 400 with `missing_requirements`.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/oxp/tools/call", "safe", body={"tool_id": tool_id, "call_id": call_id,
            "trace_id": trace_id, "input": input, "inputs": inputs, "context": context, "$schema": schema,
            "request": request}, timeout=timeout,
        )

    def cancel_scheduled_tool(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> ToolExecution:
        """Cancel a run that has not begun.

        Needs a key of the role `caller` or above."""
        return self._call(
            "DELETE", "/v1/scheduled_tools/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def change_branding(
        self, id: str, *, app_name: Optional[str] = UNSET,
        lang: Literal["en", "de", "fr", "es", "pt", "ja", "zh", None] = UNSET, logo: Optional[str] = UNSET,
        accent: Optional[str] = UNSET, accent_dark: Optional[str] = UNSET, app_url: Optional[str] = UNSET,
        privacy_url: Optional[str] = UNSET, support_url: Optional[str] = UNSET, domain: Optional[str] = UNSET,
        texts: Optional[BrandingChangesTexts] = UNSET, timeout: Optional[float] = None,
    ) -> Branding:
        """Change how the project's pages look.

        Members that are left out do not change; `null` removes one. A color in which text cannot be read is
        refused with the nearest shade. The sentence that says who requests which access, and the warning,
        cannot be changed.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/admin/projects/{id}/branding", "safe", params={"id": id}, body={"app_name": app_name,
            "lang": lang, "logo": logo, "accent": accent, "accent_dark": accent_dark, "app_url": app_url,
            "privacy_url": privacy_url, "support_url": support_url, "domain": domain, "texts": texts},
            timeout=timeout,
        )

    def confirm_session_verification(
        self, *, verifier_url: Optional[str] = UNSET, unsafe_skip_verification: Optional[bool] = UNSET,
        unsafe_skip_verification_choice_allowed: Optional[bool] = UNSET, timeout: Optional[float] = None,
    ) -> SessionVerification:
        """Confirm the user verifier.

        Answers 200 if the request repeats the current settings, else 409 `set_by_operator`: they hold for all
        projects, so the operator sets them by GATEPASS_USER_VERIFIER.

        Needs a key of the role `admin`."""
        return self._call(
            "PUT", "/v1/admin/settings/session_verification", "safe", body={"verifier_url": verifier_url,
            "unsafe_skip_verification": unsafe_skip_verification,
            "unsafe_skip_verification_choice_allowed": unsafe_skip_verification_choice_allowed},
            timeout=timeout,
        )

    def confirm_user(
        self, *, flow_id: str, user_id: str, timeout: Optional[float] = None,
    ) -> ConfirmedUser:
        """Confirm the user who came back with a flow.

        Gatepass sends the browser to your own page (GATEPASS_USER_VERIFIER) with `flow_id`. Call this from the
        server of that page with the user of its session, then redirect the browser to the `next_uri` of the
        answer. That is an address of Gatepass, which redeems the code in the browser that began the consent and
        then sends it to the `next_uri` of the authorization or to a page with the result. If the authorization
        is for another user, the answer is 400 `user_mismatch` and the authorization fails.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/auth/confirm_user", "safe", body={"flow_id": flow_id, "user_id": user_id},
            timeout=timeout,
        )

    def create_api_key(
        self, *, role: Literal["admin", "caller", "readonly", "approver"], project: Optional[str] = UNSET,
        name: Optional[str] = UNSET, user_id: Optional[str] = UNSET, groups: Optional[list[str]] = UNSET,
        expires_at: Optional[str] = UNSET, expires_in: Optional[int] = UNSET, rate_limit: Optional[int] = UNSET,
        prefix: Literal["gp", "arc", None] = UNSET, timeout: Optional[float] = None,
    ) -> IssuedApiKey:
        """Create an API key, which is shown only once.

        The key belongs to the project of the calling key. An administrator of the project `default` can also
        make the first key of another project, which is created if it does not exist. Further keys are made only
        by administrators of that project.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/keys", "unsafe", body={"role": role, "project": project, "name": name,
            "user_id": user_id, "groups": groups, "expires_at": expires_at, "expires_in": expires_in,
            "rate_limit": rate_limit, "prefix": prefix}, timeout=timeout,
        )

    def create_auth_provider(
        self, *, id: str, schema: str = UNSET, also_known_as: list[str] = UNSET,
        category: Literal["ai", "analytics", "calendar", "commerce", "communication", "content", "crm", "data", "design", "development", "education", "email", "files", "finance", "games", "health", "hr", "identity", "iot", "legal", "maps", "marketing", "media", "monitoring", "music", "other", "productivity", "project-management", "sales", "search", "security", "social", "sports", "storage", "support", "transport", "travel", "video"] = UNSET,
        owner: Literal["user", "project", "either", None] = UNSET,
        other_endpoints: AuthProviderCreateRequestOtherEndpoints = UNSET, second_way_of: str = UNSET,
        shares_endpoints_with: str = UNSET, registration: AuthProviderCreateRequestRegistration = UNSET,
        scopes: dict[str, Union[str, AuthProviderCreateRequestScopesValueText]] = UNSET,
        documentation: str = UNSET, sources: list[str] = UNSET, checked: str = UNSET, verified: bool = UNSET,
        logo: str = UNSET, name: str = UNSET, offline_access: AuthProviderCreateRequestOfflineAccess = UNSET,
        description: Optional[str] = UNSET, provider_id: Optional[str] = UNSET,
        external_id: Optional[str] = UNSET, type: Literal["oauth2", "oauth1", "credentials", None] = UNSET,
        status: Literal["active", "inactive", "missing", None] = UNSET, missing: JsonValue = UNSET,
        binding: JsonValue = UNSET, created_at: JsonValue = UNSET, updated_at: JsonValue = UNSET,
        oauth2: Optional[AuthProviderCreateRequestOauth2] = UNSET,
        oauth1: Optional[AuthProviderCreateRequestOauth1] = UNSET,
        credentials: Optional[AuthProviderCreateRequestCredentials] = UNSET,
        idempotency_key: Optional[str] = None, timeout: Optional[float] = None,
    ) -> AuthProviderResponse:
        """Add a provider.

        With a `provider_id` of the built-in catalogue, or an `issuer` that has metadata, only the client is
        needed; else describe the requests. The answer has the redirect URI to register.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/auth_providers", "by_key", body={"$schema": schema,
            "also_known_as": also_known_as, "category": category, "owner": owner,
            "other_endpoints": other_endpoints, "second_way_of": second_way_of,
            "shares_endpoints_with": shares_endpoints_with, "registration": registration, "scopes": scopes,
            "documentation": documentation, "sources": sources, "checked": checked, "verified": verified,
            "logo": logo, "name": name, "offline_access": offline_access, "id": id, "description": description,
            "provider_id": provider_id, "external_id": external_id, "type": type, "status": status,
            "missing": missing, "binding": binding, "created_at": created_at, "updated_at": updated_at,
            "oauth2": oauth2, "oauth1": oauth1, "credentials": credentials}, idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def create_connect_session(
        self, *, user_id: str, allowed_origin: str, provider_id: Optional[str] = UNSET,
        scopes: Optional[list[str]] = UNSET, account: Optional[str] = UNSET,
        variables: Optional[dict[str, str]] = UNSET, tool: Optional[str] = UNSET,
        connection_id: Optional[str] = UNSET, next_uri: Optional[str] = UNSET,
        user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET, timeout: Optional[float] = None,
    ) -> BegunConnectSession:
        """Let a page connect one user.

        Call it on your server for the user of your own session, and give the answer to the page: its
        `session_token` opens, reads, cancels and restarts one authorization, from pages of `allowed_origin`,
        for 15 minutes. Name one of `provider_id`, `tool` and `connection_id`.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/connect_sessions", "safe", body={"user_id": user_id, "provider_id": provider_id,
            "scopes": scopes, "account": account, "variables": variables, "tool": tool,
            "connection_id": connection_id, "allowed_origin": allowed_origin, "next_uri": next_uri,
            "user_display": user_display, "lang": lang}, timeout=timeout,
        )

    def create_connection(
        self, *, user_id: str, provider_id: str, fields: dict[str, str], default: bool = UNSET,
        timeout: Optional[float] = None,
    ) -> Connection:
        """Store what a user would type: a key, or a user name with a password.

        For providers of the type `credentials`, in place of the form on our page. The service is asked first,
        as by the form: nothing is stored that it refuses. A connection of the same account gets the new fields
        in place of its own.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/connections", "safe", body={"user_id": user_id, "provider_id": provider_id,
            "fields": fields, "default": default}, timeout=timeout,
        )

    def create_policy(
        self, *, id: str, effect: Literal["allow", "deny", "hook", "approve"], match: PolicyMatch,
        description: Optional[str] = UNSET, enabled: bool = UNSET, hook: NewPolicyHook = UNSET,
        approve: PolicyApproval = UNSET, idempotency_key: Optional[str] = None, timeout: Optional[float] = None,
    ) -> Policy:
        """Make a policy.

        A matching `deny` refuses. If there are `allow` policies, one of them must match. Then hooks are called.
        A member of `match` that is absent matches everything.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/policies", "by_key", body={"id": id, "description": description,
            "enabled": enabled, "effect": effect, "match": match, "hook": hook, "approve": approve},
            idempotency_key=idempotency_key, timeout=timeout,
        )

    def create_portal_link(
        self, user_id: str, *, return_url: Optional[str] = UNSET, user_display: Optional[str] = UNSET,
        lang: Optional[str] = UNSET,
        may: list[Literal["view", "disconnect", "connect", "approve", "export", "erase"]] = UNSET,
        seconds: int = UNSET, timeout: Optional[float] = None,
    ) -> PortalLink:
        """A one-time link to the user's own page.

        The page (`/me`) shows what the user has connected. The link opens it without a login, so redirect only
        the browser of this user to it, after your application has logged the user in.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/users/{user_id}/portal", "safe", params={"user_id": user_id},
            body={"return_url": return_url, "user_display": user_display, "lang": lang, "may": may,
            "seconds": seconds}, timeout=timeout,
        )

    def create_project(
        self, *, name: str, timeout: Optional[float] = None,
    ) -> Project:
        """Create a project.

        Only for an administrator of the project `default`. The new project has no key yet: POST /v1/admin/keys
        with its name as `project` makes the first one.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/projects", "unsafe", body={"name": name}, timeout=timeout,
        )

    def create_toolset(
        self, *, id: str, tools: Optional[list[str]] = UNSET, namespaces: Optional[list[str]] = UNSET,
        tags: Optional[list[str]] = UNSET, providers: Optional[list[str]] = UNSET,
        names: Literal["prefixed", "bare"] = UNSET, instructions: Optional[str] = UNSET,
        listing: Literal["all", "search", None] = UNSET, idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ToolsetDetail:
        """Make a toolset.

        A tool is in it when any of `tools`, `namespaces`, `tags` and `providers` names it, even if the tool is
        added later. `warnings` lists selectors that match no tool now.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/toolsets", "by_key", body={"id": id, "tools": tools, "namespaces": namespaces,
            "tags": tags, "providers": providers, "names": names, "instructions": instructions,
            "listing": listing}, idempotency_key=idempotency_key, timeout=timeout,
        )

    def create_webhook(
        self, *, url: str, description: str = UNSET,
        types: list[Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]] = UNSET,
        enabled: bool = UNSET, timeout: Optional[float] = None,
    ) -> WebhookWithSecret:
        """Register a receiver of events.

        Events from now on are sent to it, signed according to the Standard Webhooks specification. The secret
        is shown this once.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/webhooks", "unsafe", body={"url": url, "description": description, "types": types,
            "enabled": enabled}, timeout=timeout,
        )

    def create_worker(
        self, *, id: str, type: Optional[str] = UNSET, enabled: bool = UNSET,
        pinning: Literal["hold", "record", "off"] = UNSET, http: HttpWorkerRegistration = UNSET,
        mcp: McpWorkerRegistration = UNSET, openapi: OpenapiWorkerRegistration = UNSET,
        oxp: OxpWorkerRegistration = UNSET, idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Worker:
        """Register a worker.

        Answers after its catalogue has been read once, or says in `sync_error` why it could not be.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/workers", "by_key", body={"id": id, "type": type, "enabled": enabled,
            "pinning": pinning, "http": http, "mcp": mcp, "openapi": openapi, "oxp": oxp},
            idempotency_key=idempotency_key, timeout=timeout,
        )

    def decide_approval(
        self, id: str, *, decision: Literal["approve", "deny"], digest: str, approver: str,
        remember: Literal["once", "hour", "standing"] = UNSET, fixed: list[str] = UNSET, reason: str = UNSET,
        timeout: Optional[float] = None,
    ) -> Approval:
        """Decide about a call.

        The holder of the key vouches that the person `approver` has seen the call and decided. `approver`
        counts as the user where it is the user of the call, else as a member of any group. Repeating a decision
        answers it.

        Needs a key of the role `approver`."""
        return self._call(
            "POST", "/v1/approvals/{id}/decision", "safe", params={"id": id}, body={"decision": decision,
            "digest": digest, "approver": approver, "remember": remember, "fixed": fixed, "reason": reason},
            timeout=timeout,
        )

    def delete_auth_provider(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Optional[AuthProviderResponse]:
        """Delete a provider with its connections.

        Their tokens are not revoked at the provider.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/auth_providers/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_connection(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> DeletedConnection:
        """Delete a connection, and revoke its tokens at the provider.

        The connection is always deleted in Gatepass; `revocation` says whether its tokens were revoked at the
        provider (RFC 7009).

        Needs a key of the role `caller` or above."""
        return self._call(
            "DELETE", "/v1/connections/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_connection_of_project(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a connection of the project with its tokens and its key.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/connections/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_mcp_client(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """End a client's access for its user.

        Its access and refresh tokens are refused from then on. To act again it needs a new consent of the user.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/mcp_clients/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_policy(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a policy.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/policies/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_secret(
        self, key: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a secret by its id or key.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/secrets/{key}", "safe", params={"key": key}, timeout=timeout,
        )

    def delete_secret_for_arcade_cli(
        self, key: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a secret by its id or key.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/secrets/{key}", "safe", params={"key": key}, timeout=timeout,
        )

    def delete_standing_approval(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Take back a remembered approval or a block.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/standing_approvals/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_tool(
        self, name: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete an imported tool.

        By any of its names; if it has several versions, the name must include one. Providers that its import
        added are kept, with their connections. A tool of a worker is deleted with its worker.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/tools/{name}", "safe", params={"name": name}, timeout=timeout,
        )

    def delete_toolset(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a toolset.

        Its tools are not deleted.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/toolsets/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_user_connection(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete the connection of any user, and revoke its tokens at the provider.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/user_connections/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_webhook(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a webhook; events that wait for it are not sent.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/webhooks/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def delete_worker(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Delete a worker with its tools.

        Metadata tools that it ran are kept, without a worker.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/workers/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def dry_run_policies(
        self, *, policies: list[NewPolicy] = UNSET, without: list[str] = UNSET, since: str = UNSET,
        until: str = UNSET, timeout: Optional[float] = None,
    ) -> PolicyDryRun:
        """Test which of last week’s uses of tokens policies would have refused or asked about.

        Applies the policies to each release of a token in the audit trail, in the order of time. Nothing is
        changed and no hook is called. Runs of tools that need no token are not in the trail.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "POST", "/v1/admin/policies/dry_run", "safe", body={"policies": policies, "without": without,
            "since": since, "until": until}, timeout=timeout,
        )

    def execute_code(
        self, *, code: str, language: Literal["javascript", "typescript"] = UNSET,
        limits: Optional[ExecuteCodeLimits] = UNSET, resume: Optional[str] = UNSET,
        user_id: Optional[str] = UNSET, account: Optional[str] = UNSET,
        accounts: Optional[dict[str, str]] = UNSET, next_uri: Optional[str] = UNSET,
        user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET,
        metadata: Optional[dict[str, str]] = UNSET, keep_content: Optional[bool] = UNSET,
        idempotency_key: Optional[str] = None, timeout: Optional[float] = None,
    ) -> CodeResult:
        """Run a piece of code that calls tools.

        The code is the body of an async function in a sandbox without files, network or clock; it has
        `tools.call(id, args)`, `tools.chain(steps)`, `tools.list()` and `console`. The answer is 200 in every
        case: `value` is what the code returned, `error` says why it failed, and `requires_authorization` names
        the consent that a called tool lacks. The output and the tool calls up to that point are always
        included. After the user has approved, send the same code with `resume`: it runs from its beginning with
        the same random numbers and time, and calls that had ended are answered from what was kept instead of
        being made again.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/code/execute", "by_key", body={"language": language, "code": code, "limits": limits,
            "resume": resume, "user_id": user_id, "account": account, "accounts": accounts,
            "next_uri": next_uri, "user_display": user_display, "lang": lang, "metadata": metadata,
            "keep_content": keep_content}, idempotency_key=idempotency_key, timeout=timeout,
        )

    def execute_tool(
        self, *, tool_name: str, tool_version: Optional[str] = UNSET, input: JsonObject = UNSET,
        run_at: Optional[str] = UNSET, when_approved: Literal["run", None] = UNSET,
        include_error_stacktrace: Optional[bool] = UNSET, user_id: Optional[str] = UNSET,
        account: Optional[str] = UNSET, accounts: Optional[dict[str, str]] = UNSET,
        next_uri: Optional[str] = UNSET, user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET,
        metadata: Optional[dict[str, str]] = UNSET, keep_content: Optional[bool] = UNSET,
        idempotency_key: Optional[str] = None, timeout: Optional[float] = None,
    ) -> ExecuteResult:
        """Run a tool, with the token of its user injected.

        Answers 200 with exactly one of `value`, `error`, `requires_authorization`, `artifact` in `output`.
        Arcade’s SDKs get their own dialect: 403 when consent is missing.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/tools/execute", "by_key", body={"tool_name": tool_name, "tool_version": tool_version,
            "input": input, "run_at": run_at, "when_approved": when_approved,
            "include_error_stacktrace": include_error_stacktrace, "user_id": user_id, "account": account,
            "accounts": accounts, "next_uri": next_uri, "user_display": user_display, "lang": lang,
            "metadata": metadata, "keep_content": keep_content}, idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def explain_authorization(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Explanation:
        """Each step of an authorization, and why it failed or does not go on.

        Steps show the names of parameters, the origin and path of requests, and what the provider said,
        cleaned: never a secret, code, token or state. `cause` is the likely cause, with what to change and who
        can change it. With the id of a connection, the answer is that for the connection. The steps are kept as
        the authorization: until a week after its end.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/auth/{id}/explain", "safe", params={"id": id}, timeout=timeout,
        )

    def explain_connection(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Explanation:
        """Why a connection does not work.

        Its consent, its failed refreshes since the last good one, and why it needs a new consent. The id of a
        connection of the project (shared_…) is taken too: then it is its token that works least. Steps show the
        names of parameters, the origin and path of requests, and what the provider said, cleaned: never a
        secret, code, token or state. `cause` is the likely cause, with what to change and who can change it.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/connections/{id}/explain", "safe", params={"id": id}, timeout=timeout,
        )

    def export_audit_entries(
        self, *, user_id: str = UNSET, provider_id: str = UNSET, connection_id: str = UNSET,
        action: Literal["token.released", "authorization.confirmed", "authorization.completed", "authorization.failed", "authorization.refused", "connection.refreshed", "connection.needs_authorization", "connection.made_default", "connection.deleted", "connection.imported", "connections.exported", "shared_connection.added", "shared_connection.changed", "shared_connection.deleted", "provider.added", "provider.changed", "provider.connections_kept", "provider.environment_client_confirmed", "provider.deleted", "provider.tested", "tool.imported", "tool.bound", "tool.deleted", "tool.changed", "worker.added", "worker.changed", "worker.deleted", "worker.synced", "worker.waiting", "worker.accepted", "worker.named", "policy.set", "policy.deleted", "policy.refused", "toolset.set", "toolset.deleted", "tool.scheduled", "tool.cancelled", "tool.tried", "approval.requested", "approval.approved", "approval.denied", "approval.expired", "approval.used", "approval.superseded", "standing_approval.added", "standing_approval.removed", "secret.set", "secret.deleted", "project.created", "branding.set", "branding.domain_set", "branding.domain_proved", "branding.domain_removed", "key.created", "key.rotated", "key.revoked", "console.logged_in", "console.logged_out", "webhook.added", "webhook.changed", "webhook.secret_rotated", "webhook.replayed", "webhook.tested", "webhook.disabled", "webhook.deleted", "mcp_client.approved", "mcp_client.revoked", "connect_session.created", "connect_session.opened", "connect_session.restarted", "connect_session.cancelled", "portal.linked", "portal.entered", "user.exported", "user.erased", "audit.archived", "access.refused", "envelope.unreadable", "master_key.rotated", "installation.backed_up", "installation.restored", "installation.commits_lost", "installation.moved", "installation.rows_signed"] = UNSET,
        tool: str = UNSET, subject: str = UNSET, actor_id: str = UNSET, since: str = UNSET, until: str = UNSET,
        after: int = UNSET, timeout: Optional[float] = None,
    ) -> bytes:
        """The audit trail as JSON lines, oldest first.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/audit/export", "safe", query={"user_id": user_id, "provider_id": provider_id,
            "connection_id": connection_id, "action": action, "tool": tool, "subject": subject,
            "actor_id": actor_id, "since": since, "until": until, "after": after}, is_json=False,
            timeout=timeout,
        )

    def get_api_key(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> ApiKey:
        """One API key, never the key itself.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/admin/keys/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_approval(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Approval:
        """One approval, with the arguments of its call.

        Needs a key of the role `approver`."""
        return self._call(
            "GET", "/v1/approvals/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_arcade_health(
        self, *, timeout: Optional[float] = None,
    ) -> GetArcadeHealthAnswer:
        """Readiness in the form of Arcade’s API.

        Needs no key."""
        return self._call(
            "GET", "/v1/health", "safe", timeout=timeout,
        )

    def get_auth_provider(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> AuthProviderResponse:
        """One provider.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/auth_providers/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_authorization_status(
        self, *, id: str, wait: int = UNSET, timeout: Optional[float] = None,
    ) -> Authorization:
        """The status of an authorization.

        `wait` delays the answer until the authorization settles, for at most that many seconds; then the answer
        is 200 with the current status. If too many requests wait already (GATEPASS_MAX_WAITERS), the answer is
        not delayed.

        Needs a key of the role `caller` or above."""
        return self._call(
            "GET", "/v1/auth/status", "safe", query={"id": id, "wait": wait}, timeout=timeout,
        )

    def get_branding(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Branding:
        """How the project's pages look.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/projects/{id}/branding", "safe", params={"id": id}, timeout=timeout,
        )

    def get_catalogue_definition(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> JsonObject:
        """One provider that Gatepass knows, with its whole definition.

        In the form of `/schemas/provider.json`.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/provider_catalogue/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_connection(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Connection:
        """One connection.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/connections/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_connection_of_project(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> SharedConnection:
        """One connection of the project.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/connections/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_connection_token(
        self, id: str, *, force_refresh: bool = UNSET, timeout: Optional[float] = None,
    ) -> AccessToken:
        """The access token of a connection, refreshed if need be.

        With `force_refresh` the token is refreshed before it expires: for a token that the provider has refused
        (401, `invalid_token`). A token that was received less than 10 seconds ago is not refreshed.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/connections/{id}/token", "safe", params={"id": id},
            body={"force_refresh": force_refresh}, timeout=timeout,
        )

    def get_diagnosis(
        self, *, timeout: Optional[float] = None,
    ) -> GetDiagnosisAnswer:
        """Check the installation with the settings of this server, and say how to fix its faults.

        It sends requests to the providers and the workers. Only keys of the project `default` see the settings,
        the logins and the telemetry of the installation.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/admin/diagnosis", "safe", timeout=timeout,
        )

    def get_execution(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> ToolExecutionDetail:
        """One run.

        With `input` and `attempts` where they were kept (`keep_content`, and scheduled runs).

        Needs a key of the role `caller` or above."""
        return self._call(
            "GET", "/v1/executions/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_file(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> bytes:
        """A file that a tool answered.

        The `url` of a result that is a file. The key that ran the tool can fetch it for an hour. It is sent as
        an attachment with its own media type.

        Needs a key of the role `caller` or above."""
        return self._call(
            "GET", "/v1/files/{id}", "safe", params={"id": id}, is_json=False, timeout=timeout,
        )

    def get_formatted_tool(
        self, name: str, *, user_id: str = UNSET,
        format: Literal["openai", "anthropic", "mcp", "jsonschema", "json_schema", "arcade", "oxp"] = UNSET,
        timeout: Optional[float] = None,
    ) -> FormattedTool:
        """One tool in the format of a model provider.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/formatted_tools/{name}", "safe", params={"name": name}, query={"user_id": user_id,
            "format": format}, timeout=timeout,
        )

    def get_health(
        self, *, timeout: Optional[float] = None,
    ) -> GetHealthAnswer:
        """The process is alive.

        Needs no key."""
        return self._call(
            "GET", "/health", "safe", timeout=timeout,
        )

    def get_metrics(
        self, *, timeout: Optional[float] = None,
    ) -> bytes:
        """Metrics for Prometheus.

        They name no user and no project, and hold no secret. GATEPASS_METRICS says who may read them: `open`,
        `key` or `off`. A key of the project `default` sees the providers and policies of all projects; one of
        another project sees their sums, under `other`.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/metrics", "safe", is_json=False, timeout=timeout,
        )

    def get_oxp_health(
        self, *, timeout: Optional[float] = None,
    ) -> None:
        """Readiness for OXP, which defines no body.

        Needs no key."""
        return self._call(
            "GET", "/oxp/health", "safe", timeout=timeout,
        )

    def get_pack(
        self, id: str, *, read_only: bool = UNSET, tools: str = UNSET, provider_id: str = UNSET,
        timeout: Optional[float] = None,
    ) -> PackDetail:
        """One tool pack, and what registers it.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/packs/{id}", "safe", params={"id": id}, query={"read_only": read_only, "tools": tools,
            "provider_id": provider_id}, timeout=timeout,
        )

    def get_policy(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Policy:
        """One policy.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/policies/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_readiness(
        self, *, timeout: Optional[float] = None,
    ) -> GetReadinessAnswer:
        """The database can be written, the process has every master key in use, and it is not shutting down. A
        worker of a distributed database that does not answer is named: all users but those whose connections it
        holds are served.

        Needs no key."""
        return self._call(
            "GET", "/ready", "safe", timeout=timeout,
        )

    def get_scheduled_tool(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> ToolExecutionDetail:
        """One scheduled run, and its result.

        Needs a key of the role `caller` or above."""
        return self._call(
            "GET", "/v1/scheduled_tools/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_secret(
        self, key: str, *, timeout: Optional[float] = None,
    ) -> Secret:
        """One secret by its key or id, without its value.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/secrets/{key}", "safe", params={"key": key}, timeout=timeout,
        )

    def get_secret_for_arcade_cli(
        self, key: str, *, timeout: Optional[float] = None,
    ) -> Secret:
        """One secret by its key or id, without its value.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/secrets/{key}", "safe", params={"key": key}, timeout=timeout,
        )

    def get_session_verification(
        self, *, timeout: Optional[float] = None,
    ) -> SessionVerification:
        """The user verifier, in the form of Arcade’s API.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/settings/session_verification", "safe", timeout=timeout,
        )

    def get_tool(
        self, name: str, *, user_id: str = UNSET, include_format: str = UNSET, timeout: Optional[float] = None,
    ) -> ToolDetail:
        """One tool, by any of its names.

        An imported tool comes with its metadata in `document`, without any secret.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/tools/{name}", "safe", params={"name": name}, query={"user_id": user_id,
            "include_format": include_format}, timeout=timeout,
        )

    def get_tool_requirements(
        self, *, tool_names: list[str] = UNSET, tools: list[GetToolRequirementsToolsItem] = UNSET,
        user_id: Optional[str] = UNSET, authorize: Optional[bool] = UNSET, timeout: Optional[float] = None,
    ) -> SharedRequirements:
        """What many tools need together.

        Each provider with the scopes of all the tools, and each secret, met or not. With `authorize`, one link
        leads the user through all that is missing.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/tools/requirements", "safe", body={"tool_names": tool_names, "tools": tools,
            "user_id": user_id, "authorize": authorize}, timeout=timeout,
        )

    def get_toolset(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> ToolsetDetail:
        """One toolset, and how many tools it has now.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/toolsets/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_webhook(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Webhook:
        """One webhook.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/webhooks/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_worker(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Worker:
        """One worker.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/workers/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def get_worker_health(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> GetWorkerHealthAnswer:
        """Whether the worker answers now.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/workers/{id}/health", "safe", params={"id": id}, timeout=timeout,
        )

    def import_connections(
        self, *, connections: list[ForeignConnection], replace: bool = UNSET, check: bool = UNSET,
        timeout: Optional[float] = None,
    ) -> ImportConnectionsAnswer:
        """Import connections with their tokens.

        Each row is stored completely or refused; a refused row does not affect the others; at most 500 a
        request, with `check` 50. Sending rows again is safe. The provider entry must have the client that got
        the tokens.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/user_connections/import", "safe", body={"connections": connections,
            "replace": replace, "check": check}, timeout=timeout,
        )

    def import_tools(
        self, body: Optional[Union[ToolMetadata, list[ToolMetadata]]], *, worker_id: str = UNSET,
        dry_run: bool = UNSET, timeout: Optional[float] = None,
    ) -> ImportResult:
        """Import tool metadata.

        One object or an array. Each tool is imported completely or refused with the reason. A repeated import
        changes nothing.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/tools/import", "safe", query={"worker_id": worker_id, "dry_run": dry_run}, body=body,
            timeout=timeout,
        )

    def list_api_keys(
        self, *, offset: int = UNSET, limit: int = UNSET, cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> ListApiKeysAnswer:
        """The project's API keys, never the keys themselves.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/admin/keys", "safe", query={"offset": offset, "limit": limit, "cursor": cursor},
            timeout=timeout,
        )

    def list_approvals(
        self, *,
        status: Literal["pending", "approved", "used", "denied", "expired", "cancelled", "superseded"] = UNSET,
        user_id: str = UNSET, offset: int = UNSET, limit: int = UNSET, cursor: str = UNSET,
        timeout: Optional[float] = None,
    ) -> ListApprovalsAnswer:
        """Calls that wait or waited for an approval, newest first, without their arguments.

        Needs a key of the role `approver`."""
        return self._call(
            "GET", "/v1/approvals", "safe", query={"status": status, "user_id": user_id, "offset": offset,
            "limit": limit, "cursor": cursor}, timeout=timeout,
        )

    def list_audit_entries(
        self, *, user_id: str = UNSET, provider_id: str = UNSET, connection_id: str = UNSET,
        action: Literal["token.released", "authorization.confirmed", "authorization.completed", "authorization.failed", "authorization.refused", "connection.refreshed", "connection.needs_authorization", "connection.made_default", "connection.deleted", "connection.imported", "connections.exported", "shared_connection.added", "shared_connection.changed", "shared_connection.deleted", "provider.added", "provider.changed", "provider.connections_kept", "provider.environment_client_confirmed", "provider.deleted", "provider.tested", "tool.imported", "tool.bound", "tool.deleted", "tool.changed", "worker.added", "worker.changed", "worker.deleted", "worker.synced", "worker.waiting", "worker.accepted", "worker.named", "policy.set", "policy.deleted", "policy.refused", "toolset.set", "toolset.deleted", "tool.scheduled", "tool.cancelled", "tool.tried", "approval.requested", "approval.approved", "approval.denied", "approval.expired", "approval.used", "approval.superseded", "standing_approval.added", "standing_approval.removed", "secret.set", "secret.deleted", "project.created", "branding.set", "branding.domain_set", "branding.domain_proved", "branding.domain_removed", "key.created", "key.rotated", "key.revoked", "console.logged_in", "console.logged_out", "webhook.added", "webhook.changed", "webhook.secret_rotated", "webhook.replayed", "webhook.tested", "webhook.disabled", "webhook.deleted", "mcp_client.approved", "mcp_client.revoked", "connect_session.created", "connect_session.opened", "connect_session.restarted", "connect_session.cancelled", "portal.linked", "portal.entered", "user.exported", "user.erased", "audit.archived", "access.refused", "envelope.unreadable", "master_key.rotated", "installation.backed_up", "installation.restored", "installation.commits_lost", "installation.moved", "installation.rows_signed"] = UNSET,
        tool: str = UNSET, subject: str = UNSET, actor_id: str = UNSET, since: str = UNSET, until: str = UNSET,
        before: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListAuditEntriesAnswer:
        """The audit trail, newest first.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/audit", "safe", query={"user_id": user_id, "provider_id": provider_id,
            "connection_id": connection_id, "action": action, "tool": tool, "subject": subject,
            "actor_id": actor_id, "since": since, "until": until, "before": before, "limit": limit},
            timeout=timeout,
        )

    def list_auth_providers(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListAuthProvidersAnswer:
        """All providers.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/auth_providers", "safe", query={"offset": offset, "limit": limit},
            timeout=timeout,
        )

    def list_connections(
        self, *, user_id: str = UNSET, provider_id: str = UNSET, offset: int = UNSET, limit: int = UNSET,
        cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> ListConnectionsAnswer:
        """A user's connections, never with a token.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/connections", "safe", query={"user_id": user_id, "provider_id": provider_id,
            "offset": offset, "limit": limit, "cursor": cursor}, timeout=timeout,
        )

    def list_connections_of_project(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListConnectionsOfProjectAnswer:
        """All connections of the project.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/connections", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_executions(
        self, *, user_id: str = UNSET, tool: str = UNSET, type: Literal["immediate", "scheduled"] = UNSET,
        status: Literal["scheduled", "waiting_for_approval", "running", "completed", "failed", "cancelled"] = UNSET,
        offset: int = UNSET, limit: int = UNSET, cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> ListExecutionsAnswer:
        """The history of runs, newest first.

        Kept for 30 days. The list has no inputs and outputs. Runs of other processes appear within a second.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/executions", "safe", query={"user_id": user_id, "tool": tool, "type": type,
            "status": status, "offset": offset, "limit": limit, "cursor": cursor}, timeout=timeout,
        )

    def list_formatted_tools(
        self, *, toolkit: str = UNSET, toolset: str = UNSET, user_id: str = UNSET,
        include_all_versions: bool = UNSET, q: str = UNSET, tag: str = UNSET, provider: str = UNSET,
        met: bool = UNSET, filter: str = UNSET, offset: int = UNSET, limit: int = UNSET,
        format: Literal["openai", "anthropic", "mcp", "jsonschema", "json_schema", "arcade", "oxp"] = UNSET,
        timeout: Optional[float] = None,
    ) -> ListFormattedToolsAnswer:
        """The known tools in the format of a model provider.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/formatted_tools", "safe", query={"toolkit": toolkit, "toolset": toolset,
            "user_id": user_id, "include_all_versions": include_all_versions, "q": q, "tag": tag,
            "provider": provider, "met": met, "filter": filter, "offset": offset, "limit": limit,
            "format": format}, timeout=timeout,
        )

    def list_mcp_clients(
        self, *, user_id: str = UNSET, offset: int = UNSET, limit: int = UNSET, cursor: str = UNSET,
        timeout: Optional[float] = None,
    ) -> ListMcpClientsAnswer:
        """The MCP clients that users have allowed to act for them.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/admin/mcp_clients", "safe", query={"user_id": user_id, "offset": offset, "limit": limit,
            "cursor": cursor}, timeout=timeout,
        )

    def list_oxp_tools(
        self, *, timeout: Optional[float] = None,
    ) -> ListOxpToolsAnswer:
        """The known tools as OXP tool definitions.

        `items` and `tools` have the same list, because the texts of OXP 1.0 use both names.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/oxp/tools", "safe", timeout=timeout,
        )

    def list_packs(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListPacksAnswer:
        """All tool packs.

        Ready-made tools of services. They are data: `gatepass packs add` registers one.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/packs", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_policies(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListPoliciesAnswer:
        """All policies.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/policies", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_projects(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListProjectsAnswer:
        """The projects.

        All of them for an administrator of the project `default`; for others only their own.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/admin/projects", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_provider_catalogue(
        self, *, offset: int = UNSET, limit: int = UNSET, search: str = UNSET, category: str = UNSET,
        verified: bool = UNSET, timeout: Optional[float] = None,
    ) -> ListProviderCatalogueAnswer:
        """The providers that Gatepass knows.

        Their ids are what `provider_id` of a new provider may name.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/provider_catalogue", "safe", query={"offset": offset, "limit": limit,
            "search": search, "category": category, "verified": verified}, timeout=timeout,
        )

    def list_quotas(
        self, *, offset: int = UNSET, limit: int = UNSET, user_id: str = UNSET, timeout: Optional[float] = None,
    ) -> ListQuotasAnswer:
        """What quotas have counted in the current hour or day.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/quotas", "safe", query={"offset": offset, "limit": limit, "user_id": user_id},
            timeout=timeout,
        )

    def list_scheduled_tools(
        self, *, offset: int = UNSET, limit: int = UNSET, cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> ListExecutionsAnswer:
        """Scheduled runs, newest first.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/scheduled_tools", "safe", query={"offset": offset, "limit": limit, "cursor": cursor},
            timeout=timeout,
        )

    def list_secrets(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListSecretsAnswer:
        """All secrets, without their values.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/secrets", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_secrets_for_arcade_cli(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListSecretsAnswer:
        """All secrets, without their values.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/secrets", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_standing_approvals(
        self, *, user_id: str = UNSET, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListStandingApprovalsAnswer:
        """Approvals that cover further calls, and blocked agents.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/admin/standing_approvals", "safe", query={"user_id": user_id, "offset": offset,
            "limit": limit}, timeout=timeout,
        )

    def list_tools(
        self, *, toolkit: str = UNSET, toolset: str = UNSET, user_id: str = UNSET,
        include_all_versions: bool = UNSET, q: str = UNSET, tag: str = UNSET, provider: str = UNSET,
        met: bool = UNSET, filter: str = UNSET, offset: int = UNSET, limit: int = UNSET,
        include_format: str = UNSET, timeout: Optional[float] = None,
    ) -> ListToolsAnswer:
        """The known tools, and whether their requirements are met.

        With `user_id`, each says in `token_status` what that user has granted.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/tools", "safe", query={"toolkit": toolkit, "toolset": toolset, "user_id": user_id,
            "include_all_versions": include_all_versions, "q": q, "tag": tag, "provider": provider, "met": met,
            "filter": filter, "offset": offset, "limit": limit, "include_format": include_format},
            timeout=timeout,
        )

    def list_toolset_tools(
        self, id: str, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListToolsetToolsAnswer:
        """The tools of a toolset, oldest first, under the names that MCP clients get.

        `GET /v1/tools?toolset={id}` describes them.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/toolsets/{id}/tools", "safe", params={"id": id}, query={"offset": offset,
            "limit": limit}, timeout=timeout,
        )

    def list_toolsets(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListToolsetsAnswer:
        """All toolsets.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/toolsets", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_user_connections(
        self, *, provider_id: str = UNSET, user_id: str = UNSET, offset: int = UNSET, limit: int = UNSET,
        cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> ListUserConnectionsAnswer:
        """All users' connections, with the provider's user info of each account.

        Needs a key of the role `admin`."""
        return self._call(
            "GET", "/v1/admin/user_connections", "safe", query={"provider_id": provider_id, "user_id": user_id,
            "offset": offset, "limit": limit, "cursor": cursor}, timeout=timeout,
        )

    def list_webhook_deliveries(
        self, id: str, *, state: Literal["waiting", "delivered", "failed"] = UNSET, offset: int = UNSET,
        limit: int = UNSET, cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> ListWebhookDeliveriesAnswer:
        """What was sent to a webhook, newest first.

        Kept for 14 days.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/webhooks/{id}/deliveries", "safe", params={"id": id}, query={"state": state,
            "offset": offset, "limit": limit, "cursor": cursor}, timeout=timeout,
        )

    def list_webhooks(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListWebhooksAnswer:
        """All webhooks.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/webhooks", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def list_worker_tools(
        self, id: str, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListWorkerToolsAnswer:
        """The tools of a worker.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/workers/{id}/tools", "safe", params={"id": id}, query={"offset": offset,
            "limit": limit}, timeout=timeout,
        )

    def list_workers(
        self, *, offset: int = UNSET, limit: int = UNSET, timeout: Optional[float] = None,
    ) -> ListWorkersAnswer:
        """All workers.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "GET", "/v1/workers", "safe", query={"offset": offset, "limit": limit}, timeout=timeout,
        )

    def replay_webhook(
        self, id: str, *, since: str = UNSET, until: str = UNSET,
        types: list[Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]] = UNSET,
        only_failed: bool = UNSET, cursor: str = UNSET, timeout: Optional[float] = None,
    ) -> WebhookReplay:
        """Send past events once more.

        Events keep their ids, and events of one subject their order. One request takes up to 500 events; as its
        answer has `next_cursor`, send the same request again with it as `cursor`.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/webhooks/{id}/replay", "safe", params={"id": id}, body={"since": since, "until": until,
            "types": types, "only_failed": only_failed, "cursor": cursor}, timeout=timeout,
        )

    def revoke_api_key(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> None:
        """Revoke an API key; it is refused from then on.

        A key may revoke itself. The record of a revoked key stays in the list.

        Needs a key of the role `admin`."""
        return self._call(
            "DELETE", "/v1/admin/keys/{id}", "safe", params={"id": id}, timeout=timeout,
        )

    def rotate_api_key(
        self, id: str, *, grace: Optional[int] = UNSET, prefix: Literal["gp", "arc", None] = UNSET,
        timeout: Optional[float] = None,
    ) -> RotateApiKeyAnswer:
        """Create a key that replaces another.

        Both keys are valid until the old one ends: after `grace` seconds, or earlier if it expires earlier.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/keys/{id}/rotate", "unsafe", params={"id": id}, body={"grace": grace,
            "prefix": prefix}, timeout=timeout,
        )

    def rotate_webhook_secret(
        self, id: str, *, overlap_seconds: int = UNSET, timeout: Optional[float] = None,
    ) -> WebhookWithSecret:
        """Replace the secret of a webhook.

        Both secrets sign until `overlap_seconds` have passed, a day by default.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/webhooks/{id}/rotate", "unsafe", params={"id": id},
            body={"overlap_seconds": overlap_seconds}, timeout=timeout,
        )

    def run_chain(
        self, *, steps: Optional[list[RunChainStepsItem]] = UNSET, resume: Optional[str] = UNSET,
        user_id: Optional[str] = UNSET, account: Optional[str] = UNSET,
        accounts: Optional[dict[str, str]] = UNSET, next_uri: Optional[str] = UNSET,
        user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET,
        metadata: Optional[dict[str, str]] = UNSET, keep_content: Optional[bool] = UNSET,
        idempotency_key: Optional[str] = None, timeout: Optional[float] = None,
    ) -> ChainResult:
        """Run several tools in a row.

        Answers `status`, `structured` (of the last step) and the status of each step: `completed`, `failed` or
        `skipped`. The first step that fails ends the chain. A step that needs consent ends it with
        `requires_authorization`, which names the step, and `resume`: send `resume` (once, within a day) after
        the user has approved, and no finished step is run again.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/tools/run_chain", "by_key", body={"steps": steps, "resume": resume, "user_id": user_id,
            "account": account, "accounts": accounts, "next_uri": next_uri, "user_display": user_display,
            "lang": lang, "metadata": metadata, "keep_content": keep_content}, idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def run_tool(
        self, *, tool_id: str, tool_version: Optional[str] = UNSET, args: JsonObject = UNSET,
        user_id: Optional[str] = UNSET, account: Optional[str] = UNSET,
        accounts: Optional[dict[str, str]] = UNSET, next_uri: Optional[str] = UNSET,
        user_display: Optional[str] = UNSET, lang: Optional[str] = UNSET,
        metadata: Optional[dict[str, str]] = UNSET, keep_content: Optional[bool] = UNSET,
        when_approved: Literal["run", None] = UNSET, idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> RunResult:
        """Run a tool and get its plain result.

        Answers `tool`, `backend`, `structured` (and `mcpResult` where an MCP server ran it). In place of a
        result there is `error {kind, op, message, …}` when the tool failed, or `requires_authorization` with
        the link when consent is missing. Arguments that the schema refuses are 400 `invalid_input`.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/tools/run", "by_key", body={"toolId": tool_id, "tool_version": tool_version,
            "args": args, "user_id": user_id, "account": account, "accounts": accounts, "next_uri": next_uri,
            "user_display": user_display, "lang": lang, "metadata": metadata, "keep_content": keep_content,
            "when_approved": when_approved}, idempotency_key=idempotency_key, timeout=timeout,
        )

    def set_default_connection(
        self, id: str, *, default: Literal[True], timeout: Optional[float] = None,
    ) -> Connection:
        """Make a connection the default account of its user.

        Needs a key of the role `caller` or above."""
        return self._call(
            "PATCH", "/v1/connections/{id}", "safe", params={"id": id}, body={"default": default},
            timeout=timeout,
        )

    def set_secret(
        self, key: str, *, value: str, description: Optional[str] = UNSET, timeout: Optional[float] = None,
    ) -> Secret:
        """Set a secret.

        Needs a key of the role `admin`."""
        return self._call(
            "PUT", "/v1/admin/secrets/{key}", "safe", params={"key": key}, body={"value": value,
            "description": description}, timeout=timeout,
        )

    def set_secret_by_post(
        self, key: str, *, value: str, description: Optional[str] = UNSET, timeout: Optional[float] = None,
    ) -> Secret:
        """Set a secret.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/secrets/{key}", "safe", params={"key": key}, body={"value": value,
            "description": description}, timeout=timeout,
        )

    def set_secret_for_arcade_cli(
        self, key: str, *, value: str, description: Optional[str] = UNSET, timeout: Optional[float] = None,
    ) -> Secret:
        """Set a secret.

        Needs a key of the role `admin`."""
        return self._call(
            "PUT", "/v1/secrets/{key}", "safe", params={"key": key}, body={"value": value,
            "description": description}, timeout=timeout,
        )

    def test_connection_of_project(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> SharedConnection:
        """Ask for a new token of a connection of the project, or have its key checked.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/connections/{id}/test", "safe", params={"id": id}, timeout=timeout,
        )

    def test_policies(
        self, *, user_id: str = UNSET, use: Literal["tool", "proxy", "token"] = UNSET, tool_name: str = UNSET,
        provider_id: str = UNSET, scopes: list[str] = UNSET, owner: Literal["user", "project"] = UNSET,
        host: str = UNSET, arguments: JsonObject = UNSET, at: str = UNSET, timeout: Optional[float] = None,
    ) -> PolicyVerdict:
        """Test which decision the policies make about a use.

        No token is used, no use is counted and no hook is called. A tool brings its own providers, scopes and
        hosts; `provider_id` and `host` replace them.

        Needs a key of the role `readonly` or above."""
        return self._call(
            "POST", "/v1/admin/policies/test", "safe", body={"user_id": user_id, "use": use,
            "tool_name": tool_name, "provider_id": provider_id, "scopes": scopes, "owner": owner, "host": host,
            "arguments": arguments, "at": at}, timeout=timeout,
        )

    def test_webhook(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> WebhookTest:
        """Send a test event now.

        The event has the type `webhook.test`. It is sent like every delivery, but is not repeated and appears
        in no list.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/webhooks/{id}/test", "unsafe", params={"id": id}, timeout=timeout,
        )

    def test_worker(
        self, *, id: str = UNSET, type: Optional[str] = UNSET, enabled: bool = UNSET,
        pinning: Literal["hold", "record", "off"] = UNSET, http: HttpWorkerRegistration = UNSET,
        mcp: McpWorkerRegistration = UNSET, openapi: OpenapiWorkerRegistration = UNSET,
        oxp: OxpWorkerRegistration = UNSET, timeout: Optional[float] = None,
    ) -> TestWorkerAnswer:
        """Try out a worker without registering it.

        Takes what POST /v1/workers takes. The answer for an unhealthy worker is 200 too, with the reason.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/workers/test", "safe", body={"id": id, "type": type, "enabled": enabled,
            "pinning": pinning, "http": http, "mcp": mcp, "openapi": openapi, "oxp": oxp}, timeout=timeout,
        )

    def update_auth_provider(
        self, id: str, *, id_in_body: str = UNSET, description: Optional[str] = UNSET,
        provider_id: Optional[str] = UNSET, owner: Literal["user", "project", "either", None] = UNSET,
        type: Literal["oauth2", "oauth1", "credentials", None] = UNSET,
        status: Literal["active", "inactive", "missing", None] = UNSET, missing: JsonValue = UNSET,
        binding: JsonValue = UNSET, created_at: JsonValue = UNSET, updated_at: JsonValue = UNSET,
        keep_connections: bool = UNSET, oauth2: Optional[AuthProviderUpdateRequestOauth2] = UNSET,
        oauth1: Optional[AuthProviderCreateRequestOauth1] = UNSET,
        credentials: Optional[AuthProviderCreateRequestCredentials] = UNSET, timeout: Optional[float] = None,
    ) -> AuthProviderResponse:
        """Change a provider.

        Members that are left out do not change. With another client id, or another endpoint in any role (origin
        and path), the provider counts as another one: existing connections then need a new consent, and their
        tokens are not sent to the new endpoints, unless `keep_connections` is set. Different versions of the
        endpoints in the catalogue count as the same provider.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/admin/auth_providers/{id}", "safe", params={"id": id}, body={"id": id_in_body,
            "description": description, "provider_id": provider_id, "owner": owner, "type": type,
            "status": status, "missing": missing, "binding": binding, "created_at": created_at,
            "updated_at": updated_at, "keep_connections": keep_connections, "oauth2": oauth2, "oauth1": oauth1,
            "credentials": credentials}, timeout=timeout,
        )

    def update_connection_of_project(
        self, id: str, *, name: str = UNSET, shared_with: UpdateConnectionOfProjectSharedWith = UNSET,
        fields: dict[str, str] = UNSET, timeout: Optional[float] = None,
    ) -> SharedConnection:
        """Rename a connection of the project, share it with others, or replace its key.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/admin/connections/{id}", "safe", params={"id": id}, body={"name": name,
            "shared_with": shared_with, "fields": fields}, timeout=timeout,
        )

    def update_pack(
        self, id: str, *, dry_run: bool = UNSET, timeout: Optional[float] = None,
    ) -> PackUpdate:
        """Take the present definitions of a pack.

        Of the tools that were added, with the provider entry that was chosen then. Tools that the pack has
        beside them are not added.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/packs/{id}/update", "safe", params={"id": id}, body={"dry_run": dry_run},
            timeout=timeout,
        )

    def update_policy(
        self, id: str, *, description: Optional[str] = UNSET, enabled: bool = UNSET,
        effect: Literal["allow", "deny", "hook", "approve"] = UNSET, match: PolicyMatch = UNSET,
        hook: UpdatePolicyHook = UNSET, approve: PolicyApproval = UNSET, timeout: Optional[float] = None,
    ) -> Policy:
        """Change a policy.

        `match` is replaced as a whole; members that `hook` leaves out do not change.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/admin/policies/{id}", "safe", params={"id": id}, body={"description": description,
            "enabled": enabled, "effect": effect, "match": match, "hook": hook, "approve": approve},
            timeout=timeout,
        )

    def update_toolset(
        self, id: str, *, tools: Optional[list[str]] = UNSET, namespaces: Optional[list[str]] = UNSET,
        tags: Optional[list[str]] = UNSET, providers: Optional[list[str]] = UNSET,
        names: Literal["prefixed", "bare"] = UNSET, instructions: Optional[str] = UNSET,
        listing: Literal["all", "search", None] = UNSET, timeout: Optional[float] = None,
    ) -> ToolsetDetail:
        """Change a toolset.

        Each list is replaced as a whole; `null` removes a member.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/toolsets/{id}", "safe", params={"id": id}, body={"tools": tools,
            "namespaces": namespaces, "tags": tags, "providers": providers, "names": names,
            "instructions": instructions, "listing": listing}, timeout=timeout,
        )

    def update_webhook(
        self, id: str, *, url: str = UNSET, description: Optional[str] = UNSET,
        types: Optional[list[Literal["authorization.completed", "authorization.failed", "authorization.expired", "connection.created", "connection.refreshed_scopes", "connection.needs_authorization", "connection.revoked", "connection.deleted", "tool.run.failed", "worker.requirements_changed", "approval.requested", "approval.decided", "approval.expired", "worker.tools_changed"]]] = UNSET,
        enabled: bool = UNSET, timeout: Optional[float] = None,
    ) -> Webhook:
        """Change a webhook.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/webhooks/{id}", "safe", params={"id": id}, body={"url": url,
            "description": description, "types": types, "enabled": enabled}, timeout=timeout,
        )

    def update_worker(
        self, id: str, *, enabled: bool = UNSET, pinning: Literal["hold", "record", "off"] = UNSET,
        http: HttpWorkerChange = UNSET, mcp: McpWorkerChange = UNSET, openapi: OpenapiWorkerChange = UNSET,
        oxp: OxpWorkerChange = UNSET, timeout: Optional[float] = None,
    ) -> Worker:
        """Change a worker and read its catalogue again.

        Needs a key of the role `admin`."""
        return self._call(
            "PATCH", "/v1/workers/{id}", "safe", params={"id": id}, body={"enabled": enabled,
            "pinning": pinning, "http": http, "mcp": mcp, "openapi": openapi, "oxp": oxp}, timeout=timeout,
        )

    def validate_custom_verifier(
        self, *, user_id: str, verifier_url: str, timeout: Optional[float] = None,
    ) -> ValidateCustomVerifierAnswer:
        """Try out a verifier page.

        Open `next_uri` in a browser in which this user is logged in at the page: the page gets `flow_id`, and
        its server confirms it by POST /v1/auth/confirm_user for this user within ten minutes. Nothing is
        authorized by it.

        Needs a key of the role `caller` or above."""
        return self._call(
            "POST", "/v1/auth/validate_custom_verifier", "safe", body={"user_id": user_id,
            "verifier_url": verifier_url}, timeout=timeout,
        )

    def verify_domain(
        self, id: str, *, timeout: Optional[float] = None,
    ) -> Branding:
        """Prove the project's domain.

        Looks up the TXT record that the branding names. Once it is found, users see the pages at the domain,
        and providers redirect them to it. So register the new redirect URIs first, and make sure that the host
        serves Gatepass with TLS.

        Needs a key of the role `admin`."""
        return self._call(
            "POST", "/v1/admin/projects/{id}/branding/domain/verify", "safe", params={"id": id},
            timeout=timeout,
        )
