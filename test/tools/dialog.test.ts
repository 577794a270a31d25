import { describe, expect, test } from 'vitest'
import type { Dialog, Elicitation, ElicitationAnswer, Progress } from '../../src/tools/dialog/dialog.ts'
import { risingProgress } from '../../src/tools/dialog/rising-progress.ts'
import { createToolDialog, type ToolQuestion } from '../../src/tools/dialog/tool-dialog.ts'

const SECRET = 'sk-very-secret-token-123'
const over = new AbortController().signal

/** A dialog of a tool at `tools.example` whose user answers these, the last again and again. */
function dialogOf(...answers: readonly ElicitationAnswer[]) {
  const shown: Elicitation[] = []
  const logged: unknown[] = []
  const dialog: Dialog = {
    modes: ['form', 'url'],
    async elicit(question) {
      shown.push(question)
      return answers[Math.min(shown.length, answers.length) - 1] ?? { action: 'cancel' }
    },
    log: (line) => void logged.push(line),
  }
  const options = {
    tool: 'Files',
    owner: 'p',
    host: 'tools.example',
    publicOrigin: 'https://gp.example',
    isOwnDomain: (hostName: string) => hostName === 'auth.acme.example',
    secrets: [SECRET],
  }
  return { shown, logged, tool: createToolDialog(dialog, options) }
}

const form = (properties: unknown, message = 'Which one?', more: object = {}): ToolQuestion => ({
  mode: 'form',
  message,
  requestedSchema: { type: 'object', properties, ...more },
})
const link = (url: string): ToolQuestion => ({ mode: 'url', message: 'Please log in.', url })

