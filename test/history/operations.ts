import { setTimeout as sleep } from 'node:timers/promises'
import { UserAgent } from '../user-agent.ts'
import type { Choices } from './choices.ts'
import type { Operation, Request } from './history.ts'
import { type Answer, APPROVED, type AskOptions, type World } from './world.ts'

// Many clients that do what callers and users do, at any node, and record their requests and the answers.

export const USERS = ['ada', 'bob', 'cyd', 'dan', 'eve'] as const
const CLIENTS = 6
const CONSENT_MS = 6_000

/** A request as it was recorded, with the token itself; the history has its fingerprint instead. */
export type Recorded = Omit<Request, 'fingerprint'> & { readonly token?: string }

export interface Load {
  readonly requests: readonly Recorded[]
  /** Sends a request and records it, with what `about` says of its answer. */
  readonly record: (
    of: Pick<Request, 'operation' | 'client' | 'node' | 'user'> & Partial<Recorded>,
    ask: () => Promise<Answer | undefined>,
    about?: (answer: Answer) => Partial<Recorded>,
  ) => Promise<Answer | undefined>
  /** Resolves when the last request has ended. */
  stop(): Promise<void>
}

interface Known {
  /** By user, the id of the newest connection. */
  readonly connections: Map<string, string>
  /** The API keys, by their ids. */
  readonly keys: Map<string, string>
  /** By user, the id of the policy that denies. */
  readonly denied: Map<string, string>
}

