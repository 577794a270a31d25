import { html } from 'hono/html'
import type { Text } from '../text.ts'

// The page at `/`, and the login of development mode.

export const en = {
  title: 'Running',
  heading: 'Gatepass is running',
  what: 'It asks users once for access to their accounts, keeps the tokens fresh and sealed, and hands each tool a valid one on every call.',
  facts: { address: 'Address', version: 'Version', mode: 'Mode' },
  development: 'development',
  production: 'production',
  readOn: 'Read on',
  console: 'Operator’s console',
  reference: 'API reference',
  mcp: 'Connect an MCP client',
  openapi: 'OpenAPI document',
  health: 'Health',
  whatNext: 'What to do next',
  terminal:
    'The terminal that started Gatepass shows an API key and the commands of a first run, ready to paste.',
  sample: (tool: Text): Text =>
    html`They run the sample tool ${tool}, which needs an account at the sandbox provider: Gatepass answers with a link, you approve, the tool runs with the token.`,
  oneMachine: (command: Text): Text =>
    html`Development mode is for one machine. For others to use it, start ${command}.`,
  login: {
    title: 'Log in',
    tag: 'Development only',
    heading: 'Who are you?',
    unchecked: (setting: Text): Text =>
      html`Nothing checks the answer here. Outside of development, users log in at your issuer or at your application’s own page (${setting}).`,
    refused: 'Give a user id of 1 to 500 characters.',
    userId: 'User id',
    go: 'Continue',
  },
}