describe('a form', () => {
  test('reaches the user with the tool and its host named, and its answer the tool', async () => {
    const { tool, shown } = dialogOf({ action: 'accept', content: { name: 'ada', other: 1 } })
    const properties = {
      name: { type: 'string', title: 'Name', minLength: 1, maxLength: 9, format: 'email', default: 'a@b.c' },
      size: { type: 'integer', minimum: 1, maximum: 3 },
      sure: { type: 'boolean', default: true },
      one: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      titled: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      many: { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1 },
      several: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    }
    const answer = await tool.elicit(form(properties, 'Who?', { required: ['name', 'nothing'] }), over)
    expect(answer).toEqual({ action: 'accept', content: { name: 'ada' } })
    expect(shown).toEqual([
      {
        mode: 'form',
        message: 'The tool Files (tools.example) asks: Who?',
        requestedSchema: { type: 'object', properties, required: ['name'] },
      },
    ])
  })

  test('loses what forms do not know, secrets of the call, and characters that hide text', async () => {
    const { tool, shown } = dialogOf({ action: 'decline' })
    const choice = { type: 'string', enum: ['x'], enumNames: ['d\u202Ee'] }
    const titled = { type: 'string', oneOf: [{ const: 'x', title: 'f\u0007g' }] }
    const field = {
      type: 'string',
      title: `of ${SECRET}`,
      description: 'a\u202Eb\u0007c',
      pattern: '(a+)+$',
      $comment: 'x',
      'x-run': 'y',
    }
    expect(
      await tool.elicit(form({ a: field, choice, titled }, `\u2066${SECRET}\u0000`, { $defs: {} }), over),
    ).toEqual({
      action: 'decline',
    })
    expect(JSON.stringify(shown)).not.toContain(SECRET)
    expect(shown[0]).toMatchObject({
      message: expect.stringMatching(/asks: {2}?\[redacted\] $/),
      requestedSchema: {
        type: 'object',
        properties: {
          a: { type: 'string', title: 'of [redacted]', description: 'a b c' },
          choice: { enumNames: ['d e'] },
          titled: { oneOf: [{ const: 'x', title: 'f g' }] },
        },
      },
    })
  })

  test.each([
    ['an object', { a: { type: 'object', properties: {} } }],
    ['a list of texts', { a: { type: 'array', items: { type: 'string' } } }],
    ['a reference', { a: { $ref: '#/$defs/a' } }],
    ['a password field', { a: { type: 'string', format: 'password' } }],
    ['a format that is no text', { a: { type: 'string', format: { toString: 1 } } }],
    ['choices that are not texts', { a: { type: 'string', enum: [1] } }],
    ['no schema', { a: true }],
    ['51 fields', Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, { type: 'boolean' }]))],
    ['too long choices', { a: { type: 'string', enum: ['x'.repeat(40_000)] } }],
    ['no choice', { a: { type: 'string', enum: [] } }],
    ['a length below 0', { a: { type: 'string', minLength: -1 } }],
  ])('with %s is refused', async (_, properties) => {
    const { tool, shown } = dialogOf({ action: 'accept', content: {} })
    await expect(tool.elicit(form(properties), over)).rejects.toMatchObject({
      kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED',
      message: expect.stringContaining('is not shown'),
    })
    expect(shown).toEqual([])
  })

  test.each([
    ['a field password', { password: { type: 'string' } }, ''],
    ['a field apiKey', { apiKey: { type: 'string' } }, ''],
    ['a title', { a: { type: 'string', title: 'GitHub access token' } }, ''],
    ['a description', { a: { type: 'string', description: 'The card number' } }, ''],
    ['a field token', { token: { type: 'string' } }, ''],
    ['a number', { pin: { type: 'integer' } }, ''],
    ['the message', { value: { type: 'string' } }, 'Type your password below.'],
  ])('that asks for a secret by %s is refused', async (_, properties, message) => {
    const { tool, shown } = dialogOf({ action: 'accept', content: {} })
    await expect(tool.elicit(form(properties, message), over)).rejects.toThrow('must not ask for passwords')
    expect(shown).toEqual([])
  })

  test.each([
    ['title', { title: 'Your API key' }],
    ['description', { description: 'Enter your password.' }],
  ])('that asks for a secret by its own %s is refused', async (_, more) => {
    const { tool, shown } = dialogOf({ action: 'accept', content: {} })
    const question = form({ value: { type: 'string' } }, 'One thing more.', more)
    await expect(tool.elicit(question, over)).rejects.toThrow('must not ask for passwords')
    expect(shown).toEqual([])
  })

  test.each([
    ['max_tokens', { max_tokens: { type: 'integer' } }, 'How many tokens?'],
    ['a choice', { secret: { type: 'string', enum: ['keep', 'rotate'] } }, 'What about your password?'],
    ['yes or no', { resetPassword: { type: 'boolean' } }, 'Reset your password?'],
    ['pinned', { pinned: { type: 'string' } }, 'Which issues are pinned?'],
  ])('that only mentions one is shown: %s', async (_, properties, message) => {
    const { tool, shown } = dialogOf({ action: 'cancel' })
    expect(await tool.elicit(form(properties, message), over)).toEqual({ action: 'cancel' })
    expect(shown).toHaveLength(1)
  })

  test('is shown again when the answer does not fit, three times at most', async () => {
    const size = { size: { type: 'integer', minimum: 1 } }
    const second = dialogOf(
      { action: 'accept', content: { size: 'x' } },
      { action: 'accept', content: { size: 2 } },
    )
    expect(await second.tool.elicit(form(size), over)).toEqual({ action: 'accept', content: { size: 2 } })
    const never = dialogOf({ action: 'accept', content: { size: 0 } })
    await expect(never.tool.elicit(form(size), over)).rejects.toThrow('do not fit')
    expect(never.shown).toHaveLength(3)
  })

  test('is not the 21st of a call', async () => {
    const { tool, shown } = dialogOf({ action: 'decline' })
    for (let i = 0; i < 20; i++) await tool.elicit(form({}), over)
    await expect(tool.elicit(form({}), over)).rejects.toThrow('more than 20')
    expect(shown).toHaveLength(20)
  })
})

