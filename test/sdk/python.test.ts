import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { approve } from '../http/world.ts'
import { listenHttps } from '../https-loopback.ts'
import { answerJson, type Handler, listen, type RecordedRequest, record } from '../loopback.ts'
import { missingIn, needsPython, runPython } from '../python.ts'
import { type SdkWorld, startSdkWorld } from './sdk-world.ts'

// The client in src/sdk/python, in processes of python3: against a real Gatepass, and against servers that fail.

beforeEach((context) => needsPython(context))

let world: SdkWorld
beforeAll(async () => {
  world = await startSdkWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Runs lines of Python with a client in `gatepass`; returns what they print. */
function printedBy(lines: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const program = `import json, logging, sys\nfrom gatepass import *\ngatepass = Gatepass()\n${lines}`
  const { url, apiKey } = world.gatepass
  return runPython({
    arguments: ['-c', program],
    environment: { GATEPASS_URL: url, GATEPASS_API_KEY: apiKey, ...environment },
    approve,
  })
}

/** The JSON in the last line that they print. */
const lastOf = (printed: string) => JSON.parse(/([^\n]*)\n$/.exec(printed)?.[1] ?? '')
const python = async (lines: string) => lastOf(await printedBy(lines))

/** Lines that print the class and the members of the error that an expression raises. */
const errorOf = (expression: string) => `
try:
    print(json.dumps({"value": ${expression}}))
except GatepassError as error:
    print(json.dumps({"type": type(error).__name__, "text": str(error), **{name: getattr(error, name) for name in ("code", "status", "errors", "retry_after")}}))
`

/** Runs an expression against a server that answers as \`handler\` does; returns the result and the requests. */
async function against(handler: Handler, expression: string, before = '') {
  const sent: RecordedRequest[] = []
  await using server = await listen(async (req, res) => {
    sent.push(await record(req))
    await handler(req, res)
  })
  const printed = await printedBy(`${before}\n${errorOf(expression)}`, {
    GATEPASS_URL: `${server.url}/base/`,
    GATEPASS_API_KEY: SECRET,
  })
  return { printed, answer: lastOf(printed), sent }
}
const SECRET = 'gp_secret_of_the_test'

describe('against a Gatepass', () => {
  test('does the main job in seven lines', async () => {
    const value = await python(`
value = gatepass.run("Demo_WhoAmI", user="py1", consent=lambda link: print("Please open", link["url"]))
print(json.dumps(value))`)
    expect(value).toMatchObject({ user_id: 'py1' })
  })

  test('raises the missing consent, with the link, where no function shows it', async () => {
    const error = await python(`
try:
    gatepass.run("Demo_WhoAmI", user="py2")
except AuthorizationRequired as error:
    print(json.dumps([error.code, error.authorization["url"]]))`)
    expect(error).toEqual(['authorization_required', expect.stringContaining('/connect/auth_')])
  })

  test('shows an approval by its own function; a denial says why, and fails the same call', async () => {
    const key = await world.gatepass.makeKey('approver')
    const policy = {
      id: 'ask-first',
      effect: 'approve',
      match: { tools: ['Demo.Echo'] },
      approve: { by: { group: 'security' } },
    }
    expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({ status: 201 })
    const found = await python(`
approver = Gatepass(api_key="${key}")
def decide(link, decision, **more):
    digest = approver.get_approval(link["id"])["digest"]
    approver.decide_approval(link["id"], decision=decision, digest=digest, approver="bob", **more)
def run(text, decision, **more):
    return gatepass.run("Demo_Echo", {"text": text}, user="py7", consent=lambda link: decide(link, "deny"), approval=lambda link: decide(link, decision, **more))
value = run("one", "approve")
errors = []
for _ in range(2):
    try:
        run("two", "deny", reason="Not on a Sunday.")
    except GatepassError as error:
        errors.append([error.code, getattr(error, "reason", None), str(error)])
print(json.dumps([value["inputs"], errors]))`)
    expect(found).toEqual([
      { text: 'one' },
      [
        ['authorization_failed', 'approval_denied', expect.stringContaining('Not on a Sunday.')],
        ['tool_error', null, expect.stringContaining('bob denied this call. Not on a Sunday.')],
      ],
    ])
    await world.call('DELETE', '/v1/admin/policies/ask-first')
  })

  test('waits for an authorization, and keeps its token out of the answer', async () => {
    const completed = await python(`
need = {"id": "demo", "provider_type": "oauth2", "oauth2": {"scopes": ["read"]}}
begun = gatepass.authorize(auth_requirement=need, user_id="py3")
print(begun["url"])
print(json.dumps(gatepass.wait(begun["id"])))`)
    expect(completed).toMatchObject({ status: 'completed', user_id: 'py3' })
    expect(completed).not.toHaveProperty('context')
  })

  test('raises a wait that takes too long', async () => {
    const found = await python(`
need = {"id": "demo", "provider_type": "oauth2", "oauth2": {"scopes": ["read"]}}
begun = gatepass.authorize(auth_requirement=need, user_id="py4")
${errorOf('gatepass.wait(begun["id"], timeout=0.2)')}`)
    expect(found).toMatchObject({ code: 'authorization_timeout', status: null })
  })

  test('has the refusal with its code, its status and each fault', async () => {
    const found = await python(errorOf('gatepass.execute_tool(tool_name="", user_id=3)'))
    expect(found).toMatchObject({ type: 'GatepassError', code: 'invalid_request', status: 400 })
    expect(found.errors.map(({ path }: { path: string }) => path)).toEqual(['tool_name', 'user_id'])
  })

  test('raises the failure of a tool', async () => {
    expect(await python(errorOf('gatepass.run("Demo_Fail", user="py1")'))).toMatchObject({
      type: 'ToolFailed',
      code: 'tool_error',
    })
  })

  test('calls a provider’s API with the user’s token put in', async () => {
    const sent: RecordedRequest[] = []
    await using api = await listen(async (req, res) => {
      sent.push(await record(req))
      answerJson(res, 418, { kind: 'teapot' })
    })
    const { status } = await world.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: { api: { base_url: api.url } },
    })
    expect(status).toBe(200)
    const token = await world.connect('py5')
    const answer = await python(`
answer = gatepass.fetch("py5", "demo", "/notes/1", method="post", body={"a": 1}, headers={"X-Gatepass-Account": "another"})
print(json.dumps([answer.status, answer.json()]))`)
    expect(answer).toEqual([418, { kind: 'teapot' }])
    expect(sent).toMatchObject([
      { method: 'POST', path: '/notes/1', json: { a: 1 }, headers: { authorization: `Bearer ${token}` } },
    ])
    const found = await python(`
try:
    gatepass.fetch("py6", "demo", "/notes")
except AuthorizationRequired as error:
    print(json.dumps([error.status, error.authorization["url"]]))`)
    expect(found).toEqual([403, expect.stringContaining('/connect/')])
    const bodiless = await python(errorOf('gatepass.fetch("py6", "demo", "/notes", method="HEAD").status'))
    expect(bodiless).toMatchObject({ code: 'authorization_required', status: 403 })
  })

  test('reads all pages of a list', async () => {
    const [all, pages] = await python(`
names = [tool["qualified_name"] for tool in gatepass.list_tools(limit=100)["items"]]
print(json.dumps([names, [tool["qualified_name"] for tool in gatepass.each(gatepass.list_tools, limit=2)]]))`)
    expect(all.length).toBeGreaterThan(4)
    expect(pages).toEqual(all)
    const rest = await python(
      'print(json.dumps([tool["qualified_name"] for tool in gatepass.each(gatepass.list_tools, limit=2, offset=1)]))',
    )
    expect(rest).toEqual(all.slice(1))
  })
})

