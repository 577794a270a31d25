import { registeredClient } from '../flows/get-provider.ts'
import { getEntry } from '../flows/manage-providers.ts'
import { testProvider } from '../flows/test-provider.ts'
import { faultsOfFields, typedSecrets } from '../flows/typed-fields.ts'
import type { Api } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import { promptSecret } from './prompt.ts'
import type { CommonOptions } from './shell.ts'

// `providers test --live` where no user gives a consent: one request of the client itself, or what was typed.

interface AloneOptions extends CommonOptions {
  /** Each is `name=value`; the value `-` is the first line of standard input. */
  readonly field?: readonly string[]
}

/** Tests the entry of this installation's database, whose secrets no server hands out. */
export async function testAlone(api: Api, id: string, options: AloneOptions): Promise<void> {
  if (api.local === undefined)
    throw new CommandFailure(
      `No user consents at "${sanitize(id)}", so it is tried only without --url, on the database of the server.`,
      EXIT.usage,
    )
  const { broker, project } = api.local
  const entry = await getEntry(broker, project.id, id)
  const points =
    entry.provider.credentials === undefined
      ? await testProvider(broker, entry)
      : [await testTyped(broker, entry, options)]
  const ok = points.every(({ outcome }) => outcome === 'ok' || outcome === 'unknown')
  if (options.json) printJson({ id, ok, points })
  else {
    print(`${ok ? MARKS.ok : MARKS.failed} ${bold(sanitize(id))}  ${dim('live')}`)
    for (const { point, outcome, message } of points)
      print(`  ${POINT_MARKS[outcome]} ${sanitize(point)}: ${sanitize(message)}`)
  }
  if (!ok) throw new CommandFailure(`The test of "${sanitize(id)}" failed.`)
}

const POINT_MARKS = { ok: MARKS.ok, warning: MARKS.warning, failed: MARKS.failed, unknown: dim('-') } as const

/** Sends the test request with the given fields, and stores nothing. */
async function testTyped(
  broker: NonNullable<Api['local']>['broker'],
  entry: Awaited<ReturnType<typeof getEntry>>,
  { field = [] }: AloneOptions,
) {
  const { provider } = entry
  const { credentials } = provider
  const given: Record<string, string> = {}
  for (const one of field) {
    const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(one) ?? []
    if (credentials === undefined || !Object.hasOwn(credentials.fields, name))
      throw new CommandFailure(
        `--field "${sanitize(name)}" is no field of "${entry.id}". It has ${Object.keys(credentials?.fields ?? {}).join(', ')}.`,
        EXIT.usage,
      )
    given[name] = value === '-' ? await promptSecret(name) : value
  }
  if (credentials === undefined) throw new Error('only entries with credentials are tested by fields')
  const secrets = typedSecrets(credentials, given)
  const open = Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(secrets, name)))
  const faults = faultsOfFields(provider, credentials, open, secrets)
  if (faults.size > 0)
    throw new CommandFailure(
      `${[...faults].map(([name, fault]) => `${name}: ${fault}`).join('; ')}. Give each field with --field name=value; name=- reads it from standard input.`,
      EXIT.usage,
    )
  const { outcome } = await broker.oauth.checkCredentials(registeredClient(broker, entry, open), {
    secrets,
    open,
  })
  return TYPED[outcome]
}

const POINT = 'Typed credentials'
const TYPED = {
  accepted: { point: POINT, outcome: 'ok', message: 'The service accepted them. Nothing was stored.' },
  refused: { point: POINT, outcome: 'failed', message: 'The service does not accept them.' },
  unclear: {
    point: POINT,
    outcome: 'unknown',
    message: 'The answer of the service does not say whether it accepts them.',
  },
} as const
