import { Ajv2020 } from 'ajv/dist/2020.js'

// The answers of OXP 1.0 as JSON Schema.

const text = { type: 'string' }
const ids = (more: object = {}) => ({
  type: 'array',
  items: { type: 'object', properties: { id: text, ...more }, required: ['id'], additionalProperties: false },
})

const toolDefinition = {
  type: 'object',
  properties: {
    id: { type: 'string', pattern: '^[A-Za-z0-9_]+\\.[A-Za-z0-9_]+(@([0-9]+|[0-9]+\\.[0-9]+\\.[0-9]+))?$' },
    name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
    description: { type: 'string', minLength: 1 },
    version: { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    input_schema: { type: 'object' },
    output_schema: { type: ['object', 'null'] },
    requirements: {
      type: 'object',
      properties: {
        authorization: ids({
          oauth2: { type: 'object', properties: { scopes: { type: 'array', items: text } } },
        }),
        secrets: ids(),
        user_id: { type: 'boolean' },
      },
      additionalProperties: false,
    },
  },
  required: ['id', 'name', 'description', 'version', 'input_schema', 'output_schema'],
  additionalProperties: false,
}

const result = {
  type: 'object',
  properties: {
    call_id: { type: 'string', minLength: 1 },
    success: { type: 'boolean' },
    duration: { type: 'number', minimum: 0 },
    value: true,
    error: {
      type: 'object',
      properties: {
        message: text,
        developer_message: text,
        can_retry: { type: 'boolean' },
        additional_prompt_content: text,
        retry_after_ms: { type: 'number' },
      },
      required: ['message'],
      additionalProperties: false,
    },
  },
  required: ['call_id', 'success'],
  oneOf: [
    { properties: { success: { const: true } }, not: { required: ['error'] } },
    { properties: { success: { const: false } }, required: ['error'], not: { required: ['value'] } },
  ],
  additionalProperties: false,
}

const SCHEMAS = {
  tools: {
    type: 'object',
    properties: { items: { type: 'array', items: toolDefinition } },
    required: ['items'],
  },
  result,
  answer: { type: 'object', properties: { result }, required: ['result'], additionalProperties: false },
  refusal: {
    type: 'object',
    properties: {
      message: { type: 'string', minLength: 1 },
      developer_message: text,
      missing_requirements: {
        type: 'object',
        properties: {
          authorization: {
            type: 'array',
            minItems: 1,
            items: {
              type: 'object',
              properties: {
                id: text,
                url: { ...text, pattern: '^http' },
                check_url: { ...text, pattern: '^http' },
              },
              required: ['id', 'url'],
              additionalProperties: false,
            },
          },
          user_id: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
    required: ['message'],
  },
  invalid: {
    type: 'object',
    properties: {
      message: { type: 'string', minLength: 1 },
      parameter_errors: { type: 'object', additionalProperties: text },
    },
    required: ['message', 'parameter_errors'],
  },
}

/** How an answer differs from the schema of its kind; empty: it does not. */
export function faultsOf(kind: keyof typeof SCHEMAS, answer: unknown): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.validate(SCHEMAS[kind], answer)
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