export function startLoad(world: World, choices: Choices): Load {
  const requests: Recorded[] = []
  const known: Known = { connections: new Map(), keys: new Map(), denied: new Map() }
  let isOver = false
  let names = 0
  const fresh = (what: string) => `${what}-${++names}`

  const record: Load['record'] = async (of, ask, about = () => ({})) => {
    const begun = world.now()
    const answer = await ask()
    requests.push({
      ...of,
      begun,
      ended: world.now(),
      ...(answer !== undefined && {
        status: answer.status,
        requestId: answer.requestId,
        ...(answer.status >= 400 && { refusal: String(answer.body.name ?? '') }),
        ...about(answer),
      }),
    })
    return answer
  }

  async function client(number: number): Promise<void> {
    const own = choices.branch(`client ${number}`)
    while (!isOver) {
      const user = own.of(USERS)
      const node = own.between(0, world.slots.length - 1)
      const operation = own.of(OPERATIONS)
      const of = { operation, client: number, node, user }
      const ask = (method: string, path: string, options?: AskOptions) =>
        world.ask(node, method, path, options)
      await operate[operation]({ of, ask, own, user }).catch(() => {})
      await sleep(own.between(5, 60))
    }
  }

  interface Turn {
    readonly of: Pick<Request, 'operation' | 'client' | 'node' | 'user'>
    readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Answer | undefined>
    readonly own: Choices
    readonly user: string
  }

  async function token({ of, ask, own, user }: Turn): Promise<void> {
    const connection = known.connections.get(user)
    if (connection === undefined) return connect({ of: { ...of, operation: 'connect' }, ask, own, user })
    const answer = await record(
      { ...of, connection },
      () => ask('POST', `/v1/connections/${connection}/token`),
      tokenOf,
    )
    const isGone =
      answer?.status === 404 || (answer?.status === 403 && answer.body.name === 'authorization_required')
    if (isGone && known.connections.get(user) === connection) known.connections.delete(user)
  }

  /** The user approves in a browser, and the caller asks for the connection. */
  async function connect({ of, ask, user }: Turn): Promise<void> {
    await record(
      of,
      async () => {
        const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: user }
        const begun = await ask('POST', '/v1/auth/authorize', { body: need })
        if (begun === undefined || begun.status !== 200) return begun
        if (begun.body.status === 'pending') await approve(begun.body.url)
        const status = await ask('GET', `/v1/auth/status?id=${begun.body.id}`)
        if (status?.body.status !== 'completed') return undefined // nothing was acknowledged
        return ask('GET', `/v1/connections?user_id=${user}`)
      },
      ({ status, body }) => {
        const id = body.items?.[0]?.id
        if (status !== 200 || typeof id !== 'string') return {}
        known.connections.set(user, id)
        return { connection: id }
      },
    )
  }

  const operate: Readonly<Record<Operation, (turn: Turn) => Promise<void>>> = {
    token,
    connect,
    async 'token by a key'(turn) {
      const [name, key] = turn.own.of([...known.keys, [undefined, undefined] as const])
      const connection = known.connections.get(turn.user)
      if (name === undefined || connection === undefined)
        return token({ ...turn, of: { ...turn.of, operation: 'token' } })
      await record(
        { ...turn.of, connection, apiKey: name },
        () => turn.ask('POST', `/v1/connections/${connection}/token`, { key }),
        tokenOf,
      )
    },
    async delete({ of, ask, user }) {
      const connection = known.connections.get(user)
      if (connection === undefined) return
      known.connections.delete(user)
      await record({ ...of, connection }, () => ask('DELETE', `/v1/connections/${connection}`))
    },
    async deny({ of, ask, user }) {
      if (known.denied.has(user)) return
      const policy = fresh(`deny-${user}`)
      known.denied.set(user, policy)
      const body = { id: policy, effect: 'deny', match: { users: [user] } }
      await record({ ...of, policy }, () => ask('POST', '/v1/admin/policies', { body }))
    },
    async allow({ of, ask, user }) {
      const policy = known.denied.get(user)
      if (policy === undefined) return
      known.denied.delete(user)
      await record({ ...of, policy }, () => ask('DELETE', `/v1/admin/policies/${policy}`))
    },
    async 'make key'({ of, ask }) {
      if (known.keys.size >= 4) return
      await record(
        of,
        () => ask('POST', '/v1/admin/keys', { body: { role: 'caller', name: fresh('key') } }),
        ({ status, body }) => {
          if (status !== 201) return {}
          known.keys.set(body.id, body.key)
          return { apiKey: body.id }
        },
      )
    },
    async 'revoke key'({ of, ask, own }) {
      const [name] = own.of([...known.keys.keys(), undefined].map((one) => [one] as const))
      if (name === undefined) return
      known.keys.delete(name)
      await record({ ...of, apiKey: name }, () => ask('DELETE', `/v1/admin/keys/${name}`))
    },
    async execute({ of, own }) {
      const isSafe = own.chance(0.4)
      const key = fresh('run')
      const body = { tool_name: isSafe ? 'Demo.Again' : 'Demo.Once', input: { key } }
      const again = own.between(1, 3)
      // repeats the request at other nodes, also while the first is under way
      const repeats = Array.from({ length: again }, async (_, i) => {
        await sleep(i * own.between(0, 400))
        const node = (of.node + i) % world.slots.length
        await record(
          { ...of, node, key, isSafe },
          () => world.ask(node, 'POST', '/v1/tools/execute', { body, headers: { 'idempotency-key': key } }),
          (answer) => ({
            ...(answer.status === 200 && {
              executionId: answer.body.execution_id,
              succeeded: answer.body.success === true,
            }),
          }),
        )
      })
      await Promise.all(repeats)
    },
    async schedule({ of, ask, own }) {
      const isSafe = own.chance(0.4)
      const key = fresh('scheduled')
      const run_at = new Date(Date.now() + 1_000).toISOString().slice(0, 19)
      const body = { tool_name: isSafe ? 'Demo.Again' : 'Demo.Once', input: { key }, run_at }
      await record({ ...of, key, isSafe }, () => ask('POST', '/v1/tools/execute', { body }))
    },
    ask: (turn) =>
      approveRun(turn, {
        key: fresh('approved'),
        isSafe: turn.own.chance(0.3),
        ...(turn.own.chance(0.8) && { approves: 'once' }),
      }),
    'take back': (turn) => approveRun(turn, { key: fresh('remembered'), isSafe: true, approves: 'hour' }),
    // these are parts of the two above
    decide: async () => {},
    'run approved': async () => {},
  }

  /** Asks about a call, answers as an approver, and repeats the call at several nodes at once. */
  async function approveRun(
    { of, own }: Turn,
    {
      key,
      isSafe,
      approves,
    }: Pick<Recorded, 'approves'> & { readonly key: string; readonly isSafe: boolean },
  ): Promise<void> {
    const { length } = world.slots
    const body = { tool_name: isSafe ? APPROVED.again : APPROVED.once, user_id: key, input: { key } }
    const call = (operation: Operation, node: number) =>
      record(
        { ...of, operation, node, key, isSafe },
        () => world.ask(node, 'POST', '/v1/tools/execute', { body }),
        (answer) => ({
          ...(answer.body.success === true && { executionId: answer.body.execution_id, succeeded: true }),
        }),
      )
    const asked = await call('ask', of.node)
    const id = asked?.body.output?.requires_authorization?.id
    if (id === undefined) return
    const approver = { key: world.approver }
    const node = (of.node + 1) % length
    const shown = await world.ask(node, 'GET', `/v1/approvals/${id}`, approver)
    if (shown?.status !== 200) return
    const decision = {
      decision: approves === undefined ? 'deny' : 'approve',
      digest: shown.body.digest,
      approver: 'olga',
      ...(approves === 'hour' && { remember: 'hour', fixed: ['key'] }),
    }
    await record({ ...of, operation: 'decide', node, key, ...(approves && { approves }) }, () =>
      world.ask(node, 'POST', `/v1/approvals/${id}/decision`, { ...approver, body: decision }),
    )
    const repeats = Array.from({ length: own.between(2, 5) }, async (_, i) => {
      await sleep(own.of([0, 0, own.between(0, 600)]))
      await call('run approved', (of.node + i) % length)
    })
    await Promise.all(repeats)
    if (approves !== 'hour') return
    const listed = await world.ask(of.node, 'GET', `/v1/admin/standing_approvals?user_id=${key}`)
    const standing = listed?.body.items?.[0]?.id
    if (standing === undefined) return
    await record({ ...of, operation: 'take back', key }, () =>
      world.ask(of.node, 'DELETE', `/v1/admin/standing_approvals/${standing}`),
    )
    for (const other of world.slots.keys()) await call('run approved', other)
  }

  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i))
  return {
    requests,
    record,
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

export const tokenOf = ({ status, body }: Answer): Partial<Recorded> =>
  status === 200 && typeof body.access_token === 'string' ? { token: body.access_token } : {}

/** How often each is chosen. */
const OPERATIONS: readonly Operation[] = [
  ...Array.from({ length: 24 }, () => 'token' as const),
  ...Array.from({ length: 6 }, () => 'token by a key' as const),
  ...Array.from({ length: 5 }, () => 'execute' as const),
  ...Array.from({ length: 3 }, () => 'ask' as const),
  'take back',
  'schedule',
  'delete',
  'deny',
  'allow',
  'allow',
  'make key',
  'revoke key',
]

/** Follows the link to its end, for at most six seconds. */
export async function approve(url: string): Promise<void> {
  const browser = new UserAgent()
  const walk = browser.get(url).then((page) => browser.submitForm(page))
  await Promise.race([walk.catch(() => {}), sleep(CONSENT_MS)])
}
