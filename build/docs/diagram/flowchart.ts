import { arrow, boxAt, LINE, linesOf, svg, textAt, widthOf } from './svg.ts'

/** Letters in a line of a box. */
const NAME = 20
const ACROSS = 70
const DOWN = 26

interface Node {
  readonly id: string
  readonly lines: readonly string[]
  readonly isStore: boolean
}

/** Boxes `id[text]`, stores `id[(text)]` and arrows `a --> b` of Mermaid's flowcharts, from left to right. */
export function flowchart(statements: readonly string[]): string {
  const nodes = new Map<string, Node>()
  const edges: (readonly [string, string])[] = []
  const nodeOf = (text: string): string => {
    const [, id = '', store, name] = /^(\w+)(?:\[\((.+)\)\]|\[(.+)\])?$/.exec(text) ?? []
    if (id === '') throw new Error(`This box of a flowchart is not drawn: ${text}`)
    const label = store ?? name
    if (label !== undefined) nodes.set(id, { id, lines: linesOf(label, NAME), isStore: store !== undefined })
    return id
  }
  for (const statement of statements) {
    const [from, to, ...more] = statement.split(' --> ')
    if (from === undefined || to === undefined || more.length > 0)
      throw new Error(`This line of a flowchart is not drawn: ${statement}`)
    edges.push([nodeOf(from), nodeOf(to)])
  }
  return draw([...nodes.values()], edges)
}

function draw(nodes: readonly Node[], edges: readonly (readonly [string, string])[]): string {
  const ranks = ranksOf(nodes, edges)
  const columns = Array.from({ length: Math.max(...ranks.values()) + 1 }, (_, rank) =>
    nodes.filter(({ id }) => ranks.get(id) === rank),
  )
  const widths = columns.map((column) => Math.max(...column.flatMap(({ lines }) => lines.map(widthOf))) + 30)
  const heightOf = ({ lines }: Node) => lines.length * LINE + 26
  const tall = columns.map((column) => column.reduce((sum, node) => sum + heightOf(node) + DOWN, -DOWN))
  const height = Math.max(...tall) + 16
  const boxes = new Map<string, { x: number; y: number; width: number; height: number }>()
  let left = 8
  for (const [at, column] of columns.entries()) {
    let y = (height - (tall[at] ?? 0)) / 2
    for (const node of column) {
      const own = heightOf(node)
      boxes.set(node.id, {
        x: left + (widths[at] ?? 0) / 2,
        y: y + own / 2,
        width: widths[at] ?? 0,
        height: own,
      })
      y += own + DOWN
    }
    left += (widths[at] ?? 0) + ACROSS
  }
  const lines = edges.map(([from, to]) => {
    const a = boxes.get(from)
    const b = boxes.get(to)
    if (a === undefined || b === undefined) throw new Error(`A box has no text: ${from} --> ${to}`)
    const start = a.x + a.width / 2
    const end = b.x - b.width / 2
    const middle = (start + end) / 2
    return arrow(`M${start},${a.y}C${middle},${a.y} ${middle},${b.y} ${end - 6},${b.y}`, [end - 1, b.y], 1)
  })
  const drawn = nodes.map((node) => {
    const box = boxes.get(node.id)
    return box === undefined
      ? ''
      : `${boxAt(box, node.isStore ? 'store' : 'box')}${textAt(box.x, box.y, node.lines)}`
  })
  const name = (id: string) => nodes.find((node) => node.id === id)?.lines.join(' ') ?? id
  const says = edges.map(([from, to]) => `${name(from)} to ${name(to)}.`).join(' ')
  return svg(
    Math.ceil(left - ACROSS + 8),
    Math.ceil(height),
    `Flowchart. ${says}`,
    [...lines, ...drawn].join(''),
  )
}

/** How many arrows lead to a box at most. */
function ranksOf(nodes: readonly Node[], edges: readonly (readonly [string, string])[]): Map<string, number> {
  const ranks = new Map(nodes.map(({ id }) => [id, 0]))
  for (const _ of nodes)
    for (const [from, to] of edges) ranks.set(to, Math.max(ranks.get(to) ?? 0, (ranks.get(from) ?? 0) + 1))
  return ranks
}
