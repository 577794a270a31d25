import { expect } from 'vitest'
import { z } from 'zod'
import { ContextRequiredError, ToolApp } from '../../../src/sdk/tools/index.ts'

// The tools, resources and prompts that the official conformance suite calls by their names.

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const NAME = z.object({ name: z.string() })
const OK = z.object({ ok: z.boolean() })
const input = z.object({})
const FAILURE = 'This tool intentionally returns an error for testing'

/** What the server logs once in each run of the suite. */
export const LOGGED_FAILURE = ['The tool %s failed:', 'test_error_handling', expect.stringContaining(FAILURE)]

export function conformanceApp(): ToolApp {
  const app = new ToolApp({ name: 'conformance', version: '1.0.0' })
  addContents(app)
  addQuestions(app)
  addRounds(app)
  addResources(app)
  addPrompts(app)
  return app
}

function addContents(app: ToolApp): void {
  const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'Embedded.' }
  const contents = {
    test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
    test_image_content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
    test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
    test_embedded_resource: [{ type: 'resource', resource: embedded }],
    test_multiple_content_types: [
      { type: 'text', text: 'Several:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: embedded },
    ],
  }
  for (const [name, content] of Object.entries(contents))
    app.tool(name, { description: 'Returns content.', input, handler: () => ({ content }) })
  app.tool('test_streaming_elicitation', {
    description: 'Returns a text.',
    input,
    handler: () => 'No request.',
  })
  app.tool('test_error_handling', {
    description: 'Fails.',
    input,
    handler() {
      throw new Error(FAILURE)
    },
  })
  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    app.tool(name, {
      description: 'Writes three log lines.',
      input,
      async handler({ log }) {
        for (const line of ['started', 'processing', 'completed']) await log.info(`Tool execution ${line}`)
        return 'logged'
      },
    })
  app.tool('test_tool_with_progress', {
    description: 'Reports progress.',
    input,
    async handler({ progress }) {
      for (const done of [0, 50, 100]) await progress.report(done, 100, `Completed step ${done} of 100`)
      return 'done'
    },
  })
  app.tool('json_schema_2020_12_tool', {
    description: 'Has a schema with the words of 2020-12.',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in an object that is never awaited
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    handler: ({ input }) => JSON.stringify(input),
  })
}

function addQuestions(app: ToolApp): void {
  app.tool('test_sampling', {
    description: 'Asks the model.',
    input: z.object({ prompt: z.string() }),
    async handler({ input: { prompt }, sampling }) {
      const answer = await sampling.createMessage(toModel(prompt))
      return `LLM response: ${JSON.stringify(answer.content)}`
    },
  })
  const forms = {
    test_elicitation: z.object({ username: z.string().describe("User's response"), email: z.email() }),
    test_elicitation_sep1034_defaults: z.object({
      name: z.string().default('John Doe'),
      age: z.int().default(30),
      score: z.number().default(95.5),
      status: z.enum(['active', 'inactive', 'pending']).default('active'),
      verified: z.boolean().default(true),
    }),
    test_elicitation_sep1330_enums: z.object({
      untitledSingle: z.enum(['option1', 'option2', 'option3']).optional(),
      titledSingle: titled('value', 'Option').optional(),
      legacyEnum: z
        .enum(['opt1', 'opt2', 'opt3'])
        .meta({ enumNames: ['Option One', 'Option Two', 'Option Three'] })
        .optional(),
      untitledMulti: z.array(z.enum(['option1', 'option2', 'option3'])).optional(),
      titledMulti: z.array(titled('value', 'Choice')).optional(),
    }),
  }
  for (const [name, form] of Object.entries(forms))
    app.tool(name, {
      description: 'Shows a form.',
      input: z.object({ message: z.string().default('Please fill in the form.') }),
      async handler({ input: { message }, ui }) {
        const { action, content = {} } = await ui.elicit(message, form)
        return `User response: action=${action}, content=${JSON.stringify(content)}`
      },
    })
}

/** Choices with titles. */
function titled(value: string, title: string) {
  return z.union([1, 2, 3].map((i) => z.literal(`${value}${i}`).meta({ title: `${title} ${i}` })))
}

function toModel(text: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }], maxTokens: 100 }
}

