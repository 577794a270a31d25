import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
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

test('a program that finds its port taken ends with one sentence, unless it handles that', async () => {
  const first = await new ToolApp().serve({ as: 'worker', port: 0, secret: SECRET })
  const port = Number(new URL(first.url ?? '').port)
  const module = JSON.stringify(resolve('src/sdk/tools/tool-app.ts'))
  const run = (as: string, before = '', after = '') =>
    new Promise<object>((ended) => {
      const program = `import { ToolApp } from ${module}
        ${before}
        await new ToolApp().serve({ as: '${as}', port: ${port}, secret: '${SECRET}' })${after}`
      const args = ['--input-type=module', '-e', program]
      const child = execFile(process.execPath, args, (_, stdout, stderr) =>
        ended({ code: child.exitCode, stdout, stderr }),
      )
    })
  const sentence = `The port ${port} of 127.0.0.1 is taken: end the program that uses it, or give another number as port.\n`
  for (const as of ['worker', 'mcp'])
    expect(await run(as), as).toEqual({ code: 1, stdout: '', stderr: sentence })
  const handled = { code: 0, stdout: 'EADDRINUSE\n', stderr: '' }
  expect(await run('worker', '', '.catch(({ code }) => console.log(code))')).toEqual(handled)
  const listener = "process.on('uncaughtException', ({ code }) => { console.log(code); process.exit(0) })"
  expect(await run('worker', listener)).toEqual(handled)
  await first.close()
})
