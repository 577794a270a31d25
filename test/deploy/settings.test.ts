import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { FEATURE_VARIABLES } from '../../src/read-config.ts'
import { SHUTDOWN_BUDGET_MS } from '../../src/server.ts'
import { unknownSettings } from '../../src/settings/names.ts'
import { withSecretFiles } from '../../src/settings/secret-files.ts'
import { startGatepass } from '../gatepass.ts'
import { deployFile, deployFiles } from './files.ts'

const files = deployFiles()

describe('what deploy/ says of Gatepass', () => {
  test('every setting that it names is one', () => {
    const named = new Set([...files.values()].flatMap((text) => text.match(/\bGATEPASS_[A-Z0-9_]+/g) ?? []))
    expect(named).toContain('GATEPASS_MASTER_KEY')
    // a name that ends in _FILE is read as its setting; the value is left out, so no file is read
    const settings = withSecretFiles(Object.fromEntries([...named].map((name) => [name, ''])))
    expect(unknownSettings(Object.keys(settings), FEATURE_VARIABLES)).toEqual([])
  })

  test('every command and option that it gives is one', async () => {
    const lines = [...files].flatMap(([file, text]) =>
      [
        ...text.matchAll(/(?:\/gatepass\.js|\bgatepass) ([a-z-]+(?: (?:--?[a-z]|[0-9"'$%/{])[^\s"'`]*)*)/g),
      ].flatMap(([, line = '']) => {
        const [name = '', ...words] = line.split(' ')
        return COMMANDS.some((one) => one.name === name) ? [{ file, name, words }] : []
      }),
    )
    expect(lines.map(({ name }) => name)).toEqual(expect.arrayContaining(['serve', 'backup']))
    for (const { file, name, words } of lines) {
      const command = new Command(name)
      const { load } = COMMANDS.find((one) => one.name === name) ?? expect.fail(`no command ${name}`)
      const none = async () => {}
      const shell = {
        environment: {},
        withLocalTransport: none,
        startSimulated: () => Promise.reject(new Error('not used')),
        withCatalogueTransport: none,
        withBroker: none,
      }
      ;(await load())(command, shell)
      const known = command.options.map(({ long }) => long)
      for (const option of words.filter((word) => word.startsWith('--')))
        expect(known, `${file}: ${name}`).toContain(option.split('=')[0])
    }
  })

  test('nothing ends Gatepass before the time that it gives itself', () => {
    const periods = [...files.values()].flatMap((text) =>
      [
        ...text.matchAll(
          /^\s*(?:stop_grace_period|TimeoutStopSec|terminationGracePeriodSeconds)[:=]\s*(\d+)s?$/gm,
        ),
      ].map(([, seconds]) => Number(seconds)),
    )
    expect(periods.length).toBeGreaterThanOrEqual(2)
    for (const seconds of periods) expect(seconds * 1000).toBeGreaterThanOrEqual(SHUTDOWN_BUDGET_MS + 10_000)
  })

  test('the port is the same everywhere', () => {
    expect(deployFile('Dockerfile')).toMatch(/^EXPOSE 8400$/m)
    expect(deployFile('compose/Caddyfile')).toContain('reverse_proxy gatepass:8400')
    expect(deployFile('health-check.js')).toContain('|| 8400')
  })

  test('certificates on demand are an opt-in, which asks Gatepass for which names it may', async () => {
    const text = deployFile('compose/Caddyfile')
    expect(text).not.toMatch(/^\s*(?:on_demand|https:)/m)
    const optedIn = text.replaceAll(/^(\t?)#(?=\S|\t)/gm, '$1')
    expect(optedIn).toMatch(/^https:\/\/ \{\n\ttls \{\n\t\ton_demand\n\t\}\n\timport gatepass\n\}$/m)
    const [, host, path = ''] =
      /^\ton_demand_tls \{\n\t\task http:\/\/([^/]+)(\/\S+)\n\t\}$/m.exec(optedIn) ?? []
    expect(host).toBe(/reverse_proxy (\S+)/.exec(optedIn)?.[1])
    await using gatepass = await startGatepass()
    const ask = await fetch(`${gatepass.url}${path}?domain=auth.acme.example`)
    expect([ask.status, await ask.text()]).toEqual([404, expect.stringContaining('No project has proved')])
  })
})