const PAGE = { items: [], total_count: 0, offset: 0, limit: 25, page_count: 0 }
const NOW = { 'retry-after': '0' }

/** Answers with each of these, the last to all further requests. */
function script(
  ...answers: readonly [status: number, body: object, headers?: Record<string, string>][]
): Handler {
  const left = [...answers]
  return (_, res) => {
    const [status, body, headers = {}] = (left.length > 1 ? left.shift() : left[0]) ?? [500, {}]
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    answerJson(res, status, body)
  }
}
const endless: Handler = (_, res) => {
  res.writeHead(200, { 'content-type': 'application/json' })
  const sending = setInterval(() => res.write(' '), 10)
  res.on('close', () => clearInterval(sending))
}
const refusal = (name: string) => ({ name, message: 'Refused.' })

describe('repeats a request', () => {
  test('after 429 and 503 as Retry-After says, with one idempotency key', async () => {
    const ran = { execution_id: 'exec_1', duration: 1, finished_at: '2027-01-01T00:00:00Z', success: true }
    const { answer, sent } = await against(
      script([503, refusal('store_unavailable'), NOW], [429, refusal('rate_limited'), NOW], [200, ran]),
      'gatepass.run("Tool")',
    )
    expect(answer).toEqual({ value: null })
    expect(sent.map(({ path }) => path)).toEqual(Array(3).fill('/base/v1/tools/execute'))
    const keys = sent.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(keys).size).toBe(1)
  })

  test('but not one whose answer shows a secret once, except after 429', async () => {
    const create = 'gatepass.create_api_key(role="caller")'
    const lost = await against(script([503, refusal('store_unavailable'), NOW]), create)
    expect(lost.answer).toMatchObject({ code: 'store_unavailable', status: 503 })
    expect(lost.sent).toHaveLength(1)
    const limited = await against(script([429, refusal('rate_limited'), NOW], [201, { id: 'key_1' }]), create)
    expect(limited.sent).toHaveLength(2)
  })

  test('two times at most, and not after a Retry-After of more than a minute', async () => {
    const list = 'gatepass.list_workers()'
    expect((await against(script([500, refusal('internal_error'), NOW]), list)).sent).toHaveLength(3)
    const late = await against(script([503, refusal('store_unavailable'), { 'retry-after': '61' }]), list)
    expect(late.sent).toHaveLength(1)
    expect(late.answer).toMatchObject({ retry_after: 61 })
    const odd = { 'retry-after': 'Mon, 01 Jan 2024 00:00:00 +99999999999999999' }
    const unread = await against(
      script([503, refusal('store_unavailable'), odd]),
      'Gatepass(max_retries=0).list_workers()',
    )
    expect(unread.answer).toMatchObject({ code: 'store_unavailable', retry_after: null })
  })

  test('not after a refusal', async () => {
    const { sent } = await against(script([404, refusal('not_found'), NOW]), 'gatepass.get_worker("w")')
    expect(sent).toHaveLength(1)
  })
})

