import { startBare } from './bare.ts'
import type { Bench } from './bench.ts'
import { compared } from './compared.ts'
import { flushing } from './disk-probe.ts'
import { drive } from './driving.ts'
import type { Server } from './fetching.ts'
import { startGatepass } from './gatepass.ts'
import { isQuick } from './pace.ts'
import { connectMany, type RawAnswer, type RawConnection, type RawRequest, rawRequest } from './raw-client.ts'
import type { Figure } from './report.ts'
import { alternate, type Driven, type Round, roundOf } from './rounds.ts'
import { CROWD } from './tool-side.ts'
import { type Begun, beginMany } from './waiting.ts'
import { click } from './wake-up.ts'

const ROUNDS = 5
const CALLBACKS = isQuick ? 600 : 1_500
const LEAST_RATIO = 0.45

/** Users come back from the provider: Gatepass redeems the code, seals the grant and stores it. */
export async function callback({ folder, load, seeded, upstream }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder, { settings: { GATEPASS_MAX_PENDING: '10000000' } })
  await using bare = await startBare(folder, { upstreamPort: upstream.port })
  const module = { module: import.meta.url, load: callbackLoad }
  const redeem = (server: Server): Promise<Round> =>
    roundOf(server, () => load.run(module, { port: server.port, do: 'come back' }))
  const sides = {
    async gatepass() {
      await load.run(module, { port: gatepass.port, do: 'click', providerUid: seeded.providerUid })
      return redeem(gatepass)
    },
    async bare() {
      await load.run(module, { port: bare.port, do: 'nothing', path: '/callback' })
      return redeem(bare)
    },
    async redeeming() {
      await load.run(module, { port: bare.port, do: 'nothing', path: '/callback/redeemed' })
      return redeem(bare)
    },
  }
  for (const warmUp of Object.values(sides)) await warmUp()
  const flush = await flushing(folder, 'disk')
  const rounds = await alternate(ROUNDS, sides)
  const to = 'bare hono with one durable insert'
  const redeeming = { name: '  the same', to: `${to} that redeems the code first` }
  return [
    ...flush,
    ...compared({ name: `callback, ${CROWD} at once`, to, atLeast: LEAST_RATIO, withTimes: true }, rounds),
    ...compared(redeeming, { ...rounds, bare: rounds.redeeming }).slice(0, 2),
  ]
}

interface Job {
  readonly port: number
  readonly do: 'click' | 'nothing' | 'come back'
  readonly providerUid?: string
  /** Of the bare server's callback. */
  readonly path?: string
}

/** The callbacks that the next order sends. */
let callbacks: RawRequest[] = []

export { callbackLoad as load }

async function callbackLoad({ port, do: step, providerUid, path }: Job): Promise<Driven> {
  if (step === 'come back') {
    const isRight = ({ status, head }: RawAnswer) => status === 303 && head.includes('status=completed')
    const all = callbacks.map((one) => ({ request: rawRequest(port, one), isRight }))
    const most = { port, connections: CROWD, ms: 120_000, generator: 'asleep' } as const
    return drive(most, () => all.pop())
  }
  callbacks =
    step === 'click'
      ? await clickAll(
          port,
          providerUid ?? '',
          await beginMany(port, CALLBACKS, `http://127.0.0.1:${port}/done`),
        )
      : Array.from({ length: CALLBACKS }, (_, i) => ({
          method: 'GET' as const,
          path: `${path}?state=${crypto.randomUUID()}&code=code-${i}`,
        }))
  return { answered: 0, seconds: 0, p50: 0, p99: 0, worst: 0 }
}

/** Clicks for all users, and returns the requests with which they come back from the provider. */
async function clickAll(port: number, providerUid: string, begun: readonly Begun[]): Promise<RawRequest[]> {
  const browsers = await connectMany(port, CROWD)
  const left = [...begun]
  const all: RawRequest[] = []
  const clickOne = async (browser: RawConnection) => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { state, cookie } = await click(port, browser, one)
      const path = `/callback/${providerUid}?state=${state}&code=code-${left.length}`
      all.push({ method: 'GET', path, headers: { cookie } })
    }
    browser.close()
  }
  await Promise.all(browsers.map(clickOne))
  return all
}
