import type { Fault, History, Refresh, Request } from './history.ts'

/** A promise that a history breaks, and the part of the history that shows it. */
export interface Violation {
  readonly promise: string
  readonly what: string
  readonly excerpt: readonly string[]
}

/**
 * Within that time after the faults have ended, every user has a token. It counts while users are refused or wait, and not
 * while they approve or are answered, which takes longer on a slow machine.
 */
export const LIVENESS_MS = 45_000

/**
 * Whether something that happened in this time may be lost, because a standby took over that had not received it. What
 * was under way when it took over may be lost too.
 */
function mayBeLost({ faults }: History, from: number, to = from): boolean {
  return faults.some(({ kind, begun, ended }) => kind === 'lossy failover' && begun <= to && ended >= from)
}

type Check = (history: History) => readonly Violation[]

/** Everything that the documents promise of a history, under every fault of the processes. */
export function check(history: History): readonly Violation[] {
  return CHECKS.flatMap((one) => one(history))
}

/** P4: a connection that was acknowledged is there at the end, unless a client asked for its deletion. */
const kept: Check = (history) => {
  const { requests, end } = history
  const there = new Set(end.connections)
  const given = requests.filter(
    (one) =>
      one.operation === 'connect' && isOk(one) && one.connection && !mayBeLost(history, one.begun, one.ended),
  )
  const asked = new Set(of(requests, 'delete').map(({ connection }) => connection))
  return unique(given, (one) => one.connection)
    .filter(({ connection = '' }) => !there.has(connection) && !asked.has(connection))
    .map((one) =>
      violation(
        history,
        'P4',
        `connection ${one.connection} was acknowledged and is not there any more`,
        about(one),
      ),
    )
}

/** P5: of one refresh token at most one request is under way, unless its process was stopped or killed meanwhile. */
const oneAtATime: Check = (history) => {
  const { refreshes } = history.provider
  return pairs(refreshes)
    .filter(([first, second]) => second.arrived < first.ended && !wasCutOff(history, first, second))
    .map(([first, second]) =>
      violation(
        history,
        'P5',
        `the refresh token ${short(first.refreshToken)} was sent again while its first request was under way`,
        (line) => line.includes(short(first.refreshToken)),
        [first.arrived, second.ended],
      ),
    )
}

/** Whether the process of the first request was killed or stopped: only then may another send the token before it ends. */
function wasCutOff({ faults }: History, first: Refresh, second: Refresh): boolean {
  const takesAway = (kind: Fault['kind']) => ['kill', 'stop', 'lossy failover'].includes(kind)
  return faults.some(
    ({ kind, begun, ended }) => takesAway(kind) && begun <= second.arrived && ended >= first.arrived - 1_000,
  )
}

/** Fencing: a refresh token whose answer was stored is never sent again. */
const fenced: Check = (history) => {
  const stored = new Set(history.trail.refreshed.map(({ fingerprint }) => fingerprint))
  return (
    pairs(history.provider.refreshes)
      .filter(([first]) => first.issued !== undefined && stored.has(first.issued))
      // a lease that was lost lets another process send the token before the first one stores the answer again
      .filter(([first, second]) => !mayBeLost(history, first.arrived, second.arrived))
      .map(([first, second]) =>
        violation(
          history,
          'fencing',
          `the refresh token ${short(first.refreshToken)} was sent again although its answer had been stored`,
          (line) => line.includes(short(first.refreshToken)),
          [first.arrived, second.ended],
        ),
      )
  )
}

/**
 * P6: a user must approve again only because the provider refused a refresh token, and it refuses only a token that it
 * has seen before. So every lost outcome needs a refresh token that came again.
 */
