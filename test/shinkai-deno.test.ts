import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { startWorld } from './http/world.ts'
import { answer, answerJson, listen } from './loopback.ts'
import { freePort } from './ports.ts'

// Shinkai tools in TypeScript under Deno, which `npm run test:runtimes` installs. Packages come from a registry on this
// machine.

const DENO = resolve('test/sdk/runtimes/node_modules/@deno/linux-x64-glibc')
const hasAll = process.env.RUNTIMES === 'all'

/** A registry that has one version of a package, whose code is `code`. */
async function startRegistry(folder: string, name: string, code: string) {
  const source = join(folder, 'package')
  mkdirSync(source)
  const manifest = { name, version: '1.2.3', type: 'module', main: 'index.js' }
  writeFileSync(join(source, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(source, 'index.js'), code)
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: source, stdio: 'ignore' })
  const file = readdirSync(folder).find((one) => one.endsWith('.tgz')) ?? ''
  const tarball = readFileSync(join(folder, file))
  const requests: string[] = []
  const registry = await listen((req, res) => {
    requests.push(req.url ?? '')
    if (req.url === `/${file}`) {
      res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball)
      return
    }
    if (req.url !== `/${name}`) return answer(res, 404, 'text/plain', 'Not found')
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const dist = { tarball: `${registry.url}/${file}`, integrity }
    answerJson(res, 200, {
      name,
      'dist-tags': { latest: '1.2.3' },
      versions: { '1.2.3': { ...manifest, dist } },
    })
  })
  return Object.assign(registry, { requests })
}

test.runIf(hasAll)('a Shinkai tool with an npm import runs under Deno, and its files are kept', async () => {
  // not in /dev/shm, where the tests have their folders: Deno permits no program to write below /dev
  const folder = mkdtempSync('/tmp/shinkai-deno-test-')
  await using registry = await startRegistry(folder, 'greeting', 'export default (name) => `Hello ${name}`')
  await using world = await startWorld()
  // above the tools, as the package.json of a checkout is
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  const tools = join(folder, 'tools')
  const homes = join(folder, 'homes')
  mkdirSync(join(tools, 'greeter'), { recursive: true })
  mkdirSync(homes)
  writeFileSync(
    join(tools, 'greeter', 'tool.ts'),
    `import greet from 'npm:greeting@1.2.3'
     import { getHomePath } from './shinkai-local-support.ts'
     enum Mood { Good = 'good' }
     export async function run(_config: object, { name }: { name: string }) {
       const path = (await getHomePath()) + '/greeting.txt'
       await Deno.writeTextFile(path, greet(name))
       const before = localStorage.getItem('before')
       localStorage.setItem('before', name)
       const npm = Deno.env.get('DENO_DIR') + '/npm/poison'
       const poisoned = await Deno.writeTextFile(npm, 'x').then(() => true, () => false)
       return { path, before, poisoned, mood: Mood.Good }
     }`,
  )
  const parameters = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const metadata = { name: 'greeter', version: '1.0.0', description: 'Greets', parameters, oauth: [] }
  writeFileSync(join(tools, 'greeter', 'metadata.json'), JSON.stringify(metadata))

  const port = await freePort()
  const worker = spawn(process.execPath, [resolve('examples/shinkai-worker/worker.ts'), tools], {
    env: {
      ...process.env,
      PATH: `${DENO}:${process.env.PATH}`,
      NPM_CONFIG_REGISTRY: registry.url,
      DENO_DIR: join(folder, 'deno'),
      TMPDIR: folder,
      TOOL_HOMES: homes,
      WORKER_SECRET: 'worker-secret-of-the-tests',
      PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await new Promise((started) => worker.stdout.once('data', started))
    const http = {
      uri: `http://127.0.0.1:${port}`,
      secret: 'worker-secret-of-the-tests',
      timeout: 120,
      retry: 0,
    }
    await world.call('POST', '/v1/workers', { id: 'shinkai', http })
    for (const name of ['Ada', 'Bob']) {
      const { body } = await world.execute('Shinkai.greeter', { input: { name }, user_id: name }, 'arcade')
      expect(body.output.error).toBeUndefined()
      const { path, ...rest } = body.output.value
      const text = `Hello ${name}`
      expect(rest).toEqual({
        before: null,
        poisoned: false,
        mood: 'good',
        __created_files__: [{ path, size: text.length, mimeType: 'text/plain', text }],
      })
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
    expect(readdirSync(homes)).toHaveLength(2)
    // the second run has the package from the first
    expect(registry.requests.filter((path) => path.endsWith('.tgz'))).toHaveLength(1)
  } finally {
    worker.kill()
    rmSync(folder, { recursive: true, force: true })
  }
})
