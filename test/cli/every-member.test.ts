import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import INPUTS from '../../src/cli/generated/inputs.json' with { type: 'json' }
import OUTPUTS from '../../src/cli/generated/outputs.json' with { type: 'json' }
import { outputLines, outputTable } from '../../src/cli/output-table.ts'
import type { Shell } from '../../src/cli/shell.ts'

// Each member of an operation's input is an option of the command, each member of its output a column of the list.

/** The option of a member that is not named like it, or why it has none. */
type Own = Readonly<Record<string, `--${string}` | `none: ${string}`>>

const OF_DEFINITIONS = Object.fromEntries(
  [
    ...['$schema', 'also_known_as', 'category', 'second_way_of', 'shares_endpoints_with', 'documentation'],
    'sources',
    ...['checked', 'verified', 'logo', 'external_id', 'type', 'status', 'provider_id'],
  ].map((member) => [member, 'none: in the file'] as const),
)

const COMMANDS_OF: readonly (readonly [words: string, operation: keyof typeof INPUTS, own: Own])[] = [
  [
    'keys create',
    'createApiKey',
    {
      user_id: '--user',
      groups: '--group',
      expires_in: '--expires',
      expires_at: 'none: --expires',
      project: '--project',
    },
  ],
  ['keys rotate', 'rotateApiKey', {}],
  ['secrets set', 'setSecret', { value: 'none: prompted for' }],
  ['projects create', 'createProject', { name: 'none: the argument' }],
  ['webhooks add', 'createWebhook', { url: 'none: the argument', enabled: 'none: a new one is' }],
  ['webhooks set', 'updateWebhook', { url: '--to', enabled: '--enable' }],
  ['webhooks rotate', 'rotateWebhookSecret', { overlap_seconds: '--overlap' }],
  [
    'toolsets create',
    'createToolset',
    {
      id: 'none: the argument',
      tools: '--tool',
      namespaces: '--namespace',
      tags: '--tag',
      providers: '--provider',
    },
  ],
  [
    'workers add',
    'createWorker',
    { id: 'none: the argument', type: 'none: by the address', enabled: 'none: a new one is' },
  ],
  ['providers add', 'createAuthProvider', { id: 'none: the argument', ...OF_DEFINITIONS }],
  [
    'providers set',
    'updateAuthProvider',
    { id: 'none: the argument', provider_id: 'none: never changes', type: 'none: never changes' },
  ],
  ['tools list', 'listTools', { q: '--query', user_id: '--user', include_format: 'none: for programs' }],
  ['connections list', 'listConnections', { user_id: '--user', provider_id: '--provider' }],
  ['connect', 'authorize', { user_id: '--user', next_uri: 'none: the browser shows the end' }],
]

/** The long names of the options of a command. */
async function optionsOf(words: string): Promise<readonly string[]> {
  const [first, ...rest] = words.split(' ')
  const entry = COMMANDS.find(({ name }) => name === first)
  if (entry === undefined) throw new Error(`There is no command ${first}.`)
  const command = new Command(first)
  const shell = { environment: {} } as Shell // nothing is run
  ;(await entry.load())(command, shell)
  const found = rest.reduce<Command | undefined>(
    (above, name) => above?.commands.find((one) => one.name() === name),
    command,
  )
  return found?.options.flatMap(({ long }) => long ?? []) ?? []
}

test.each(COMMANDS_OF)('`%s` has an option for every member of %s', async (words, operation, own) => {
  const options = await optionsOf(words)
  const members = Object.keys(INPUTS[operation])
  expect(Object.keys(own).filter((member) => !members.includes(member))).toEqual([])
  const expected = members
    .map((member) => own[member] ?? `--${member.replaceAll('_', '-')}`)
    .filter((option) => !option.startsWith('none: '))
  expect(expected.filter((option) => !options.includes(option))).toEqual([])
})

describe('of an output', () => {
  const hook = {
    id: 'wh_1',
    url: 'https://hooks.example.com/',
    enabled: true,
    state: 'active',
    failures: 0,
    types: ['connection.created', 'connection.deleted'],
    created_at: '2026-11-21T08:00:00.000Z',
    updated_at: '2026-11-21T08:00:00.000Z',
  } as const

  test('members that a command does not name are columns of its list, if an item has a value', () => {
    const text = outputTable('listWebhooks', { id: ['hook', ({ id }) => id.toUpperCase()], url: false })([
      hook,
    ])
    const shown = Object.keys(OUTPUTS.listWebhooks).filter((member) => member !== 'url' && member in hook)
    const [head = '', row = ''] = text.split('\n')
    const heads = shown.map((member) => (member === 'id' ? 'hook' : member.replaceAll('_', ' ')))
    expect(head.split(/ {2,}/)).toEqual(heads.map((name) => name.toUpperCase()))
    expect(row).toMatch(/WH_1 .*connection\.created, connection\.deleted .*yes .*active .*0 .*2026-11-21/)
    expect(text).not.toContain('hooks.example.com')
  })

  test('a member of an object is a column by its path', () => {
    const text = outputTable('listPolicies', { 'match.uses': 'uses', 'hook.url': 'hook' })([
      {
        id: 'p',
        enabled: true,
        effect: 'deny',
        match: { uses: ['token', 'proxy'] },
        created_at: hook.created_at,
        updated_at: hook.updated_at,
      },
    ])
    expect(text).toMatch(/^\S*USES +ID .*\ntoken, proxy +p /)
    expect(text).not.toContain('HOOK')
  })

  test('members that a command does not name are lines of a record, if they have a value', () => {
    const lines = outputLines('getWebhook', { id: false, url: false, types: 'events' })(hook)
    expect(lines.map(([heading]) => heading)).toEqual([
      'events',
      'enabled',
      'state',
      'failures',
      'created at',
      'updated at',
    ])
  })
})
