import type { Command } from 'commander'
import type { JobResult, SimulatedEntry } from '../dev-provider/simulator/main-job.ts'
import { didYouMean } from '../domain/nearest.ts'
import { builtIn, builtInIds } from '../providers/catalogue/registry.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import { readJsonFile } from './read-json-file.ts'
import { jsonOption, parseId, parseScopes, type Shell } from './shell.ts'

interface TestOptions {
  readonly simulate?: true
  readonly file?: string
  readonly scopes?: string[]
  readonly json?: true
}

export function defineProvidersTest(providers: Command, _shell: Shell): void {
  providers
    .command('test')
    .description('run the whole main job of a definition against a simulator of it, without network')
    .argument('<id>', 'a provider of the catalogue, or the id for --file', parseId)
    .option('--simulate', 'a simulator plays the provider as its definition says')
    .option('--file <path>', 'the definition, or the body of POST /v1/admin/auth_providers', parseId)
    .option('--scopes <scopes>', 'scopes to ask for, comma-separated', parseScopes)
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: TestOptions) => {
      const entry = await entryOf(id, options)
      const [{ withSimulation }, { runMainJob }] = await Promise.all([
        import('./simulation.ts'),
        import('../dev-provider/simulator/main-job.ts'),
      ])
      let result: JobResult | undefined
      await withSimulation(async (gatepass) => {
        result = await runMainJob(gatepass, entry)
      })
      if (result === undefined) return
      if (options.json) printJson(result)
      else report(result)
      if (!result.ok) throw new CommandFailure(`The simulated main job of "${id}" failed.`)
    })
}

async function entryOf(id: string, { file, scopes }: TestOptions): Promise<SimulatedEntry> {
  const asked = scopes === undefined ? {} : { scopes }
  if (file !== undefined) {
    const { oauth2 } = (await readJsonFile(file)) as { readonly oauth2?: Readonly<Record<string, unknown>> }
    return { ...asked, body: { id, oauth2: oauth2 ?? {} } }
  }
  const definition = builtIn(id)
  if (definition === undefined)
    throw new CommandFailure(
      `The catalogue has no provider "${id}".${didYouMean(id, builtInIds())} --file tests a definition of your own.`,
      EXIT.notFound,
    )
  const { catalogueEntry } = await import('../dev-provider/simulator/catalogue-entry.ts')
  return catalogueEntry(definition, scopes)
}

function report({ id, ok, steps }: JobResult): void {
  print(`${ok ? MARKS.ok : MARKS.failed} ${bold(sanitize(id))}  ${dim('simulated: no provider was asked')}`)
  for (const { step, ok: done, detail } of steps)
    print(`  ${done ? MARKS.ok : MARKS.failed} ${step.padEnd(16)}  ${sanitize(detail)}`)
}

const EXAMPLES = `
Examples:
  $ gatepass providers test github --simulate
  $ gatepass providers test acme --simulate --file acme.json --scopes read,write

A Gatepass with an empty database runs the job in this process: consent, refusal, call, refresh and revocation. The
simulator checks every request strictly: an unknown or missing parameter, another client authentication or an endpoint
that the definition does not name is an error.`