describe('a link', () => {
  test('is shown as one of the server of the tool, with both hosts named', async () => {
    const { tool, shown } = dialogOf({ action: 'accept', content: { stolen: true } })
    expect(await tool.elicit(link('https://Login.example/a?b=c'), over)).toEqual({ action: 'accept' })
    expect(shown).toEqual([
      {
        mode: 'url',
        url: 'https://login.example/a?b=c',
        message: expect.stringMatching(
          /^The server tools\.example of the tool Files asks you to open its own page at login\.example\. Gatepass did not make this link.*Please log in\.$/,
        ),
      },
    ])
  })

  test.each([
    ['http://login.example/'],
    ['javascript:alert(1)'],
    ['https://user:pass@login.example/'],
    ['https://gp.example/connect/auth_of_the_attacker'],
    ['https://gp.example./connect/auth_of_the_attacker'],
    ['https://auth.acme.example/connect/auth_of_the_attacker'],
    ['https://AUTH.acme.example./connect/auth_of_the_attacker'],
    [`https://login.example/?token=${SECRET}`],
    [`https://login.example/?token=${Buffer.from(SECRET).toString('base64')}`],
    [`https://login.example/${'x'.repeat(3_000)}`],
    ['not a link'],
  ])('%s is refused', async (url) => {
    const { tool, shown } = dialogOf({ action: 'accept' })
    await expect(tool.elicit(link(url), over)).rejects.toMatchObject({
      kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED',
    })
    expect(shown).toEqual([])
  })
})

test('a title does not hide who asks', async () => {
  const shown: Elicitation[] = []
  const elicit = async (question: Elicitation) => {
    shown.push(question)
    return { action: 'decline' } as const
  }
  const options = {
    tool: `Gatepass\n\nYour session has ended.\u202E${'x'.repeat(5_000)}`,
    owner: 'p',
    host: 'tools.example',
    publicOrigin: 'https://gp.example',
    isOwnDomain: () => false,
    secrets: [],
  }
  const tool = createToolDialog({ modes: ['form', 'url'], elicit }, options)
  await tool.elicit(form({}), over)
  await tool.elicit(link('https://a.example'), over)
  for (const { message } of shown) expect(message.slice(0, 160)).toMatch(/^The [^\n\u202E]*tools\.example/)
  expect(shown).toHaveLength(2)
})

test('a mode that the client did not declare is not asked', async () => {
  const options = {
    tool: 'T',
    owner: 'p',
    publicOrigin: 'https://gp.example',
    isOwnDomain: () => false,
    secrets: [],
  }
  const elicit = () => Promise.reject(new Error('asked'))
  const tool = createToolDialog({ modes: ['form'], elicit }, options)
  await expect(tool.elicit(link('https://a.example'), over)).rejects.toThrow('mode "url"')
})

test('progress rises, and comes in a bounded number', () => {
  const sent: Progress[] = []
  const report = risingProgress({
    modes: [],
    elicit: () => Promise.reject(),
    progress: (one) => sent.push(one),
  })
  for (const progress of [0, 1, 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2])
    report({ progress, total: 2 })
  expect(sent.map(({ progress }) => progress)).toEqual([0, 1, 2])
  for (let i = 3; i < 10_000; i++) report({ progress: i })
  expect(sent.length).toBeLessThan(200)
})

test('log lines lose secrets, and come in a bounded number and length', () => {
  const { tool, logged } = dialogOf()
  tool.log({ level: 'info', message: `with ${SECRET}${'x'.repeat(20_000)}` })
  expect(logged).toEqual([{ level: 'info', message: expect.stringMatching(/^with \[redacted\]x+$/) }])
  expect(JSON.stringify(logged).length).toBeLessThan(10_100)
  for (let i = 0; i < 10_000; i++) tool.log({ level: 'info', message: 'again' })
  expect(logged.length).toBeLessThan(200)
})
