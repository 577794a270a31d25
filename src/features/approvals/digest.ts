import canonicalize from 'canonicalize'
import { ruleKey } from '../../domain/approval.ts'
import { BrokerError } from '../../domain/errors.ts'
import { sha256 } from '../../domain/ids.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { CallToApprove } from '../../services/call-approvals.ts'
import type { Approval } from './domain.ts'
import type { ShownCall } from './shown-call.ts'

/** A change of what a digest covers gets another number, so that no approval counts for something else. */
const VERSION = 2
/** People must be able to read all of it. */
const MAX_INPUT_BYTES = 256 * 1024

/** The SHA-256, in base64url, of the call and all that its approval is bound to, as RFC 8785 writes it. */
export function callDigest(call: CallToApprove, agent: string): string {
  const { input, runAt, exact } = call
  return digestOf({ ...boundTo(call, agent), input, runAt, exact })
}

/**
 * The same with the values of these arguments and the names of all: equal for all calls that the remembered approval covers.
 * What was absent when people approved stays absent.
 */
export function coverDigest(call: CallToApprove, agent: string, fixed: readonly string[]): string {
  const names = Object.keys(call.input).sort()
  return digestOf({ ...boundTo(call, agent), names, fixed: fixedArguments(call, fixed) })
}

/** The same from a stored question. */
export function coverDigestOf(approval: Approval, call: ShownCall, fixed: readonly string[]): string {
  const { agent, rules } = approval
  return coverDigest({ ...approval, ...call, needed: { rules, versions: [] } }, agent, fixed)
}

export function fixedArguments(
  { input, always = [] }: Pick<CallToApprove, 'input' | 'always'>,
  fixed: readonly string[],
): Readonly<Record<string, unknown>> {
  const present = [...new Set([...always, ...fixed])].sort().filter((name) => Object.hasOwn(input, name))
  return Object.fromEntries(present.map((name) => [name, input[name]]))
}

function boundTo(call: CallToApprove, agent: string) {
  const { projectId, userId, use, subject, definition, workerId, hosts, connections, needed, metadata } = call
  return {
    version: VERSION,
    projectId,
    userId,
    use,
    subject,
    definition,
    workerId,
    hosts: [...hosts].sort(),
    connections: connections.map(({ id }) => id).sort(),
    agent,
    metadata,
    rules: needed.rules.map(ruleKey).sort(),
  }
}

function digestOf(bound: object): string {
  return sha256(canonicalize(bound) ?? '')
}

/** Throws `invalid_input` for what a person cannot be shown exactly: too much, or numbers that JSON does not keep. */
export function checkShowable(input: Readonly<Record<string, unknown>>): void {
  if (Buffer.byteLength(JSON.stringify(input)) > MAX_INPUT_BYTES)
    throw new BrokerError(
      'invalid_input',
      'A person must approve this call, and its arguments are longer than 256 KiB. Send less, or a reference.',
    )
  if (!JSON.stringify(input).isWellFormed() || /\\ud[89a-f]/i.test(JSON.stringify(input)))
    throw new BrokerError(
      'invalid_input',
      'A person must approve this call, and its arguments have half of a surrogate pair, which is no character. Leave it out.',
    )
  const path = inexactNumber(input, '')
  if (path !== undefined)
    throw new BrokerError(
      'invalid_input',
      `A person must approve this call, and the number at ${path} has more digits than JSON numbers keep (RFC 8785 section 3.2.2.3). Send it as a string.`,
    )
}

/** The JSON Pointer of a number that another program may read as a different one. */
function inexactNumber(value: unknown, path: string): string | undefined {
  if (typeof value === 'number')
    return (Number.isInteger(value) && !Number.isSafeInteger(value)) || !Number.isFinite(value)
      ? path
      : undefined
  if (!Array.isArray(value) && !isRecord(value)) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = inexactNumber(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    if (found !== undefined) return found
  }
  return undefined
}