describe('wait', () => {
  const AT_ONCE = 'import time\ntime.sleep = lambda seconds: None'
  const status = (status: string, more: object = {}) => ({ id: 'auth_1', status, scopes: [], ...more })

  test('goes on after failures, and while the consent is pending', async () => {
    const { answer, sent } = await against(
      script(
        [503, refusal('store_unavailable')],
        [200, status('pending')],
        [200, status('completed', { context: { token: 'at_1' } })],
      ),
      'gatepass.wait("auth_1")',
      AT_ONCE,
    )
    expect(answer).toEqual({ value: status('completed') })
    expect(sent.map(({ query }) => query)).toEqual(Array(3).fill({ id: 'auth_1', wait: '45' }))
  })

  test('raises a failed authorization at once, and a refusal', async () => {
    const failed = script([200, status('failed', { reason: 'access_denied', message: 'Ask again.' })])
    expect((await against(failed, 'gatepass.wait("auth_1")', AT_ONCE)).answer).toMatchObject({
      type: 'AuthorizationFailed',
      text: 'authorization_failed: The authorization failed (access_denied). Ask again.',
    })
    const unknown = await against(script([404, refusal('not_found')]), 'gatepass.wait("auth_1")', AT_ONCE)
    expect(unknown.answer).toMatchObject({ code: 'not_found' })
    expect(unknown.sent).toHaveLength(1)
  })
})

