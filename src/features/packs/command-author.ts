import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { dim, MARKS, print, printJson, quantity, sanitize } from '../../cli/print.ts'
import { readTextFile } from '../../cli/read-json-file.ts'
import { jsonOption, parseId } from '../../cli/shell.ts'
import { systemClock, toTimestamp } from '../../domain/clock.ts'
import { Refusal } from '../../tools/read-json.ts'
import { checkPack } from './wire-check.ts'
import { readPackFolder } from './wire-folder.ts'
import type { Pack } from './wire-format.ts'
import { initPack } from './wire-init.ts'
import { PackFault } from './wire-library.ts'

// What authors of packs run. Both commands work on files alone.

const MAX_BYTES = 32 * 1024 * 1024

interface InitOptions {
  readonly from: string
  readonly operations?: readonly string[]
  readonly provider?: string
  readonly json?: true
}

export function defineAuthorCommands(packs: Command): void {
  packs
    .command('init')
    .description('make a pack of your own from an OpenAPI document or a Google discovery document')
    .argument('<folder>', 'the folder of the pack, which is made; its name is the id of the pack')
    .requiredOption('--from <file>', 'the document, in JSON or YAML; - for standard input')
    .option('--operations <names>', 'only these: operationIds or tags, comma-separated', namesIn)
    .option(
      '--provider <id>',
      'the provider whose tokens the tools use, where it cannot be told from the host',
      parseId,
    )
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(init)

  packs
    .command('check')
    .description('name every fault of a pack, and run its examples through its definitions')
    .argument('<folder>', 'the folder of the pack')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(check)
}

function namesIn(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

async function init(folder: string, { from, operations, provider, json }: InitOptions): Promise<void> {
  const path = resolve(folder)
  const id = basename(path)
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(id))
    throw new CommandFailure(
      `The name of the folder is the id of the pack: "${id}" must have lower-case letters, digits and hyphens.`,
      EXIT.usage,
    )
  if (existsSync(path))
    throw new CommandFailure(
      `${path} exists already: nothing in it is replaced. Name another folder.`,
      EXIT.usage,
    )
  const text = await readTextFile(from)
  if (text.length > MAX_BYTES) throw new CommandFailure('The document is larger than 32 MiB.', EXIT.usage)
  const source = from === '-' ? 'standard input' : basename(from)
  const today = toTimestamp(systemClock()).slice(0, 10)
  const made = await initPack(text, { id, operations, provider, source, today }).catch((error: unknown) => {
    throw error instanceof Refusal ? new CommandFailure(error.message, EXIT.usage) : error
  })
  if (made.tools.length === 0)
    throw new CommandFailure(`No operation can be a tool. ${made.leftOut.join(' ')}`, EXIT.usage)
  mkdirSync(path, { recursive: true })
  const write = (name: string, value: object) =>
    writeFileSync(join(path, name), `${JSON.stringify(value, null, 2)}\n`, { flag: 'wx' })
  write('pack.json', made.head)
  for (const tool of made.tools) write(`${tool.name}.json`, tool)
  if (json)
    return printJson({ folder: path, tools: made.tools.map(({ name }) => name), left_out: made.leftOut })
  print(
    `${MARKS.ok} Made ${path}: ${quantity(made.tools.length, 'tool')} of ${sanitize(String(made.head.name))}.`,
  )
  for (const reason of made.leftOut) print(`${MARKS.warning} ${dim('left out')} ${sanitize(reason)}`)
  if (made.providerHint !== undefined) print(`${MARKS.warning} ${sanitize(made.providerHint)}`)
  print(
    `${dim('next')}  write the descriptions, look at scopes and approvals, add examples, and run \`gatepass packs check ${folder}\``,
  )
}

async function check(folder: string, { json }: { readonly json?: true }): Promise<void> {
  const { pack, faults, remarks, examples } = await checked(resolve(folder))
  const tools = pack?.tools.length ?? 0
  if (json) printJson({ ok: faults.length === 0, tools, examples, faults, remarks })
  else {
    for (const fault of faults) print(`${MARKS.failed} ${sanitize(fault)}`)
    for (const remark of remarks) print(`${MARKS.warning} ${sanitize(remark)}`)
    if (faults.length === 0)
      print(`${MARKS.ok} ok: ${quantity(tools, 'tool')}, ${quantity(examples, 'example')}.`)
  }
  if (faults.length > 0) throw new CommandFailure(`${quantity(faults.length, 'fault')} in ${folder}.`)
}

async function checked(path: string) {
  let pack: Pack
  try {
    pack = await readPackFolder(path)
  } catch (error) {
    if (!(error instanceof PackFault)) throw error
    return { pack: undefined, faults: error.faults, remarks: [], examples: 0 }
  }
  return { pack, ...(await checkPack(pack)) }
}

const EXAMPLES = `
Examples:
  $ gatepass packs init my-packs/notes --from openapi.json --operations listNotes,getNote
  $ gatepass packs check my-packs/notes`
