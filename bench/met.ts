import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { startGatepass } from './gatepass.ts'
import { watchOthers } from './machine.ts'
import { isQuick } from './pace.ts'
import { freePort, startScript, untilHealthy } from './process.ts'
import { connect, rawRequest } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { repeat } from './rounds.ts'
import { seedOwn } from './seed.ts'
import { CALLER } from './tool-side.ts'

const TOOLS = isQuick ? 100 : 1_000
const PROVIDERS = TOOLS
const ROUNDS = 5
const MOST_MS = 30

/** The tools whose requirements a user meets, at the first request after a start. */
export async function met(bench: Bench): Promise<Figure[]> {
  const own = await seedOwn(bench, 'met', 10)
  await addProvidersAndTools(own)
  const repeated = await repeat(
    ROUNDS,
    async () => {
      await using gatepass = await startGatepass(own)
      const connection = await connect(gatepass.port)
      const ask = async (path: string) => {
        const [begun, cpu] = [performance.now(), gatepass.cpuMs()]
        const { status, body } = await connection.send(
          rawRequest(gatepass.port, { method: 'GET', path, headers: CALLER }),
        )
        if (status !== 200 || !body.includes('"items"')) throw new Error(`${path}: ${status} ${body}`)
        return { ms: performance.now() - begun, cpuMs: gatepass.cpuMs() - cpu }
      }
      const othersSince = watchOthers()
      await ask('/v1/tools') // compiles the catalogue, which belongs to no user
      const first = await ask('/v1/tools?met=true&user_id=user-0000001%40example.com')
      const other = await ask('/v1/tools?met=true&user_id=user-0000002%40example.com')
      connection.close()
      return { first, other, others: othersSince() }
    },
    ({ others }) => others,
  )
  const { values, isQuiet } = repeated
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const cpu = median(values.map(({ first }) => first.cpuMs))
  const took = median(values.map(({ first }) => first.ms))
  return [
    {
      name: `/v1/tools?met=true&user_id=, ${whole(TOOLS)} tools, ${whole(PROVIDERS)} providers, the first time after a start`,
      value: spread(
        values.map(({ first }) => first.ms),
        ms,
      ),
      target: `<= ${MOST_MS} ms`,
      met: took <= MOST_MS,
      disturbed: !isQuiet,
    },
    { name: '  processor time of it', value: ms(cpu) },
    {
      name: '  for a second user',
      value: spread(
        values.map(({ other }) => other.ms),
        ms,
      ),
    },
    ...disturbance(repeated),
  ]
}

/** A worker whose every tool needs a provider entry of its own. */
async function addProvidersAndTools(folder: string): Promise<void> {
  await using gatepass = await startGatepass(folder)
  const admin = adminOf(gatepass.port)
  for (let i = 0; i < PROVIDERS; i++)
    await admin('POST', '/v1/admin/auth_providers', providerBody(`many-${i}`))
  const toolPort = await freePort()
  await using tools = startScript('tool-server.ts', [String(toolPort), '0', String(TOOLS), String(PROVIDERS)])
  await untilHealthy(toolPort, tools)
  const http = { uri: `http://127.0.0.1:${toolPort}`, secret: 'bench-worker-secret', timeout: 10, retry: 0 }
  await admin('POST', '/v1/workers', { id: 'many', http })
  const { total_count: listed } = (await admin('GET', '/v1/tools?limit=1')) as { total_count: number }
  if (listed !== TOOLS) throw new Error(`${listed} tools are listed`)
}

function providerBody(id: string): object {
  const request = (path: string) => ({ endpoint: `https://${id}.example.com/${path}` })
  return {
    id,
    type: 'oauth2',
    oauth2: { client_id: id, authorize_request: request('authorize'), token_request: request('token') },
  }
}
