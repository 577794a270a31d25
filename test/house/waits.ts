import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

// On a slow and busy machine a test with a short limit fails by chance, so what it only waits for has five minutes.

const SHORTEST_MS = 300_000

/** A node of the syntax tree, of which only some members are read. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [member: string]: unknown
}

/** One line for each wait or test that has a limit below five minutes. */
export function shortWaits(root: string): string[] {
  return globSync('test/**/*.ts', { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const nodes = [...nodesOf(parseSync(file, text, { lang: 'ts' }).program)]
    const constants = new Map(
      nodes
        .filter(({ type }) => type === 'VariableDeclarator')
        .map(({ id, init }) => [(id as Node).name, init as Node | null]),
    )
    return nodes
      .filter(({ type }) => type === 'CallExpression')
      .flatMap((call) => {
        const name = calleeOf(call.callee as Node)
        const ms = limitOf(name, call.arguments as Node[], constants)
        const line = text.slice(0, call.start).split('\n').length
        return ms === undefined || ms >= SHORTEST_MS
          ? []
          : [`${file}:${line}: ${name} waits ${ms} ms: give it ${SHORTEST_MS} or more`]
      })
  })
}

/** The limit that the call sets, in milliseconds; `undefined` when the one of vitest.config.ts applies. */
function limitOf(
  name: string,
  given: readonly Node[],
  constants: ReadonlyMap<unknown, Node | null>,
): number | undefined {
  const millisecondsOf = (node: Node | null | undefined): number | undefined => {
    if (node?.type === 'Literal') return typeof node.value === 'number' ? node.value : undefined
    if (node?.type === 'Identifier') return millisecondsOf(constants.get(node.name))
    if (node?.type !== 'ObjectExpression') return undefined
    const member = (node.properties as Node[]).find(
      ({ key }) => (key as Node | undefined)?.name === 'timeout',
    )
    return millisecondsOf(member?.value as Node | undefined)
  }
  if (/^vi\.wait(?:For|Until)$/.test(name)) return millisecondsOf(given[1]) ?? 1000 // the default of vitest
  if (name === 'expect.poll') return millisecondsOf(given[1])
  if (/^(?:test|it|(?:before|after)(?:All|Each))\b/.test(name))
    return given
      .slice(1)
      .map(millisecondsOf)
      .find((ms) => ms !== undefined)
  return undefined
}

/** `test.each(…)` of `test.each(…)('name', …)`, without what is in brackets. */
function calleeOf(node: Node): string {
  if (node.type === 'Identifier') return String(node.name)
  if (node.type === 'CallExpression') return calleeOf(node.callee as Node)
  if (node.type === 'TaggedTemplateExpression') return calleeOf(node.tag as Node)
  if (node.type !== 'MemberExpression') return ''
  return `${calleeOf(node.object as Node)}.${(node.property as Node).name}`
}

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && 'type' in value) yield value as Node
  for (const member of Object.values(value)) yield* nodesOf(member)
}
