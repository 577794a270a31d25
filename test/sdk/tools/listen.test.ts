import { expect, test } from 'vitest'
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
