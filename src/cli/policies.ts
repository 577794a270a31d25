import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { Policy } from '../domain/policy.ts'
import { addPolicy, changePolicy, deletePolicy } from '../flows/policy-settings.ts'
import { newPolicySchema, policyToWire, settingsFromWire } from '../http/policy-wire.ts'
import { MARKS, plain, print, printJson, table } from './print.ts'
import { CommandFailure, type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { type Opened, withBroker } from './with-broker.ts'

export function addPolicies(program: Command, shell: Shell): void {
  const policies = program
    .command('policies')
    .description('rules on who may use which tokens for what: list, set, delete')
    .addHelpText('after', EXAMPLES)

  policies
    .command('list', { isDefault: true })
    .description('list policies, never with the secret of a hook')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const items = (await broker.store.policies.list(project.id)).map(policyToWire)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No policies: whoever has a key may use what its role allows.')
        const rows = items.map(({ id, effect, enabled, match, description = '' }) => [
          id,
          enabled ? effect : `${effect} (off)`,
          JSON.stringify(match),
          description,
        ])
        print(table(['id', 'effect', 'match', 'description'], rows))
      }),
    )

  policies
    .command('set')
    .description('make policies, or replace those of the same ids, in force at once')
    .argument('<source>', 'a JSON file with one policy or an array of them, or - for standard input')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', SET_EXAMPLES)
    .action(async (source: string, options: CommonOptions) => {
      const wanted = parse(await read(source))
      return withBroker(shell, options, async (opened) => {
        const items: Policy[] = []
        for (const one of wanted) items.push(await put(opened, one))
        if (options.json) return printJson({ items: items.map(policyToWire) })
        for (const { id, effect, enabled } of items)
          print(`${MARKS.ok} ${plain(id)} is set: ${effect}${enabled ? '' : ', switched off'}`)
      })
    })

  policies
    .command('delete')
    .description('delete a policy: it refuses nothing from now on')
    .argument('<id>', "the policy's id, as policies list shows it")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        await deletePolicy(broker, project.id, id)
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${plain(id)} is deleted.`)
      }),
    )
}

type Wanted = ReturnType<typeof newPolicySchema.parse>

/** A secret of the hook that the file does not say stays. */
async function put({ broker, project }: Opened, wanted: Wanted): Promise<Policy> {
  const known = await broker.store.policies.find(project.id, wanted.id)
  const settings = settingsFromWire(wanted)
  if (known === undefined) return addPolicy(broker, project.id, wanted.id, settings)
  return changePolicy(broker, known, { ...settings, description: settings.description ?? null })
}

async function read(source: string): Promise<string> {
  if (source === '-') return text(process.stdin)
  try {
    return readFileSync(source, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw new CommandFailure(`The file "${source}" cannot be read${why}.`)
  }
}

/** All of them are checked before any is set. */
function parse(json: string): Wanted[] {
  let value: unknown
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch {
    throw new CommandFailure('It is not JSON. It should hold one policy or an array of them.')
  }
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.map((one, i) => {
    const parsed = newPolicySchema.safeParse(one)
    if (parsed.success) return parsed.data
    const faults = parsed.error.issues.slice(0, 10).map(({ path, message }) => {
      return path.length === 0 ? message : `${path.join('.')}: ${message}`
    })
    throw new CommandFailure(`Policy ${i + 1} of ${all.length} is not as it should be. ${faults.join('; ')}.`)
  })
}

const EXAMPLES = `
Examples:
  $ gatepass policies                                 which there are
  $ gatepass policies set policies.json               make or replace those in the file
  $ gatepass policies delete no-night-work

docs/policies.md says what a policy holds and how several go together.`

const SET_EXAMPLES = `
Examples:
  $ echo '{"id": "no-leaks", "effect": "deny", "match": {"uses": ["token"]}}' | gatepass policies set -
  $ gatepass policies set policies.json --project staging

A hook's secret that the file does not say stays as it is.`

const DELETE_EXAMPLES = `
Examples:
  $ gatepass policies delete no-night-work
  $ gatepass policies delete no-leaks --project staging --json`
