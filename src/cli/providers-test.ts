import type { Command } from 'commander'
import type { JobResult, SimulatedEntry } from '../dev-provider/simulator/job.ts'
import { BrokerError } from '../domain/errors.ts'
import { didYouMean } from '../domain/nearest.ts'
import type { AllowsHttp } from '../egress/endpoint.ts'
import { TEST_USER } from '../flows/live-test/consent.ts'
import { builtIn, builtInIds } from '../providers/catalogue/registry.ts'
import { checkDefinition, readProviderFile } from './definition-file.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import { type CommonOptions, parseId, parseNames, type Shell, withCommonOptions } from './shell.ts'

interface TestOptions extends CommonOptions {
  readonly simulate?: true
  readonly live?: true
  readonly user?: string
  readonly open: boolean
  readonly revoke?: true
  readonly file?: string
  readonly scopes?: string[]
  readonly field?: readonly string[]
}

export function defineProvidersTest(providers: Command, shell: Shell): void {
  withCommonOptions(
    providers
      .command('test')
      .description('try a definition against a simulator, or with --live at the real provider')
      .argument('<id>', 'a provider of the catalogue or, with --live, one that was added', parseId),
  )
    .option('--simulate', 'test against a simulator that behaves as the definition says (default)')
    .option('--file <path>', 'the definition, or the body of POST /v1/admin/auth_providers', parseId)
    .option('--scopes <scopes>', 'scopes to ask for, comma-separated', parseNames)
    .option('--live', 'test with one real consent at the provider; prints how it differs from the definition')
    .option('--user <id>', `with --live: the user (default: "${TEST_USER}")`, parseId)
    .option('--no-open', 'with --live: only print the link')
    .option('--revoke', 'with --live: at the end, delete the connection and revoke its tokens')
    .option(
      '--field <name=value>',
      'with --live: what a user would type (may be repeated); name=- reads it from standard input',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: TestOptions) => {
      if (options.live) {
        if (options.simulate || options.file !== undefined)
          throw new CommandFailure(
            '--live tries a provider that was added, so it cannot be combined with --simulate or --file. To add one: gatepass providers add --file.',
            EXIT.usage,
          )
        const { testLive } = await import('./providers-live.ts')
        return testLive(shell, id, { ...options, user: options.user ?? TEST_USER })
      }
      if (options.user !== undefined || options.revoke || !options.open || options.field !== undefined)
        throw new CommandFailure(
          '--user, --no-open, --revoke, and --field work only with --live.',
          EXIT.usage,
        )
      const entry = await entryOf(id, options)
      const [{ withSimulation }, { runMainJob }] = await Promise.all([
        import('./simulation.ts'),
        import('../dev-provider/simulator/main-job.ts'),
      ])
      let result: JobResult | undefined
      await withSimulation(shell, async (gatepass) => {
        const faults = faultsOf(entry, gatepass.outgoing.allows)
        const definition = { step: 'definition', ok: false, detail: faults.join('\n') }
        result =
          faults.length > 0 ? { id, ok: false, steps: [definition] } : await runMainJob(gatepass, entry)
      })
      if (result === undefined) return
      if (options.json) printJson(result)
      else report(result)
      if (!result.ok) throw new CommandFailure(`The simulation of "${id}" failed.`)
    })
}

async function entryOf(id: string, { file, scopes }: TestOptions): Promise<SimulatedEntry> {
  const asked = scopes === undefined ? {} : { scopes }
  if (file !== undefined) {
    const { oauth2, ...body } = await readProviderFile(file)
    if ('credentials' in body) return { body: { ...body, id, type: 'credentials' } }
    if ('oauth1' in body) return { body: { ...body, id, type: 'oauth1' } }
    return { ...asked, body: { ...body, id, oauth2: Object(oauth2 ?? {}) } }
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

/** What a start would refuse of the definition, each a line. */
function faultsOf({ body }: SimulatedEntry, allowsHttp: AllowsHttp): readonly string[] {
  try {
    checkDefinition(body.id, body, allowsHttp)
    return []
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return error.faults?.map(({ message }) => message) ?? [error.message]
  }
}

function report({ id, ok, steps }: JobResult): void {
  print(`${ok ? MARKS.ok : MARKS.failed} ${bold(sanitize(id))}  ${dim('simulated: no provider was asked')}`)
  for (const { step, ok: done, detail } of steps)
    for (const [at, line] of detail.split('\n').entries())
      print(
        `  ${at > 0 ? ' ' : done ? MARKS.ok : MARKS.failed} ${(at > 0 ? '' : step).padEnd(16)}  ${sanitize(line)}`,
      )
}

const EXAMPLES = `
Examples:
  $ gatepass providers test github --simulate
  $ gatepass providers test acme --simulate --file acme.json --scopes read,write
  $ gatepass providers test acme --live --scopes read --revoke

A Gatepass with an empty database runs the job in this process: consent, refusal, call, refresh and revocation; where users
type keys, a wrong key, the right one, a call, and a key that ended; with a grant without a user, a token,
a call, the next token, and a client that is refused; with device codes, also a code that expires and one that is entered after
slow_down; with installations of the client, the first one, its tokens, a choice among two, and one that was removed. The simulator checks every request strictly: an unknown or missing parameter, another client authentication or an endpoint
that the definition does not name is an error.

With --live, an entry whose client asks for tokens without a user asks for one and drops it, one of OAuth 1.0a asks for temporary
credentials, and one whose users type keys sends the test request with --field and stores nothing:
  $ printf '%s' "$KEY" | gatepass providers test freshdesk --live --field domain=acme --field api_key=-

For a consent with --live a server must be running, and the provider has its client. Nothing is changed but the test user's connection:
the observed differences are printed as a patch of the definition. The exit code is 1 if something differed.`