const noNewConsent: Check = (history) => {
  const { trail, provider } = history
  // before a process has noticed that the database went back, it takes the refusal of a used token for the user's will
  const lossy = history.faults.some(({ kind }) => kind === 'lossy failover')
  const isLost = ({ reason }: { readonly reason: string }) =>
    reason === 'refresh_outcome_lost' || (lossy && reason === 'refresh_refused')
  const deleted = of(history.requests, 'delete').filter((one) => mayBeLost(history, one.begun, one.ended))
  // a deletion that was lost has revoked the tokens; and the answer that is stored late makes the connection active again
  const lost = lossy
    ? unique(
        trail.ended.filter(
          (one) => isLost(one) && !deleted.some(({ connection }) => connection === one.connection),
        ),
        ({ connection }) => connection,
      )
    : trail.ended.filter(isLost)
  const other = trail.ended.filter((one) => !isLost(one))
  return [
    ...other.map(({ connection, reason }) =>
      violation(
        history,
        'P6',
        `connection ${connection} must be approved again (${reason}) although its provider had no cause`,
        (line) => line.includes(connection),
      ),
    ),
    ...(lost.length > provider.reuses.length
      ? [
          violation(
            history,
            'P6',
            `${lost.length} connections say that the outcome of a refresh was lost, and ${provider.reuses.length} used refresh tokens came again`,
            (line) => lost.some(({ connection }) => line.includes(connection)),
          ),
        ]
      : []),
  ]
}

/** P7 and P1: the audit trail has every token that was answered, as its user's, and its chain is whole. */
const recorded: Check = (history) => {
  const { requests, trail } = history
  const broken = trail.faults.map((fault) =>
    violation(history, 'P7', `the audit trail is broken: ${fault}`, () => false),
  )
  const missing = unrecorded(history).filter((one) => !mayBeLost(history, one.begun, one.ended))
  const foreign = tokens(requests).filter((one) =>
    trail.released.some(
      ({ requestId, fingerprint, user }) =>
        requestId === one.requestId && fingerprint === one.fingerprint && user !== one.user,
    ),
  )
  return [
    ...broken,
    ...missing.map((one) =>
      violation(
        history,
        'P7',
        `a token was answered to request ${one.requestId} without a record`,
        about(one),
      ),
    ),
    ...foreign.map((one) =>
      violation(
        history,
        'P1',
        `request ${one.requestId} of ${one.user} was answered another user’s token`,
        about(one),
      ),
    ),
  ]
}

/** Tokens that were answered without a record. */
function unrecorded({ requests, trail }: History): readonly Request[] {
  return tokens(requests).filter(
    (one) =>
      !trail.released.some(
        ({ requestId, fingerprint }) => requestId === one.requestId && fingerprint === one.fingerprint,
      ),
  )
}

/**
 * A process that has answered a token whose record is lost says that the database has lost commits, if it still runs. None
 * says so without a cause.
 */
const noticed: Check = (history) => {
  const { faults, end } = history
  const isLossy = faults.some(({ kind }) => kind === 'lossy failover')
  const unfounded = isLossy ? [] : [...end.losses.entries()].filter(([, times]) => times > 0)
  const unnoticed = unique(
    unrecorded(history).filter(
      ({ node, begun, ended }) =>
        mayBeLost(history, begun, ended) &&
        end.losses[node] === 0 &&
        !faults.some((one) => one.kind === 'kill' && one.node === node && one.ended >= begun),
    ),
    ({ node }) => node,
  )
  return [
    ...unfounded.map(([node, times]) =>
      violation(
        history,
        'losses',
        `node ${node} says ${times} times that the database has lost commits, and it has lost none`,
        () => false,
      ),
    ),
    ...unnoticed.map((one) =>
      violation(
        history,
        'losses',
        `node ${one.node} does not notice that the record of request ${one.requestId} is lost`,
        about(one),
      ),
    ),
  ]
}

/** A code is sent once; a run that is not safe to repeat is begun once; one key has one answer. */
const atMostOnce: Check = (history) => {
  const { provider, calls, requests } = history
  const codes = [...counted(provider.codes.map(({ code }) => code))].filter(([, times]) => times > 1)
  const isKept = ({ at }: { readonly at: number }) => !mayBeLost(history, at - 1_000, at + 1_000)
  const runs = [...counted(calls.filter((one) => !one.isSafe && isKept(one)).map(({ key }) => key))].filter(
    ([, times]) => times > 1,
  )
  const answered = of(requests, 'execute').filter(
    (one) => isOk(one) && one.executionId !== undefined && !mayBeLost(history, one.begun, one.ended),
  )
  // a safe tool is run again when its process is taken for dead, and each caller is answered its own run
  const twoFaced = unique(
    answered.filter(({ isSafe }) => isSafe !== true),
    ({ key }) => key,
  ).filter(({ key, executionId }) =>
    answered.some((other) => other.key === key && other.executionId !== executionId),
  )
  const uncalled = unique(answered, ({ key }) => key).filter(
    ({ key, succeeded }) => succeeded === true && !calls.some((call) => call.key === key),
  )
  return [
    ...codes.map(([code, times]) =>
      violation(history, 'at most once', `the code ${short(code)} was sent ${times} times`, (line) =>
        line.includes(short(code)),
      ),
    ),
    ...runs.map(([key, times]) =>
      violation(
        history,
        'at most once',
        `${key} was run ${times} times, and its tool is not safe to repeat`,
        (line) => line.includes(key),
      ),
    ),
    ...twoFaced.map(({ key = '' }) =>
      violation(history, 'at most once', `two answers were given to ${key}`, (line) => line.includes(key)),
    ),
    ...uncalled.map(({ key = '' }) =>
      violation(history, 'at most once', `${key} was answered as run, and its tool was not called`, (line) =>
        line.includes(key),
      ),
    ),
  ]
}

