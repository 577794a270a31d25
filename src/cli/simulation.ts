import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SimulatedGatepass } from '../dev-provider/simulator/simulated-gatepass.ts'
import { simulatedOutgoing } from '../dev-provider/simulator/simulated-outgoing.ts'
import { issueApiKey } from '../domain/api-key.ts'
import { systemClock } from '../domain/clock.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { createOutgoing } from '../egress/outgoing.ts'
import { pollDevices } from '../flows/device/poll-devices.ts'
import { createApp } from '../http/app.ts'
import { openBroker } from '../open-broker.ts'
import { readConfig } from '../read-config.ts'
import { version } from '../version.ts'
import type { Shell } from './shell.ts'

const PUBLIC_URL = 'https://gatepass.example.com'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Runs `run` with a temporary Gatepass: an empty database in a temporary folder, the real app in this process, a clock that
 * can be moved, and outgoing requests that reach simulators only. Of the shell's settings it has `GATEPASS_ALLOWED_HOSTS`.
 */
export async function withSimulation(
  { environment }: Pick<Shell, 'environment'>,
  run: (gatepass: SimulatedGatepass) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepass-simulation-'))
  const settings = {
    GATEPASS_DATABASE_URL: `file:${join(folder, 'simulation.db')}`,
    GATEPASS_MASTER_KEY: randomBytes(32).toString('base64'),
    GATEPASS_PUBLIC_URL: PUBLIC_URL,
    GATEPASS_USER_VERIFIER: 'open',
    GATEPASS_CONNECT_PAGE: 'pass',
    GATEPASS_ALLOWED_HOSTS: environment.GATEPASS_ALLOWED_HOSTS,
  }
  let moved = 0
  const clock = Object.assign(() => systemClock() + moved, {
    advance(seconds: number) {
      moved += seconds
    },
  })
  try {
    const config = readConfig(settings, 'serve')
    const { allows } = createOutgoing(config)
    const outgoing = simulatedOutgoing(allows)
    const broker = await openBroker(config, { log: silent, now: clock, outgoing })
    try {
      const { id: projectId } = await broker.store.projects.ensure(DEFAULT_PROJECT, clock())
      const { key, record } = issueApiKey({
        projectId,
        name: 'simulation',
        role: 'admin',
        createdAt: clock(),
      })
      await broker.store.apiKeys.add(record)
      const authorization = `Bearer ${key}`
      const app = createApp(broker, { version })
      await run({
        outgoing,
        clock,
        poll: () => pollDevices(broker),
        async call(method, path, body, headers = {}) {
          const answer = await app.request(path, {
            method,
            headers: {
              authorization,
              ...(body !== undefined && { 'content-type': 'application/json' }),
              ...headers,
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          })
          const text = await answer.text()
          return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
        },
        async browse(url, { cookie, form }) {
          const headers = {
            ...(cookie !== undefined && { cookie }),
            ...(form !== undefined && {
              'content-type': 'application/x-www-form-urlencoded',
              origin: PUBLIC_URL,
            }),
          }
          return app.request(url, { headers, ...(form !== undefined && { method: 'POST', body: form }) })
        },
      })
    } finally {
      await broker.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
