import { Command } from 'commander'
import { expect, test } from 'vitest'
import { type InputFlags, inputFlags } from '../../src/cli/input-flags.ts'

function parse<Read>(flags: InputFlags<Read>, ...words: readonly string[]): Read {
  const command = flags
    .addTo(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  return flags.read(command.parse(words, { from: 'user' }).opts())
}

const key = inputFlags('createApiKey', { project: false, user_id: { flags: '--user <id>' } })

test('members of an input that nobody mentions are options of their names, with the help of the schema', () => {
  const given = ['--role', 'caller', '--rate-limit', '20', '--user', 'ada', '--expires-at', '2027-01-01']
  expect(parse(key, ...given)).toEqual({
    role: 'caller',
    rate_limit: 20,
    user_id: 'ada',
    expires_at: '2027-01-01T00:00:00.000Z',
  })
  const help = key.addTo(new Command()).helpInformation()
  expect(help).toMatch(/--name <text> +the purpose of the key, by which you recognize it/)
  expect(help).not.toContain('--project')
})

test.each([
  ['a required member that is missing', [], "required option '--role <text>' not specified"],
  [
    'a value that is no choice',
    ['--role', 'owner'],
    'Allowed choices are admin, caller, readonly, approver.',
  ],
  ['too long a text', ['--role', 'caller', '--name', 'x'.repeat(201)], 'Give at most 200 characters.'],
  ['an empty text', ['--role', 'caller', '--user', ' '], 'It is empty.'],
  ['too large a number', ['--role', 'caller', '--rate-limit', '1000001'], 'Give a number from 0 to 1000000.'],
  ['no number', ['--role', 'caller', '--rate-limit', 'many'], 'Give a whole number.'],
])('%s is refused by the limits of the schema', (_, words, message) => {
  expect(() => parse(key, ...words)).toThrow(message)
})

test('of many choices the most similar is named, and a list is separated by commas', () => {
  const audit = inputFlags('listAuditEntries', {})
  expect(() => parse(audit, '--action', 'token.relesed')).toThrow('Did you mean "token.released"?')
  const hook = inputFlags('createWebhook', { url: false })
  expect(parse(hook, '--types', 'connection.created, connection.deleted', '--enabled')).toEqual({
    types: ['connection.created', 'connection.deleted'],
    enabled: true,
  })
  expect(() => parse(hook, '--types', 'connection.made')).toThrow('There is no "connection.made".')
})

test('a value that a command reads by itself may mean null, or nothing', () => {
  const change = inputFlags('updateWebhook', { types: { parse: () => null } })
  expect(parse(change, '--types', 'all')).toEqual({ types: null })
  const added = inputFlags('createWebhook', { url: false, types: { parse: () => undefined } })
  expect(parse(added, '--types', 'all')).toEqual({})
})
