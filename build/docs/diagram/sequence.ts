import { arrow, boxAt, LINE, linesOf, svg, textAt, widthOf } from './svg.ts'

const ROW = 42
const HEAD = 52
const GAP = 130
/** Letters in a line of a participant's name. */
const NAME = 16

interface Participant {
  readonly id: string
  readonly name: string
  readonly isPerson: boolean
}

interface Message {
  readonly from: number
  readonly to: number
  readonly isAnswer: boolean
  readonly text: string
}

type Step = Message | { readonly over: readonly [number, number]; readonly text: string }

/** `actor`, `participant`, `->>`, `-->>` and `Note over` of Mermaid's sequence diagrams. */
export function sequence(statements: readonly string[]): string {
  const participants: Participant[] = []
  const steps: Step[] = []
  const indexOf = (id = '') => {
    const at = participants.findIndex((one) => one.id === id)
    if (at === -1) throw new Error(`This participant is not declared: ${id}`)
    return at
  }
  for (const statement of statements) {
    const [, kind, id = '', name] = /^(actor|participant) (\w+)(?: as (.+))?$/.exec(statement) ?? []
    const [, from, line, to, text = ''] = /^(\w+)(--?>>)(\w+): (.+)$/.exec(statement) ?? []
    const [, first, last = first, note = ''] = /^Note over (\w+)(?:,(\w+))?: (.+)$/.exec(statement) ?? []
    if (kind !== undefined) participants.push({ id, name: name ?? id, isPerson: kind === 'actor' })
    else if (line !== undefined)
      steps.push({ from: indexOf(from), to: indexOf(to), isAnswer: line === '-->>', text })
    else if (first !== undefined) steps.push({ over: [indexOf(first), indexOf(last)], text: note })
    else throw new Error(`This line of a sequence diagram is not drawn: ${statement}`)
  }
  return draw(participants, steps)
}

function draw(participants: readonly Participant[], steps: readonly Step[]): string {
  const columns = columnsOf(participants, steps)
  const top = HEAD + 8
  const height = top + steps.length * ROW + 20
  const width = (columns.at(-1) ?? 0) + columnHalf(participants.at(-1)) + 8
  const x = (at: number) => columns[at] ?? 0
  const heads = participants.map(({ name, isPerson }, at) => {
    const lines = linesOf(name, NAME)
    const box = { x: x(at), y: HEAD / 2 + 2, width: columnHalf(participants[at]) * 2, height: HEAD - 6 }
    return `<path class="life" d="M${x(at)},${HEAD}V${height - 4}"/>${boxAt(box, isPerson ? 'person' : 'box')}${textAt(box.x, box.y, lines)}`
  })
  const rows = steps.map((step, row) => {
    const y = top + row * ROW + 30
    if ('over' in step) {
      const [from, to] = step.over
      const middle = (x(from) + x(to)) / 2
      const room = Math.max(x(to) - x(from) + 60, widthOf(step.text) + 20)
      const box = { x: Math.max(middle, room / 2 + 4), y: y - 8, width: room, height: LINE + 12 }
      return `${boxAt(box, 'note')}${textAt(box.x, box.y, [step.text])}`
    }
    const { from, to, isAnswer, text } = step
    if (from === to) {
      const loop = `M${x(from)},${y - 14}h26v14h-18`
      return `${arrow(loop, [x(from) + 4, y], -1)}<g class="begin">${textAt(x(from) + 34, y - 8, [text])}</g>`
    }
    const towards = to > from ? 1 : -1
    const end = x(to) - 3 * towards
    return `${arrow(`M${x(from)},${y}H${end - 4 * towards}`, [end, y], towards, isAnswer ? 'answer' : '')}${textAt((x(from) + x(to)) / 2, y - 11, [text])}`
  })
  return svg(
    Math.ceil(Math.max(width, widest(steps, columns))),
    height,
    sentencesOf(participants, steps),
    [...heads, ...rows].join(''),
  )
}

const columnHalf = (one: Participant | undefined): number =>
  Math.max(...linesOf(one?.name ?? '', NAME).map(widthOf), 70) / 2 + 12

/** Where each participant's line is: as far from the one before as the texts between them need. */
function columnsOf(participants: readonly Participant[], steps: readonly Step[]): number[] {
  const columns = [columnHalf(participants[0]) + 4]
  for (let at = 1; at < participants.length; at++) {
    const before = columns[at - 1] ?? 0
    const needed = steps.map((step) => {
      if ('over' in step) return 0
      const left = Math.min(step.from, step.to)
      const right = Math.max(step.from, step.to)
      if (left === right) return right === at - 1 ? before + widthOf(step.text) + 48 : 0
      return right === at ? (columns[left] ?? 0) + widthOf(step.text) + 26 : 0
    })
    columns.push(
      Math.max(
        before + GAP,
        before + columnHalf(participants[at]) + columnHalf(participants[at - 1]) + 12,
        ...needed,
      ),
    )
  }
  return columns
}

function widest(steps: readonly Step[], columns: readonly number[]): number {
  return Math.max(
    ...steps.map((step) =>
      'over' in step
        ? widthOf(step.text) + 32
        : step.from === step.to
          ? (columns[step.from] ?? 0) + widthOf(step.text) + 48
          : 0,
    ),
  )
}

function sentencesOf(participants: readonly Participant[], steps: readonly Step[]): string {
  const name = (at: number) => participants[at]?.name ?? ''
  const sentences = steps.map((step) =>
    'over' in step ? `Note: ${step.text}.` : `${name(step.from)} to ${name(step.to)}: ${step.text}.`,
  )
  return `Sequence. ${sentences.join(' ')}`
}