/** After a deletion, a revocation or a policy was acknowledged, no request that begins later gets the token. */
const denied: Check = (history) => {
  const { requests } = history
  const after = (
    taken: Request,
    isAbout: (one: Request) => boolean,
    what: string,
    until = Number.POSITIVE_INFINITY,
  ) =>
    tokens(requests)
      .filter((one) => isAbout(one) && one.begun > taken.ended && one.ended < until)
      .map((one) =>
        violation(
          history,
          'deny after acknowledgement',
          `a token was answered to request ${one.requestId}, begun after ${what}`,
          about(one),
          [taken.begun, one.ended],
        ),
      )
  const isKept = (one: Request) => isOk(one) && !mayBeLost(history, one.begun, one.ended)
  const deletions = of(requests, 'delete').filter(isKept)
  const revocations = of(requests, 'revoke key').filter(isKept)
  const policies = of(requests, 'deny').filter(isKept)
  return [
    ...deletions.flatMap((taken) =>
      after(
        taken,
        ({ connection }) => connection === taken.connection,
        `connection ${taken.connection} was deleted`,
      ),
    ),
    ...revocations.flatMap((taken) =>
      after(
        taken,
        ({ apiKey }) => apiKey !== undefined && apiKey === taken.apiKey,
        `its key ${taken.apiKey} was revoked`,
      ),
    ),
    ...policies.flatMap((taken) => {
      const lifted = of(requests, 'allow').find(({ policy }) => policy === taken.policy)
      return after(
        taken,
        ({ user }) => user === taken.user,
        `the policy ${taken.policy} denied it`,
        lifted?.begun,
      )
    }),
  ]
}

/**
 * A call that a person must approve runs only after an approval was sent. An approval for one call runs it once; one that
 * may be repeated runs again only as the same execution. What was taken back covers no call that begins afterwards.
 */
const approvedOnce: Check = (history) => {
  const { requests, calls } = history
  const asked = unique(of(requests, 'ask'), ({ key }) => key)
  return asked.flatMap((question) => {
    const { key } = question
    const runs = calls.filter((call) => call.key === key)
    const last = Math.max(question.ended, ...runs.map(({ at }) => at))
    if (mayBeLost(history, question.begun, last)) return []
    const own = requests.filter((one) => one.key === key)
    const approvals = of(own, 'decide').filter(({ approves }) => approves !== undefined)
    const told = (what: string) => violation(history, 'approvals', what, about(question))
    const early = runs.filter(({ at }) => !approvals.some(({ begun }) => begun <= at))
    const isOnce = approvals.every(({ approves }) => approves === 'once')
    const answered = own.filter(({ succeeded }) => succeeded === true)
    const executions = new Set(answered.map(({ executionId }) => executionId))
    const [taken] = of(own, 'take back').filter(isOk)
    const late = answered.filter(({ begun }) => taken !== undefined && begun > taken.ended)
    return [
      ...(early.length > 0 ? [told(`the call ${key} ran before a person had approved it`)] : []),
      ...(isOnce && question.isSafe === false && runs.length > 1
        ? [told(`the call ${key} ran ${runs.length} times by an approval for one`)]
        : []),
      ...(isOnce && executions.size > 1
        ? [told(`the call ${key} was answered as ${executions.size} executions by an approval for one`)]
        : []),
      // the approval itself, which is for one call, is not what was taken back
      ...(late.length > 1 ? [told(`the call ${key} ran after what covers it had been taken back`)] : []),
    ]
  })
}

