import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import { COLD_USERS } from '../cold-fetch.ts'
import { compared } from '../compared.ts'
import { CONNECTIONS, fetchFrom, ROUND_MS, type Server } from '../fetching.ts'
import { startGatepass } from '../gatepass.ts'
import { isQuick, WARM_UP_MS } from '../pace.ts'
import { EXPIRED_USERS, expiredUser } from '../people.ts'
import { freePort, startScript } from '../process.ts'
import { CALLERS, stormAt } from '../refresh-storm.ts'
import { type Figure, spread, whole } from '../report.ts'
import { alternate } from '../rounds.ts'
import { seedOwn } from '../seed.ts'
import { getTokens, type Session } from './get-tokens.ts'

const ROUNDS = 4
const LEAST_RATIO = 25
const WARM_USERS = isQuick ? 1_000 : 5_000
const NOBODY: Session = { cookie: '', accountId: '' }

/** better-auth's getAccessToken over HTTP, in the same rounds as Gatepass's fetch. */
export async function peers(bench: Bench): Promise<Figure[]> {
  install()
  const { load, upstream } = bench
  const folder = await seedOwn(bench, 'peers', COLD_USERS)
  const port = await freePort()
  const facts = {
    port,
    path: join(folder, 'better-auth.db'),
    upstreamPort: upstream.port,
    users: COLD_USERS,
    expiredUsers: EXPIRED_USERS,
  }
  await using betterAuth = startScript('peers/better-auth-server.js', [JSON.stringify(facts)])
  const [{ sessions }] = (await once(betterAuth.child, 'message')) as [{ sessions: readonly Session[] }]
  const other: Server = { port, cpuMs: betterAuth.cpuMs }
  // room for the users of the warm rounds, and for few others
  await using gatepass = await startGatepass(folder, { settings: { GATEPASS_CACHE_SIZE: '48MB' } })

  const warm = {
    gatepass: (ms = ROUND_MS) => fetchFrom(load, gatepass, { ms, users: WARM_USERS }),
    bare: (ms = ROUND_MS) =>
      getTokens(load, other, { ms, sessions: sessions.slice(0, WARM_USERS), draw: 'uniform' }),
  }
  let at = { gatepass: WARM_USERS, bare: WARM_USERS }
  const cold = {
    async gatepass() {
      const round = await fetchFrom(load, gatepass, { users: COLD_USERS, draw: { inTurnFrom: at.gatepass } })
      at = { ...at, gatepass: at.gatepass + round.answered }
      return round
    },
    async bare() {
      const draw = { inTurnFrom: at.bare }
      const round = await getTokens(load, other, {
        ms: ROUND_MS,
        sessions: sessions.slice(0, COLD_USERS),
        draw,
      })
      at = { ...at, bare: at.bare + round.answered }
      return round
    },
  }
  const figures = []
  figures.push(...(await coldThenWarm()))
  figures.push(...(await storms()))
  return figures

  async function coldThenWarm(): Promise<Figure[]> {
    const to = 'better-auth getAccessToken (HTTP, encrypted)'
    const name = (what: string) => `fetch, ${what}, ${CONNECTIONS} connections, beside better-auth`
    const unseen = await alternate(ROUNDS, cold)
    await warm.bare(WARM_UP_MS / 2)
    await warm.gatepass(WARM_UP_MS)
    const seen = await alternate(ROUNDS, warm)
    return [
      ...compared(
        {
          name: name(`warm, ${whole(WARM_USERS)} users`),
          to,
          atLeast: LEAST_RATIO,
          withTimes: true,
          other: 'better-auth',
        },
        seen,
      ),
      ...compared(
        { name: name(`cold, ${whole(COLD_USERS)} users in turn`), to, withTimes: true, other: 'better-auth' },
        unseen,
      ),
    ]
  }

  async function storms(): Promise<Figure[]> {
    const rows: Figure[] = []
    for (const [name, storm] of Object.entries({
      Gatepass: (i: number) => stormAt(load, gatepass.port, { user: expiredUser(i) }),
      'better-auth': (i: number) => stormAt(load, port, sessions[COLD_USERS + i] ?? NOBODY),
    })) {
      const millis: number[] = []
      const requests: number[] = []
      for (let i = 0; i < EXPIRED_USERS; i++) {
        upstream.takeRefreshes()
        millis.push(await storm(i))
        requests.push(upstream.takeRefreshes())
      }
      rows.push({
        name: `storm of ${whole(CALLERS)} fetches of one expired token, ${name}: requests upstream; last answer`,
        value: `${spread(requests, whole)}; ${spread(millis, whole)} ms`,
      })
    }
    return rows
  }
}

/** Installs what the lockfile names, where that has not been done; the project itself does not depend on it. */
function install(): void {
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const wanted = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8')).dependencies['better-auth']
  const installed = join(cwd, 'node_modules/better-auth/package.json')
  if (existsSync(installed) && JSON.parse(readFileSync(installed, 'utf8')).version === wanted) return
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps']
  execFileSync('npm', args, { cwd, stdio: 'inherit' })
}
