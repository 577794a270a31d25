import { bold, dim, MARKS, toSecond } from '../../cli/print.ts'
import { drawnText } from '../../domain/untrusted-text.ts'
import type { Approval } from '../../sdk/generated/wire.ts'
import { asciiHost } from './ascii-host.ts'

/** The call as a person reads it at a terminal, who asks about it and the state of the question: everything, as text alone. */
export function callText(
  approval: Approval,
  { columns }: { readonly columns?: number | undefined } = {},
): string {
  const { call, status, user_id: user, agent, group, rules, decisions, digest } = approval
  const subject = approval.tool_id ?? approval.provider_id ?? ''
  const asks = call === undefined || call.agent_name === agent ? agent : `${call.agent_name} (${agent})`
  const facts: readonly (readonly [name: string, text: string | undefined])[] = [
    ['approval', approval.id],
    ['state', status === 'pending' ? `pending until ${toSecond(approval.expires_at)}` : status],
    ['asked at', toSecond(approval.created_at)],
    [approval.use, subject],
    ['asked by', asks],
    ['for user', user],
    ...(call?.accounts ?? []).map((one) => ['account', `${one.provider} ${one.account}`.trim()] as const),
    ...(call?.hosts ?? []).map((host) => ['host', host] as const),
    ['will run', call?.run_at === undefined ? undefined : toSecond(call.run_at)],
    ['policies', rules.join(', ')],
    ['decides', group === undefined ? 'the user' : `the group ${group}`],
    ...decisions.map(
      (one) => [PAST[one.decision], `${one.approver} (${one.proof}), ${toSecond(one.at)}`] as const,
    ),
    ['run', approval.execution_id],
    ['digest', digest],
  ]
  const lines = facts.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${dim(name.padEnd(NAME_WIDTH))} ${oneLine(text)}`],
  )
  const title = bold(oneLine(call?.title ?? subject))
  return [title, ...lines, '', ...(call === undefined ? [GONE] : argumentLines(call, columns))].join('\n')
}

const PAST = { approve: 'approved by', deny: 'denied by' } as const
const NAME_WIDTH = 11
const GONE = 'The arguments are no longer stored.'
/** Printed before each line that a program wrote, so that none can pass for a line of Gatepass. */
const BAR = '  │ '
/** Before the name of an argument, which a program may have written too: no value has such a line. */
const NAME = '▸ '

type Call = NonNullable<Approval['call']>

function argumentLines(call: Call, columns: number | undefined): string[] {
  const { arguments: values, hidden = [], metadata = {}, hints } = call
  const marked = (mark: string, line: string) => wrapped(line, columns).map((piece) => `${dim(mark)}${piece}`)
  const quoted = (text: string) =>
    drawnText(text)
      .split('\n')
      .flatMap((line) => marked(BAR, line))
  const named = (name: string, more = '') => marked(NAME, `${oneLine(name)}${more}`)
  const shown = Object.entries(values).flatMap(([name, value]) => {
    const ascii = typeof value === 'string' ? asciiHost(value) : undefined
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    return [...named(name), ...quoted(text), ...(ascii === undefined ? [] : [`  = ${oneLine(ascii)}`])]
  })
  const kept = hidden.flatMap((name) => [...named(name), `  •••••• ${dim('hidden by the tool')}`])
  const beside = Object.entries(metadata).flatMap(([name, value]) => [
    ...named(name, ' (metadata)'),
    ...quoted(value),
  ])
  const all = [...shown, ...kept, ...beside]
  return [
    ...(hints.includes('destructive')
      ? [`${MARKS.warning} This changes or sends something, and may not be undone.`]
      : []),
    ...(all.length === 0
      ? ['It has no arguments.']
      : [
          `${MARKS.warning} A program wrote the text behind the lines. Only approve what you expect.`,
          ...all,
        ]),
  ]
}

/** A line in pieces that fit the terminal: what is wrapped by the terminal itself would begin without the line before it. */
function wrapped(line: string, columns: number | undefined): string[] {
  if (columns === undefined) return [line]
  const width = Math.max(20, columns - BAR.length)
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const character of line) {
    const cells = character < '\u{300}' ? 1 : 2 // what lies beyond may be wide
    if (used + cells > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += character
    used += cells
  }
  return [...pieces, piece]
}

function oneLine(text: string): string {
  return drawnText(text).replaceAll('\n', '[U+000A]')
}
