import { drawnText } from '../../domain/untrusted-text.ts'
import type { ClientQuestion } from '../../services/call-approvals.ts'
import type { Sealer } from '../../store/seal.ts'
import { asciiHost } from './ascii-host.ts'
import { type Approval, personOf } from './domain.ts'
import { openCall, type ShownCall } from './shown-call.ts'

// The question as the form of an MCP client shows it. Clients draw the message in ways of their own, so everything is text.

/** Of the whole message: a client may cut a longer one off, so such a call is decided on the page. */
const MAX_CHARACTERS = 6_000
/** Before each line that a program wrote, so that none can pass for a line of Gatepass. */
const BAR = '│ '
/** Before the name of an argument, which a program may have written too: no value has such a line. */
const NAME = '▸ '

/** `undefined` if no rule lets the user answer in the client, if they have, or if the call is too long for a form. */
export function clientQuestion(
  { sealer }: { readonly sealer: Sealer },
  approval: Approval,
): ClientQuestion | undefined {
  const { status, rules, decisions, userId, digest } = approval
  if (status !== 'pending' || userId === undefined) return undefined
  const hasAnswered = (ruleId: string) =>
    decisions.some((one) => one.rules.includes(ruleId) && personOf(one.approver) === personOf(userId))
  if (!rules.some(({ by, id }) => by === 'user_in_client' && !hasAnswered(id))) return undefined
  const call = openCall(sealer, 'approvals', approval)
  const message = call && questionText(call, userId)
  return message === undefined || message.length > MAX_CHARACTERS ? undefined : { message, digest }
}

function questionText(call: ShownCall, userId: string): string {
  const { title, agentName, connections, hosts, hints, hidden = [], metadata = {}, input } = call
  const given = Object.entries(input).flatMap(([name, value]) => [
    `${NAME}${oneLine(name)}`,
    ...(hidden.includes(name) ? [`${BAR}•••••• (hidden by the tool)`] : valueLines(value)),
  ])
  const beside = Object.entries(metadata).flatMap(([name, value]) => [
    `${NAME}${oneLine(name)} (metadata)`,
    ...valueLines(value),
  ])
  const all = [...given, ...beside]
  return [
    `${oneLine(agentName)} wants to run "${oneLine(title)}" for ${oneLine(userId)}.`,
    ...connections.map(({ provider, account }) => `Account: ${oneLine(`${provider} ${account}`.trim())}`),
    ...hosts.map((host) => `Host: ${oneLine(host)}`),
    ...(hints.includes('destructive') ? ['This changes or sends something, and may not be undone.'] : []),
    ...(all.length === 0
      ? ['It has no arguments.']
      : ['A program wrote the text behind the lines. Only approve what you expect.', '', ...all]),
  ].join('\n')
}

function valueLines(value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const ascii = typeof value === 'string' ? asciiHost(value) : undefined
  return [
    ...drawnText(text)
      .split('\n')
      .map((line) => `${BAR}${line}`),
    ...(ascii === undefined ? [] : [`= ${oneLine(ascii)}`]),
  ]
}

function oneLine(text: string): string {
  return drawnText(text).replaceAll('\n', '[U+000A]')
}
