import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { OutgoingError } from './outgoing-error.ts'
import { bareHostname, type ReachRules } from './public-address.ts'

// The one file that opens outgoing connections. It guards against server-side request forgery (threat 14 in
// docs/evidence/threats.md).

export type { Dispatcher } from 'undici'

/** A client's certificate with its chain, and its key, in PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

export interface GuardedAgentOptions {
  readonly rules: ReachRules
  readonly resolve: Resolve
  /** The most open connections to one origin. */
  readonly connections: number
  /** Presented to every server that asks for one. */
  readonly certificate?: ClientCertificate | undefined
}

/** Resolves with all addresses of a name. */
export type Resolve = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>

/**
 * Creates a resolver in which concurrent look-ups of a name share one query; no answer is cached. Node looks names up
 * in libuv's threads, of which at most half (`bin/gatepass.js`) wait for name servers: without sharing, one slow name
 * could occupy that half and delay connections to every host. Default: the system's resolver.
 */
export function createResolver(lookup: LookupFunction = systemLookup): Resolve {
  const running = new Map<string, Promise<readonly LookupAddress[]>>()
  return (hostname, options) => {
    const known = running.get(hostname)
    if (known !== undefined) return known
    const started = new Promise<readonly LookupAddress[]>((resolve, reject) => {
      lookup(hostname, { ...options, all: true }, (error, answers) => {
        if (error) reject(error)
        else resolve(typeof answers === 'string' ? [{ address: answers, family: 0 }] : answers)
      })
    }).finally(() => running.delete(hostname))
    running.set(hostname, started)
    return started
  }
}

/** undici's agent, with a connector that dials only addresses which the rules allow. */
export function createGuardedAgent({ rules, resolve, connections, certificate }: GuardedAgentOptions): Agent {
  return new Agent({
    connect: guardedConnector(rules, resolve, certificate),
    connections,
    allowH2: false,
    // each request has a time limit of its own, from the call on; undici's begin later and pause while no body is read
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/**
 * undici's connector, which opens sockets only to addresses that the rules allow. A name is resolved for each
 * connection, every resolved address is checked, and only checked addresses are dialled, so a name cannot resolve to
 * another address between check and use (DNS rebinding). Node does not resolve IP literals: they are checked directly.
 */
function guardedConnector(
  rules: ReachRules,
  resolve: Resolve,
  certificate: ClientCertificate | undefined,
): buildConnector.connector {
  const connector = (lookup: LookupFunction) => buildConnector({ lookup, allowH2: false, ...certificate })
  const named = connector(checkedLookup(resolve, () => true))
  const secure = connector(checkedLookup(resolve, (address) => rules.allowsAddress('https:', address)))
  const plain = connector(checkedLookup(resolve, (address) => rules.allowsAddress('http:', address)))
  return (endpoint, callback) => {
    const { protocol, hostname } = endpoint
    const literal = bareHostname(hostname)
    if (isIP(literal) && !rules.isNamed(endpoint) && !rules.allowsAddress(protocol, literal))
      return callback(new OutgoingError('host_not_allowed', literal, { requestSent: false }), null)
    const connect = rules.isNamed(endpoint) ? named : protocol === 'https:' ? secure : plain
    connect(endpoint, callback)
  }
}

function checkedLookup(resolve: Resolve, allows: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options).then(
      ([first, ...others]) => {
        if (!first || ![first, ...others].every(({ address }) => allows(address))) {
          callback(new OutgoingError('host_not_allowed', hostname, { requestSent: false }), [])
        } else if (options.all) callback(null, [first, ...others])
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}