function addRounds(app: ToolApp): void {
  const round = 'test_input_required_result'
  app.tool(`${round}_elicitation`, {
    description: 'Asks for a name.',
    input,
    async handler({ ui }) {
      const { content } = await ui.elicit('What is your name?', NAME, { key: 'user_name' })
      return `Hello, ${content?.name}!`
    },
  })
  for (const name of [`${round}_sampling`, 'test_missing_capability'])
    app.tool(name, {
      description: 'Asks the model.',
      input,
      handler: async ({ sampling }) =>
        JSON.stringify(await sampling.createMessage(toModel('What is the capital of France?'))),
    })
  app.tool(`${round}_list_roots`, {
    description: 'Asks for the roots.',
    input,
    handler: async ({ resources }) => (await resources.listRoots()).map(({ uri }) => uri).join(', '),
  })
  for (const name of [`${round}_request_state`, `${round}_tampered_state`])
    app.tool(name, {
      description: 'Asks for a confirmation.',
      input,
      async handler({ ui }) {
        await ui.elicit('Please confirm', OK)
        return 'state-ok'
      },
    })
  app.tool(`${round}_multiple_inputs`, {
    description: 'Asks three questions at once.',
    input,
    async handler({ ui, sampling, resources }) {
      const all = [ui.elicit('Name?', NAME), sampling.createMessage(toModel('Greet.')), resources.listRoots()]
      return JSON.stringify(await Promise.all(all))
    },
  })
  app.tool(`${round}_multi_round`, {
    description: 'Asks twice.',
    input,
    async handler({ ui }) {
      const name = await ui.elicit('Step 1: What is your name?', NAME)
      const color = await ui.elicit('Step 2: What is your favorite color?', z.object({ color: z.string() }))
      return `${name.content?.name} likes ${color.content?.color}`
    },
  })
  app.tool(`${round}_capabilities`, {
    description: 'Asks what the client can answer.',
    input,
    async handler({ ui, sampling }) {
      const answers = [ui.elicit('Name?', NAME), sampling.createMessage(toModel('Greet.'))]
      const known = answers.map((one) =>
        one.catch((error: unknown) => {
          if (error instanceof ContextRequiredError) return null
          throw error
        }),
      )
      return JSON.stringify(await Promise.all(known))
    },
  })
  for (const list of ['tools', 'prompts'] as const)
    app.tool(`test_trigger_${list.slice(0, -1)}_change`, {
      description: 'Announces a change.',
      input,
      async handler({ notifications }) {
        await notifications[list].listChanged()
        return 'announced'
      },
    })
}

function addResources(app: ToolApp): void {
  app.resource('test://static-text', { mimeType: 'text/plain', handler: () => 'This is the content.' })
  app.resource('test://static-binary', {
    mimeType: 'image/png',
    handler: () => Uint8Array.from(atob(PNG), (one) => one.charCodeAt(0)),
  })
  app.resource('test://watched-resource', { mimeType: 'text/plain', handler: () => 'Watched.' })
  app.resource('test://template/{id}/data', {
    mimeType: 'application/json',
    handler: ({ params: { id } }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  })
}

function addPrompts(app: ToolApp): void {
  app.prompt('test_simple_prompt', {
    description: 'A text.',
    handler: () => 'This is a simple prompt for testing.',
  })
  app.prompt('test_prompt_with_arguments', {
    description: 'A text of two arguments.',
    input: z.object({ arg1: z.string().describe('First'), arg2: z.string().describe('Second') }),
    handler: ({ input: { arg1, arg2 } }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    complete: (_, value) => ['test-one', 'test-two'].filter((one) => one.startsWith(value)),
  })
  app.prompt('test_prompt_with_embedded_resource', {
    description: 'A resource.',
    input: z.object({ resourceUri: z.string() }),
    handler: ({ input: { resourceUri } }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded.' },
        },
      },
      { role: 'user', content: { type: 'text', text: 'Please process it.' } },
    ],
  })
  app.prompt('test_prompt_with_image', {
    description: 'An image.',
    handler: () => [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze it.' } },
    ],
  })
  app.prompt('test_input_required_result_prompt', {
    description: 'Asks first.',
    async handler({ ui }) {
      const { content } = await ui.elicit('Which context?', z.object({ context: z.string() }))
      return `Use the following context: ${content?.context}`
    },
  })
}