/** Within 45 s after the faults have ended, every user has a token. */
const live: Check = (history) => {
  const { settledMs, unsettled } = history.end
  if (settledMs !== undefined && settledMs <= LIVENESS_MS) return []
  return [
    violation(
      history,
      'liveness',
      `not settled ${LIVENESS_MS / 1000} s after it was calm: ${unsettled.join(', ')}`,
      (line) => unsettled.some((user) => line.includes(user)),
    ),
  ]
}

/** No request is answered 500, which would be a bug of Gatepass. */
const noBug: Check = (history) =>
  history.requests
    .filter(({ status }) => status === 500)
    .map((one) => violation(history, 'answers', `request ${one.requestId} was answered 500`, about(one)))

const CHECKS: readonly Check[] = [
  kept,
  oneAtATime,
  fenced,
  noNewConsent,
  recorded,
  noticed,
  atMostOnce,
  approvedOnce,
  denied,
  live,
  noBug,
]

function of(requests: readonly Request[], operation: Request['operation']): readonly Request[] {
  return requests.filter((one) => one.operation === operation)
}

function tokens(requests: readonly Request[]): readonly Request[] {
  return requests.filter((one) => isOk(one) && one.fingerprint !== undefined)
}

function isOk({ status }: Request): boolean {
  return status !== undefined && status >= 200 && status < 300
}

function about({ user, connection, key, requestId }: Request): (line: string) => boolean {
  const names = [user, connection, key, requestId].filter((one) => one !== undefined && one !== '')
  return (line) => names.some((name) => line.includes(name ?? ''))
}

/** Each refresh, paired with each later one of the same refresh token. */
function pairs(refreshes: readonly Refresh[]): (readonly [Refresh, Refresh])[] {
  return refreshes.flatMap((first, i) =>
    refreshes
      .slice(i + 1)
      .filter(({ refreshToken }) => refreshToken === first.refreshToken)
      .map((second) => [first, second] as const),
  )
}

function unique<T>(list: readonly T[], by: (one: T) => unknown): readonly T[] {
  return [...new Map(list.map((one) => [by(one), one])).values()]
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

export function short(secret: string): string {
  return secret.slice(0, 12)
}

const MOST_LINES = 40

/** Its excerpt has every fault in the span of time, and the requests, refreshes and calls that `isAbout` accepts. */
function violation(
  history: History,
  promise: string,
  what: string,
  isAbout: (line: string) => boolean,
  [from, to]: readonly [number, number] = [0, Number.POSITIVE_INFINITY],
): Violation {
  const lines = [
    ...history.requests.map((one) => ({ at: one.begun, text: tellRequest(one), isFault: false })),
    ...history.provider.refreshes.map((one) => ({ at: one.arrived, text: tellRefresh(one), isFault: false })),
    ...history.calls.map(({ at, key, isSafe }) => ({
      at,
      text: `tool called: ${key}${isSafe ? ' (safe)' : ''}`,
      isFault: false,
    })),
    ...history.faults.map((one) => ({ at: one.begun, text: tellFault(one), isFault: true })),
  ]
    .filter(({ at, text, isFault }) => at >= from - 3_000 && at <= to && (isFault || isAbout(text)))
    .sort((a, b) => a.at - b.at)
  return {
    promise,
    what,
    excerpt: lines.slice(-MOST_LINES).map(({ at, text }) => `${Math.round(at)} ms  ${text}`),
  }
}

function tellRequest(one: Request): string {
  const { operation, client, node, user, ended, status, refusal, requestId, connection, key, executionId } =
    one
  return [
    `client ${client} to node ${node}: ${operation} of ${user}`,
    connection,
    key,
    `-> ${status ?? 'no answer'}${refusal === undefined ? '' : ` ${refusal}`}`,
    executionId,
    requestId,
    `until ${Math.round(ended)} ms`,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}

function tellRefresh({ refreshToken, ended, issued }: Refresh): string {
  return `provider: refresh by ${short(refreshToken)} until ${Math.round(ended)} ms, ${issued === undefined ? 'refused' : `issued ${issued}`}`
}

function tellFault({ kind, node, ended, connection, what }: Fault): string {
  return [
    `** ${kind}`,
    node === undefined ? undefined : `node ${node}`,
    what,
    connection,
    `until ${Math.round(ended)} ms`,
  ]
    .filter((part) => part !== undefined)
    .join(' ')
}
