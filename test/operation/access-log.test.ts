import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
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
  for (const suffix of ['-wal', '-shm']) writeFileSync(`${served.databasePath}${suffix}`, 'no database')
  writeFileSync(served.databasePath, 'no database')
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
