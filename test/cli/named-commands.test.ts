import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { parseSync } from 'vite'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'

// Errors, pages, examples and documents tell their readers which command to run. Each such command exists and takes the
// arguments and options that it is given. In a sentence it is in backticks or <code>, or it is the end of the sentence, so
// that readers see where it ends.

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** In place of what a template inserts, which may be any text. */
const INSERTED = 'INSERTED'
/** Names in which the word is followed by no command. */
const NAMES = [
  'gatepass changes',
  'gatepass checkpoint',
  'gatepass code',
  'gatepass is serving',
  'gatepass listener',
  'gatepass mcp request state',
  'gatepass pool',
  `gatepass sandbox: ${INSERTED}`,
]

const program = new Command('gatepass')
const NONE = async () => {}
const SHELL = {
  environment: {},
  withLocalTransport: NONE,
  startSimulated: () => Promise.reject(new Error('not used')),
  withCatalogueTransport: NONE,
  withBroker: NONE,
}
for (const { name, load } of COMMANDS) (await load())(program.command(name), SHELL)

/** What is wrong with a command line; `undefined` when Gatepass has such a command. */
function faultOf(line: string): string | undefined {
  const words = [...line.matchAll(/(?:"[^"]*"|'[^']*'|\$\([^)]*\)|\S)+/g)].map(([word]) => word).slice(1)
  let command = program
  while (words[0] !== undefined) {
    const next = command.commands.find((one) => one.name() === words[0])
    if (next === undefined) break
    command = next
    words.shift()
  }
  if (command === program) return words[0]?.startsWith('-') ? undefined : `no command ${words[0]}`
  if (command.commands.length === 0) return faultOfArguments(command, words)
  if (words[0] !== undefined && !words[0].startsWith('-')) return `no command ${command.name()} ${words[0]}`
  const { _defaultCommandName: ofDefault } = command as unknown as {
    readonly _defaultCommandName: string | null
  } // commander has no method for it
  const chosen = command.commands.find((one) => one.name() === ofDefault)
  return chosen === undefined ? undefined : faultOfArguments(chosen, words)
}

function faultOfArguments(command: Command, words: readonly string[]): string | undefined {
  let operands = 0
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (!word.startsWith('--')) {
      operands++
      continue
    }
    const [name, inline] = word.split('=')
    const option = command.options.find(({ long }) => long === name)
    if (option === undefined && name !== '--help') return `no option ${word}`
    if (option === undefined || option.isBoolean() || inline !== undefined) continue
    const value = words[i + 1]
    if (option.required && (value === undefined || value.startsWith('--')) && option.mandatory)
      return `no value for ${word}`
    const choices = option.argChoices
    if (value !== undefined && choices !== undefined && value !== INSERTED && !choices.includes(value))
      return `${value} is no value for ${word}`
    if (value?.startsWith('--')) continue
    do i++
    while (option.variadic && words[i + 1] !== undefined && !words[i + 1]?.startsWith('--'))
  }
  const known = command.registeredArguments
  if (!known.some(({ variadic }) => variadic) && operands > known.length)
    return `takes ${known.length} arguments, not ${operands}`
  return undefined
}

/** The command lines in a text: to the end of the backticks, of the example or of the sentence. */
function commandsIn(written: string): string[] {
  const text = written.replaceAll(/\\\n\s*/g, ' ')
  if (NAMES.includes(text)) return []
  return [
    ...text.matchAll(/(`|<code>|\$ |\| |&& |[\w"'-] |^|[:(] )?\bgatepass (?!gatepass)(?=[a-z-])/gm),
  ].map((match) => {
    const [, before = ''] = match
    const rest = text.slice(match.index + match[0].length - 'gatepass '.length)
    const end = { '`': /`/, '<code>': /<\/code>/ }[before] ?? END
    return (rest.split(end)[0] ?? '').replaceAll('\\"', '"').trim()
  })
}

/** The end of a sentence, of a part of it, of an example with its remark, or of the part of a pipeline. */
const END = /[.,;:?!)]?(?:\n|$)|[.,;:?!)]+ |(?<!\$\([^)]*)\)|`| {2,}|\\n| [|>] | && |<\/|\\$/

/** String literals, and template literals with `INSERTED` for what they insert. */
function textsOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const texts: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, value, quasis } = node as Record<string, unknown>
    if (type === 'Literal' && typeof value === 'string') texts.push(value)
    if (type === 'TemplateLiteral')
      texts.push((quasis as { value: { cooked: string } }[]).map((one) => one.value.cooked).join(INSERTED))
    for (const member of Object.values(node)) visit(member)
  }
  visit(parseSync(file, source, { lang: 'ts' }).program)
  return texts
}

const faultsIn = (file: string, texts: readonly string[]) =>
  texts.flatMap(commandsIn).flatMap((line) => {
    const fault = NAMES.includes(line) ? undefined : faultOf(line)
    return fault === undefined ? [] : [`${file}: ${line}: ${fault}`]
  })

test('every command that a sentence, a page or an example of Gatepass names can be run', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.includes('sdk/dist/'))
  expect(files.flatMap((file) => textsOf(file).flatMap(commandsIn)).length).toBeGreaterThan(250)
  expect(files.flatMap((file) => faultsIn(file, textsOf(file)))).toEqual([])
})

test('every command that the documents name can be run', () => {
  const files = ['README.md', 'SECURITY.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
  const code = (file: string) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const blocks = [...text.matchAll(/^ *```(?:sh|bash)\n([\s\S]*?)^ *```/gm)].map(
      ([, block = '']) => block.replaceAll(/^ *(?:kubectl|helm) (?:.*\\\n)*.*/gm, ''), // there the word is a namespace or a release
    )
    const spans = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`(gatepass [^`]*)`/g)]
    return [...blocks, ...spans.map(([, span = '']) => `\`${span}\``)]
  }
  expect(files.flatMap((file) => code(file).flatMap(commandsIn)).length).toBeGreaterThan(150)
  expect(files.flatMap((file) => faultsIn(file, code(file)))).toEqual([])
})

test.each([
  ['gatepass providers set', undefined],
  ['gatepass providers set github --client-id x', undefined],
  ['gatepass connections', undefined],
  ['gatepass connections --user ada', undefined],
  ['gatepass --version', undefined],
  ['gatepass provider set github', 'no command provider'],
  ['gatepass providers sett github', 'no command providers sett'],
  ['gatepass keys make', 'no command keys make'],
  ['gatepass keys create --roles admin', 'no option --roles'],
  ['gatepass keys create --role boss', 'boss is no value'],
  ['gatepass explain one two', 'takes 1 arguments'],
])('%s: %s', (line, fault) => {
  if (fault === undefined) expect(faultOf(line)).toBeUndefined()
  else expect(faultOf(line)).toContain(fault)
})

test.each([
  ['Set it: gatepass providers set acme', ['gatepass providers set acme']],
  ['Run `gatepass doctor` again.', ['gatepass doctor']],
  ['Start it (npm start, or gatepass serve). If', ['gatepass serve']],
  ['  $ gatepass keys list      of all', ['gatepass keys list']],
  ['<p>All: <code>gatepass audit verify --all</code></p>', ['gatepass audit verify --all']],
])('finds the command in "%s"', (text, commands) => {
  expect(commandsIn(text)).toEqual(commands)
})
