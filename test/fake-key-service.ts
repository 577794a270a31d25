import type { IncomingMessage } from 'node:http'
import { answer, answerJson, type Loopback, listen, type RecordedRequest, record } from './loopback.ts'

/** A service that takes keys: as Basic, bearer, two headers, in query and path, and by a login that makes tokens. */
export interface FakeKeyService extends AsyncDisposable {
  readonly url: string
  readonly host: string
  /** The key that it takes; another one is refused from then on. */
  key: string
  /** In place of its usual status. */
  status: number | undefined
  /** The end of a path that it refuses, although it takes the key. */
  refusesAlone: string | undefined
  readonly requests: RecordedRequest[]
  /** How long its tokens live, in seconds. */
  tokenLife: number
  /** Ends the tokens of its logins. */
  endSessions(): void
}

export async function startFakeKeyService(key = 'key-0123456789abcdef'): Promise<FakeKeyService> {
  const sessions = new Set<string>()
  let made = 0
  const service = {
    key,
    status: undefined as number | undefined,
    refusesAlone: undefined as string | undefined,
    requests: [] as RecordedRequest[],
    tokenLife: 600,
    endSessions: () => sessions.clear(),
  }
  const isTaken = (req: IncomingMessage, url: URL): boolean => {
    const { authorization = '' } = req.headers
    const [, place, next] = url.pathname.split('/')
    if (next === 'path') return place === `k${service.key}`
    if (place === 'basic')
      return authorization === `Basic ${Buffer.from(`${service.key}:X`).toString('base64')}`
    if (place === 'bearer') return authorization === `Bearer ${service.key}`
    if (place === 'headers')
      return req.headers['x-key'] === service.key && req.headers['x-app'] === 'app-secret-9876'
    if (place === 'query') return url.searchParams.get('api_key') === service.key
    return place === 'session' && sessions.has(authorization.replace('Bearer ', ''))
  }
  const loopback: Loopback = await listen(async (req, res) => {
    const recorded = await record(req)
    service.requests.push(recorded)
    const url = new URL(req.url ?? '/', 'http://service.test')
    if (service.status !== undefined) return answer(res, service.status, 'text/plain', 'out of order')
    if (url.pathname === '/login') {
      const { user, password } = JSON.parse(recorded.body) as Record<string, string>
      if (user !== 'ada' || password !== service.key) return answerJson(res, 401, { error: 'wrong' })
      const token = `session-${++made}-0123456789abcdef`
      sessions.add(token)
      return answerJson(res, 200, { token, expires_in: service.tokenLife })
    }
    const isRefused = service.refusesAlone !== undefined && url.pathname.endsWith(service.refusesAlone)
    if (isRefused || !isTaken(req, url)) return answerJson(res, 401, { error: 'unauthorized' })
    if (url.pathname.endsWith('/away')) {
      res.writeHead(302, { location: `${loopback.url}/k${service.key}/query/next?api_key=${service.key}` })
      return res.end()
    }
    // the account, and everything that a careless API might repeat
    return answerJson(res, 200, {
      id: 42,
      contact: { email: 'ada@service.test' },
      seen: {
        url: req.url,
        authorization: req.headers.authorization,
        key: service.key,
        api_key: service.key,
      },
    })
  })
  return Object.assign(service, {
    url: loopback.url,
    host: new URL(loopback.url).host,
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  })
}
