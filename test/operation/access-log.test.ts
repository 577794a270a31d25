import { request } from 'node:http'
import { expect, test } from 'vitest'
import { breakDatabase } from '../broken-database.ts'
import { API_KEY, serveProcess } from '../served.ts'
import { until } from '../until.ts'

test('every request is a line at debug, by its route, under the id that it is answered with', async () => {
  await using served = await serveProcess({ environment: { GATEPASS_LOG_LEVEL: 'debug' } })
  const headers = { authorization: `Bearer ${API_KEY}`, 'x-request-id': 'mine-1' }
  const ours = await fetch(`${served.url}/v1/connections/conn_secretish`, { headers })
  const page = await fetch(`${served.url}/connect/auth_unknown?code=S3CRETCODE&state=S3CRETSTATE`)
  const nothing = await fetch(`${served.url}/not/there?token=S3CRETTOKEN`)
  await until(() => served.logLines().filter(({ message }) => message === 'answered').length >= 3)
  const answered = served.logLines().filter(({ message }) => message === 'answered')
  const [first, ...others] = answered.slice(-3)
  expect(first).toEqual({
    level: 'debug',
    time: expect.any(String),
    pid: served.child.pid,
    requestId: 'mine-1',
    method: 'GET',
    route: '/v1/connections/{id}',
    status: 404,
    ms: expect.any(Number),
    keyId: expect.stringMatching(/^key_/),
    message: 'answered',
  })
  expect(ours.headers.get('x-request-id')).toBe('mine-1')
  expect(others.map(({ route, requestId }) => [route, requestId])).toEqual([
    ['/connect/*', page.headers.get('x-request-id')],
    ['unknown', nothing.headers.get('x-request-id')],
  ])
  expect(served.log()).not.toMatch(/S3CRET|conn_secretish|test-administrator-key/)
})

test('at info only what fails is a line, and all lines of one request name it', async () => {
  await using served = await serveProcess()
  expect((await served.call('GET', '/v1/tools')).status).toBe(200)
  breakDatabase(served.databasePath)
  const broken = await fetch(`${served.url}/v1/connections?user_id=eve`, {
    headers: { authorization: `Bearer ${API_KEY}`, 'x-request-id': 'mine-2' },
  })
  expect(broken.status).toBe(503)
  const lines = () => served.logLines().filter(({ requestId }) => requestId === 'mine-2')
  await until(() => lines().length >= 2)
  expect(lines().map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'answered'],
    ['error', 'a request failed'],
  ])
  expect(served.logLines().filter(({ message }) => message === 'answered')).toHaveLength(1)
})

test('a client that leaves in the middle of its body is answered 499 in the log, and is no failure of the server', async () => {
  await using served = await serveProcess({ environment: { GATEPASS_LOG_LEVEL: 'debug' } })
  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const key = { authorization: `Bearer ${API_KEY}` }
  const requests = [
    ['/connect/session', { ...json, 'content-length': '100' }, '/connect/*'],
    ['/callback/prov_unknown', { ...form, 'content-length': '100' }, '/callback/*'],
    ['/callback/prov_unknown', { ...form, 'transfer-encoding': 'chunked' }, '/callback/*'],
    ['/v1/auth/authorize', { ...json, ...key, 'content-length': '100' }, '/v1/auth/authorize'],
    ['/v1/auth/authorize', { ...json, ...key, 'content-length': '100000' }, '/v1/auth/authorize'],
    ['/v1/auth/authorize', { ...json, ...key, 'transfer-encoding': 'chunked' }, '/v1/auth/authorize'],
  ] as const
  const underWay = async () => {
    const { body } = await served.get('/metrics')
    return Number(/^gatepass_http_requests_running (\d+)/m.exec(body)?.[1])
  }
  const answered = () =>
    served.logLines().filter(({ message, route }) => message === 'answered' && route !== '/metrics')
  for (const [i, [path, headers]] of requests.entries()) {
    const leaving = request(`${served.url}${path}`, { method: 'POST', headers })
    leaving.on('error', () => {})
    leaving.write('{"part": ')
    await until(async () => (await underWay()) === 2) // it, and the request for the metrics
    leaving.destroy()
    await until(() => answered().length > i)
  }
  expect(answered().map(({ route, status }) => [route, status])).toEqual(
    requests.map(([, , route]) => [route, 499]),
  )
  expect(served.logLines().filter(({ level }) => level === 'error')).toEqual([])
})
