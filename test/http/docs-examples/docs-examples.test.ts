import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenApiDocument } from '../../sdk/wire-types/openapi.ts'
import { API_KEY } from '../../served.ts'
import { answerChecker } from '../described-answers.ts'
import { EXAMPLES_FILE, examplesText } from './current.ts'
import { type Recorded, recordExamples, toExamples } from './record.ts'
import { SDK_SNIPPETS } from './sdk-snippets.ts'
import { type ExampleWorld, startExampleWorld } from './world.ts'

// The examples of the API reference are recorded from real servers. What was recorded is also what shows that the
// document describes the answers: each is checked by its schema, in which no member may be missing.

let world: ExampleWorld
let document: OpenApiDocument
let recorded: readonly Recorded[]

beforeAll(async () => {
  world = await startExampleWorld()
  recorded = await recordExamples(world)
  document = (await world.gatepass.call('GET', '/openapi.json')).body
})
afterAll(() => world[Symbol.asyncDispose]())

/** Operations without an example of their own, and whose example shows the same. */
const SAME_AS = {
  setSecretByPost: 'setSecret',
  setSecretForArcadeCli: 'setSecret',
  getSecretForArcadeCli: 'getSecret',
  listSecretsForArcadeCli: 'listSecrets',
  deleteSecretForArcadeCli: 'deleteSecret',
  authorizeWorkerByGet: 'authorizeWorker',
  proxyPost: 'proxyGet',
  proxyPut: 'proxyGet',
  proxyPatch: 'proxyGet',
  proxyDelete: 'proxyGet',
}
/** They need an MCP server with OAuth, and a service that takes keys. The answers are those of `authorize` and `getConnection`. */
const WITHOUT_EXAMPLE = ['authorizeWorker', 'createConnection']

describe('the examples of the API reference', () => {
  test('are what `npm run docs-examples` writes', async () => {
    expect(examplesText(toExamples(world, recorded))).toBe(await readFile(EXAMPLES_FILE, 'utf8'))
  })

  test('are there for each operation', () => {
    const all = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    const shown = [...new Set(recorded.map(({ operationId }) => operationId))]
    expect([...shown, ...Object.keys(SAME_AS), ...WITHOUT_EXAMPLE].toSorted()).toEqual(all.toSorted())
  })

  test('show the SDK where it has a method, by the ids of operations', () => {
    const shown = Object.entries(toExamples(world, recorded)).filter(([, { sdk }]) => sdk !== undefined)
    expect(shown.map(([operation]) => operation).toSorted()).toEqual(Object.keys(SDK_SNIPPETS).toSorted())
  })

  test('hold nothing secret', async () => {
    const text = await readFile(EXAMPLES_FILE, 'utf8')
    for (const secret of [API_KEY, ...world.provider.secrets()]) expect(text).not.toContain(secret)
    expect(text).not.toMatch(/127\.0\.0\.1/)
  })
})

test('every recorded answer is what the document says, and has no member that it does not describe', () => {
  const check = answerChecker(document)
  const faults = recorded
    .filter(({ operationId, mediaType }) => mediaType !== undefined && operationId !== 'proxyGet')
    .map(({ method, path, status, mediaType = '', text }) =>
      check(method, path, { status, mediaType, body: text }),
    )
  expect(faults.filter((fault) => fault !== undefined)).toEqual([])
})

test.each([
  ['a member that is not described', { id: 'conn_1', revocation: 'revoked', secret: 1 }, /unevaluated/],
  ['a value that is not in the list', { id: 'conn_1', revocation: 'perhaps' }, /allowed values/],
  ['a member that is missing', { id: 'conn_1' }, /required property 'revocation'/],
])('an answer with %s is a fault', (_, answer, fault) => {
  const body = JSON.stringify(answer)
  const check = answerChecker(document)
  expect(
    check('DELETE', '/v1/connections/conn_1', { status: 200, mediaType: 'application/json', body }),
  ).toMatch(fault)
})
