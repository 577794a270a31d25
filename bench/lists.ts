import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { connect, rawRequest } from './raw-client.ts'
import { type Figure, quantile, whole } from './report.ts'
import { timed } from './timed.ts'
import { CALLER } from './tool-side.ts'

const PAGE = 100
/** Beyond it a list is read by cursors. */
const DEEPEST_OFFSET = 10_000
const MOST_PAGE_MS = 5

/** Pages of many connections. */
export async function lists({ load, million }: Bench): Promise<Figure[]> {
  const { copy, count } = await million()
  await using gatepass = await startGatepass(await copy('million-lists'))
  const page = (name: string, path: string) =>
    timed(load, gatepass, {
      name: `${name} page of /v1/connections, ${whole(count)} connections`,
      paths: [path],
      expects: '"conn_',
      atMost: MOST_PAGE_MS,
    })
  const first = `/v1/connections?limit=${PAGE}`
  const walked = await load.run({ module: import.meta.url, load: walk }, { port: gatepass.port, first })
  const offset = Math.min(DEEPEST_OFFSET, count - PAGE)
  return [
    ...(await page('first', first)),
    ...(await page('last', `${first}&cursor=${walked.last}`)),
    ...(await page(`at offset ${whole(offset)}, a`, `${first}&offset=${offset}`)),
    {
      name: `  all ${whole(walked.pages)} pages by their cursors: in all; p50, slowest`,
      value: `${whole(walked.seconds)} s; ${walked.p50.toFixed(1)} ms, ${walked.worst.toFixed(1)} ms`,
    },
  ]
}

export { walk as load }

/** In the load process: reads the whole list; `last` is the cursor of its last page. */
async function walk({ port, first }: { port: number; first: string }) {
  const connection = await connect(port)
  const times: number[] = []
  let last = ''
  for (let path: string | undefined = first; path !== undefined; ) {
    const begun = performance.now()
    const { status, body } = await connection.send(rawRequest(port, { method: 'GET', path, headers: CALLER }))
    times.push(performance.now() - begun)
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
    const { next_cursor } = JSON.parse(body.toString()) as { next_cursor?: string }
    if (next_cursor !== undefined) last = encodeURIComponent(next_cursor)
    path = next_cursor === undefined ? undefined : `${first}&cursor=${last}`
  }
  connection.close()
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1000
  return { last, pages: times.length, seconds, p50: quantile(times, 0.5), worst: Math.max(...times) }
}
