import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { OutgoingError } from './outgoing-error.ts'
import { bareHostname, type ReachRules } from './public-address.ts'

// The one file that opens outgoing connections; it guards against threat 14 in docs/security.md.

export type { Dispatcher } from 'undici'

/** A client's certificate with its chain, and its key, in PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

export interface GuardedAgentOptions {
  readonly rules: ReachRules
  /** Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** The most open connections to one origin. */
  readonly connections: number
  /** Presented to every server that asks for one. */
  readonly certificate?: ClientCertificate | undefined
}

/** undici's agent, with a connector that dials only addresses which the rules allow. */
export function createGuardedAgent({
  rules,
  lookup = systemLookup,
  connections,
  certificate,
}: GuardedAgentOptions): Agent {
  return new Agent({
    connect: guardedConnector(rules, lookup, certificate),
    connections,
    allowH2: false,
    // the deadlines of an exchange begin with the call and hold while the body is not read; undici's begin later and pause
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/**
 * undici's connector, which opens sockets only to addresses that the rules allow. A name is resolved once per
 * connection, every resolved address is checked, and only checked addresses are dialled, so a name cannot resolve to
 * another address between check and use (DNS rebinding). Node does not resolve IP literals: they are checked directly.
 */
function guardedConnector(
  rules: ReachRules,
  lookup: LookupFunction,
  certificate: ClientCertificate | undefined,
): buildConnector.connector {
  const connector = (lookup: LookupFunction) => buildConnector({ lookup, allowH2: false, ...certificate })
  const named = connector(lookup)
  const secure = connector(checkedLookup(lookup, (address) => rules.allowsAddress('https:', address)))
  const plain = connector(checkedLookup(lookup, (address) => rules.allowsAddress('http:', address)))
  return (endpoint, callback) => {
    const { protocol, hostname } = endpoint
    const literal = bareHostname(hostname)
    if (isIP(literal) && !rules.isNamed(endpoint) && !rules.allowsAddress(protocol, literal))
      return callback(new OutgoingError('host_not_allowed', literal, { requestSent: false }), null)
    const connect = rules.isNamed(endpoint) ? named : protocol === 'https:' ? secure : plain
    connect(endpoint, callback)
  }
}

function checkedLookup(lookup: LookupFunction, allows: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, answers) => {
      if (error) return callback(error, [])
      const [first, ...others] = typeof answers === 'string' ? [{ address: answers, family: 0 }] : answers
      if (!first || ![first, ...others].every(({ address }) => allows(address))) {
        return callback(new OutgoingError('host_not_allowed', hostname, { requestSent: false }), [])
      }
      if (options.all) callback(null, [first, ...others])
      else callback(null, first.address, first.family)
    })
  }
}
