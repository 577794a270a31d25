import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { connect, connectMany, type RawConnection, rawRequest } from './raw-client.ts'
import { type Figure, quantile, whole } from './report.ts'
import { type Begun, beginMany, waitFor } from './waiting.ts'

const WAITERS = 1_000
const P50_MS = 5
const P99_MS = 50

/**
 * `WAITERS` long-poll an authorization each; the users finish one after another. Measures the time from the answer to the
 * callback until the waiter has its answer, and, as an upper bound, the time from sending the callback, which includes the
 * code's redemption and two commits.
 */
export async function wakeUp({ folder, load, seeded }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  const { sinceAnswered, sinceSent } = await load.run(
    { module: import.meta.url, load: wakeLoad },
    { port: gatepass.port, providerUid: seeded.providerUid },
  )
  const p50 = quantile(sinceAnswered, 0.5)
  const p99 = quantile(sinceAnswered, 0.99)
  const show = (values: readonly number[]) =>
    [0.5, 0.99, 1].map((q) => `${quantile(values, q).toFixed(2)} ms`).join(', ')
  return [
    {
      name: `wake-up of a long poll, ${whole(WAITERS)} waiting: p50, p99, most after the callback's answer`,
      value: show(sinceAnswered),
      target: `p50 < ${P50_MS} ms, p99 < ${P99_MS} ms`,
      met: p50 < P50_MS && p99 < P99_MS,
    },
    { name: '  after the callback was sent (redeems the code first)', value: show(sinceSent) },
  ]
}

export { wakeLoad as load }

async function wakeLoad({ port, providerUid }: { port: number; providerUid: string }) {
  const browser = await connect(port)
  const clicked: Clicked[] = []
  for (const begun of await beginMany(port, WAITERS)) clicked.push(await click(port, browser, begun))

  const connections = await connectMany(port, WAITERS)
  const waiting = clicked.map(async (one, i) => {
    const { body } = await waitFor(port, connections[i] as RawConnection, one) // one for each
    const at = performance.now()
    if (!body.includes('"completed"')) throw new Error(`not completed: ${body}`)
    return at
  })
  await sleep(1_500) // until the last of them waits

  const sinceAnswered: number[] = []
  const sinceSent: number[] = []
  for (const [i, { state, cookie }] of clicked.entries()) {
    const path = `/callback/${providerUid}?state=${state}&code=code-${i}`
    const sent = performance.now()
    const { status } = await browser.send(rawRequest(port, { method: 'GET', path, headers: { cookie } }))
    const answered = performance.now()
    if (status !== 303) throw new Error(`the callback answered ${status}`)
    const heard = await (waiting[i] as Promise<number>)
    sinceAnswered.push(Math.max(0, heard - answered)) // the waiter may get its answer first
    sinceSent.push(heard - sent)
  }
  browser.close()
  for (const connection of connections) connection.close()
  return { sinceAnswered, sinceSent }
}

export interface Clicked extends Begun {
  readonly state: string
  readonly cookie: string
}

/** Clicks on the connect page for the user, and stops before the provider. */
export async function click(port: number, browser: RawConnection, begun: Begun): Promise<Clicked> {
  const request = {
    method: 'POST',
    path: `/connect/${begun.id}`,
    headers: { 'content-length': '0' },
  } as const
  const { status, head } = await browser.send(rawRequest(port, request))
  const location = /\r\nlocation: *(\S+)/i.exec(head)?.[1] ?? ''
  const cookie = /\r\nset-cookie: *([^;\r]+)/i.exec(head)?.[1] ?? ''
  const state = URL.canParse(location) ? new URL(location).searchParams.get('state') : null
  if (status !== 303 || state === null) throw new Error(`the connect page did not lead on: ${head}`)
  return { ...begun, state, cookie }
}
