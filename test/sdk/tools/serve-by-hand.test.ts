import { afterEach, expect, test, vi } from 'vitest'
import { ToolApp } from '../../../src/sdk/tools/tool-app.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const SECRET = 'a-secret-of-32-characters-or-more'

test('a terminal is told where an app is served, and a program that reads the output is not', async () => {
  const app = new ToolApp({ name: 'hub' })
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  for (const isTTY of [true, false]) {
    vi.stubGlobal('process', { ...process, env: process.env, stderr: { isTTY, write: process.stderr.write } })
    for (const as of ['worker', 'mcp'] as const) {
      const options = as === 'mcp' ? { as, port: 0 } : { as, port: 0, secret: SECRET }
      const { url, close } = await app.serve(options)
      await close()
      if (isTTY) expect(written).toHaveBeenCalledExactlyOnceWith(`hub is served at ${url}\n`)
      else expect(written).not.toHaveBeenCalled()
      written.mockClear()
    }
  }
})

test('a port that is taken is named in one line, without a stack', async () => {
  const app = new ToolApp({ name: 'hub' })
  const first = await app.serve({ as: 'worker', port: 0, secret: SECRET })
  const port = Number(new URL(first.url ?? '').port)
  const refused = await app.serve({ as: 'worker', port, secret: SECRET }).catch((error: unknown) => error)
  await first.close()
  expect(refused).toMatchObject({
    code: 'EADDRINUSE',
    message: expect.stringContaining(`The port ${port} of`),
  })
  expect((refused as Error).stack).toBe(`Error: ${(refused as Error).message}`)
})