describe('the API key', () => {
  test('follows no redirect', async () => {
    const others: RecordedRequest[] = []
    await using other = await listen(async (req, res) => {
      others.push(await record(req))
      answerJson(res, 200, PAGE)
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const { answer } = await against(
        script([status, {}, { location: `${other.url}/v1/workers` }]),
        'gatepass.list_workers()',
      )
      expect(answer).toMatchObject({ code: 'unexpected_answer', status })
    }
    expect(others).toEqual([])
  })

  test('is in the header alone: not in what is printed, logged or raised', async () => {
    const { printed, answer, sent } = await against(
      script([503, refusal('store_unavailable'), NOW], [401, refusal('invalid_authorization')]),
      'gatepass.list_workers()',
      'logging.basicConfig(level=0, stream=sys.stdout)\nprint(repr(gatepass), vars(gatepass))',
    )
    expect(sent[1]?.headers.authorization).toBe(`Bearer ${SECRET}`)
    expect(answer).toMatchObject({ code: 'invalid_authorization', status: 401 })
    expect(printed).toContain('store_unavailable; attempt 2')
    expect(printed).not.toContain(SECRET)
  })

  test('is not accepted with characters that would be another header', async () => {
    expect((await against(script([200, PAGE]), 'Gatepass(api_key="a\\r\\nx: y")')).answer).toMatchObject({
      code: 'invalid_options',
    })
  })
})

test.each([
  'http://127.0.0.1:port',
  'http://[::1',
  'http://127.0.0.1:0',
  'http://a:b@127.0.0.1',
  'ftp://127.0.0.1',
])('a URL that is none is named when the client is made: %s', async (url) => {
  const found = await python(errorOf(`Gatepass(${JSON.stringify(url)}).list_workers()`))
  expect(found).toMatchObject({ code: 'invalid_options' })
})

describe('refuses what would reach another path', () => {
  test.each([
    'gatepass.get_worker("..")',
    'gatepass.get_worker("")',
    'gatepass.fetch("ada", "demo", "/../../v1/admin/keys")',
    'gatepass.fetch("ada", "demo", "/%2e%2E/v1")',
    'gatepass.fetch("ada", "demo", "/a#/../b")',
    'gatepass.fetch("ada ", "demo", "/a")',
    'gatepass.fetch("ada", "..", "/a")',
  ])('%s', async (expression) => {
    const { answer, sent } = await against(script([200, PAGE]), expression)
    expect(answer).toMatchObject({ code: 'invalid_request' })
    expect(sent).toEqual([])
  })

  test('an id stays one part of the path', async () => {
    const { sent } = await against(script([200, PAGE]), 'gatepass.get_worker("a/b?c")')
    expect(sent.map(({ path }) => path)).toEqual(['/base/v1/workers/a%2Fb%3Fc'])
  })
})

test('sends the API key over TLS to a server of a trusted certificate alone, and loads the certificates once', async () => {
  const keys: unknown[] = []
  await using server = await listenHttps(async (req, res) => {
    keys.push(req.headers.authorization)
    if (req.url === '/v1/workers/endless') await endless(req, res)
    else answerJson(res, 200, PAGE)
  })
  const found = await python(`
import ssl
loads, create = [], ssl.create_default_context
ssl.create_default_context = lambda *args, **more: loads.append(1) or create(*args, **more)
def code(client, id="w"):
    try:
        return client.get_worker(id)["total_count"]
    except GatepassError as error:
        return error.code
url = ${JSON.stringify(server.url)}
untrusted = Gatepass(url, "gp_untrusted", max_retries=0)
codes = [code(untrusted), code(untrusted), len(loads)]
context = create(cadata=${JSON.stringify(server.cert)})
codes.append(code(Gatepass(url, "gp_trusted", context=context)))
print(json.dumps([*codes, code(Gatepass(url, "gp_trusted", context=context, timeout=0.5, max_retries=0), "endless")]))`)
  expect(found).toEqual(['connection_error', 'connection_error', 1, 0, 'timeout'])
  expect(new Set(keys)).toEqual(new Set(['Bearer gp_trusted']))
})

describe('ends at its deadline', () => {
  const ONCE = 'gatepass = Gatepass(timeout=0.3, max_retries=0)'

  test('when there is no answer', async () => {
    const { answer } = await against(() => new Promise(() => undefined), 'gatepass.list_workers()', ONCE)
    expect(answer).toMatchObject({ code: 'timeout', status: null })
  })

  test('when the answer goes on without an end', async () => {
    const { answer } = await against(endless, 'gatepass.list_workers()', ONCE)
    expect(answer).toMatchObject({ code: 'timeout', status: null })
  })

  test('when connecting took all of the time', async () => {
    const { answer, sent } = await against(
      endless,
      'gatepass.list_workers()',
      `${ONCE}
import http.client, threading
connect = http.client.HTTPConnection.connect
def late(connection):
    connect(connection)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer): thread.join()
http.client.HTTPConnection.connect = late`,
    )
    expect(answer).toMatchObject({ code: 'timeout', status: null })
    expect(sent).toEqual([])
  })
})

test('each type names types that the file defines', async () => {
  const [types, methods] = await python(`
import gatepass as module, typing
classes = [one for one in vars(module).values() if isinstance(one, type)]
methods = [one for name, one in vars(Gatepass).items() if not name.startswith("_")]
for one in classes + methods: typing.get_type_hints(one, vars(module))
print(json.dumps([len(classes), [one.__name__ for one in methods if not one.__doc__]]))`)
  expect(types).toBeGreaterThan(100)
  expect(methods).toEqual([])
})

test('has the version of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(readFileSync('src/sdk/python/gatepass.py', 'utf8')).toContain(`__version__ = "${version}"`)
  expect(readFileSync('src/sdk/python/pyproject.toml', 'utf8')).toContain(`version = "${version}"`)
})

test('what a machine has not is named', async () => {
  expect(await missingIn('python3', ['json', 'no_such_package'])).toBe('python3 has no no_such_package')
  expect(await missingIn('no-such-python', [])).toBe('there is no no-such-python')
})
