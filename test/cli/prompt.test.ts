import { PassThrough } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { promptSecret, promptText } from '../../src/cli/prompt.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** A terminal at which this is typed. */
function atTerminal(typed: string) {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(terminal as unknown as typeof process.stdin)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  terminal.write(typed)
}

test.each([
  ['Ctrl+C', '\u0003'],
  ['Ctrl+D', '\u0004'],
])('a prompt that %s ends is a failure of the command, not a stack', async (_, key) => {
  atTerminal(key)
  const ended = { name: 'CommandFailure', exitCode: 2, message: 'No passphrase was typed.' }
  await expect(promptSecret('passphrase')).rejects.toMatchObject(ended)
})

test('what is typed at a terminal is read up to the end of its line', async () => {
  atTerminal('Ada \r')
  expect(await promptText('name')).toBe('Ada')
})
