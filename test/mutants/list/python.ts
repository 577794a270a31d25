import type { Mutation } from '../mutation.ts'

// The client for Python.

const file = 'src/sdk/python/gatepass.py'
const test = 'sdk/python.test.ts'

export const python: readonly Mutation[] = [
  {
    rows: [],
    fault: 'the client for Python sends a request that shows a secret once again after a lost answer',
    file,
    from: 'and (repetition != "unsafe" or error.status == 429)',
    to: 'and repetition != "never"',
    test,
    name: 'but not one whose answer shows a secret once',
  },
  {
    rows: [],
    fault: 'the client for Python waits an hour if Retry-After says so',
    file,
    from: 'or pause > _LONGEST_RETRY_AFTER',
    to: '',
    test,
    name: 'not after a Retry-After of more than a minute',
  },
  {
    rows: [],
    fault: 'the deadline of the client for Python begins again with each byte',
    file,
    from: 'self._timer.start()',
    to: 'pass',
    test,
    name: 'when the answer goes on without an end',
  },
  {
    rows: [],
    fault: 'the client for Python waits without a limit if connecting took all of the time',
    file,
    from: 'if self.is_over:  # before there was a socket to shut down',
    to: 'if False:',
    test,
    name: 'when connecting took all of the time',
  },
  {
    rows: [],
    fault: 'the attributes of the client for Python show the API key',
    file,
    from: 'self._max_retries = max_retries',
    to: 'self._max_retries = max_retries; self._key = key',
    test,
    name: 'not in what is printed, logged or raised',
  },
  {
    rows: [],
    fault: 'an id in Python leads to another path',
    file,
    from: 'return quote(value, safe="")',
    to: 'return value',
    test,
    name: 'an id stays one part of the path',
  },
  {
    rows: [],
    fault: 'a path of Python leads out of the proxy with the API key',
    file,
    from: 'any(unquote(part) in (".", "..") for part in bare.split("/"))',
    to: 'False',
    test,
    name: 'gatepass.fetch("ada", "demo", "/../../v1/admin/keys")',
  },
  {
    rows: [],
    fault: 'the client for Python returns the token of the user from a wait',
    file,
    from: 'found.pop("context", None)',
    to: 'pass',
    test,
    name: 'keeps its token out of the answer',
  },
  {
    rows: [],
    fault: 'an application that forwards headers names another user in Python',
    file,
    from: 'and not name.lower().startswith("x-gatepass-")',
    to: '',
    test,
    name: 'with the user’s token put in',
  },
]
