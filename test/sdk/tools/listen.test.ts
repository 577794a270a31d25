import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { listen } from '../../../src/sdk/tools/listen.ts'

test('the body of an answer that comes after its client has disconnected is cancelled', async () => {
  const arrived = Promise.withResolvers<void>()
  const cancelled = Promise.withResolvers<string>()
  const late = async (request: Request) => {
    const gone = new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }))
    arrived.resolve()
    await gone
    return new Response(new ReadableStream({ cancel: () => cancelled.resolve('cancelled') }))
  }
  const listening = await listen(late, { host: '127.0.0.1', port: 0 })
  try {
    const controller = new AbortController()
    const asking = fetch(listening.url, { signal: controller.signal }).catch(() => undefined)
    await arrived.promise
    controller.abort()
    await asking
    expect(await cancelled.promise).toBe('cancelled')
  } finally {
    await listening.close()
  }
})

test('a handler that throws is answered by 500 and logged, a request that cannot be read by 400', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const fault = new TypeError('at /srv/secret-path')
  const fails = () => {
    throw fault
  }
  const listening = await listen(fails, { host: '127.0.0.1', port: 0 })
  const statusOf = (options: object) =>
    new Promise((resolve, reject) =>
      request(listening.url, options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(),
    )
  try {
    expect(await statusOf({ headers: { host: 'no host' } })).toBe(400)
    expect(await statusOf({ headers: { host: 'u:p@localhost' } })).toBe(400)
    expect(await statusOf({ headers: { host: 'localhost/path' } })).toBe(400)
    expect(await statusOf({ path: 'http://u:p@localhost/' })).toBe(400)
    expect(await statusOf({ method: 'TRACE' })).toBe(400)
    expect(logged).not.toHaveBeenCalled()
    expect(await statusOf({})).toBe(500)
    expect(logged.mock.calls).toEqual([[expect.any(String), fault]])
  } finally {
    logged.mockRestore()
    await listening.close()
  }
})

test('a path that begins with two slashes names no other host', async () => {
  const listening = await listen(({ url }) => new Response(url), { host: '127.0.0.1', port: 0 })
  try {
    for (const path of ['//other.example/mcp', '//u:p@other.example/mcp']) {
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        request(listening.url, { path }, resolve).on('error', reject).end(),
      )
      expect(await text(response)).toBe(`${listening.url}${path}`)
    }
  } finally {
    await listening.close()
  }
})
