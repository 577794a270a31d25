import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { listedToolJson } from '../../src/mcp/endpoint/listed-tool.ts'
import { countSteps } from '../count-steps.ts'
import { costliestSchema, costlySchemas } from '../hostile-schemas.ts'
import { tool } from '../store/fixtures.ts'

describe('threat 25 and 41: the list of an MCP client', () => {
  /** A part of the 256 KiB that a schema may have: what grows faster than the schema shows at any size. */
  const limits = { size: 32 * 1024, depth: 64 }
  const MAX_STEPS = 4 * limits.size

  test.each(['modern', 'legacy'] as const)(
    'of a client of the %s era costs no more than a few steps a character, for the costliest schema that a search finds',
    (era) => {
      const seed = fc.readConfigureGlobal().seed ?? 1
      const { steps, schema } = costliestSchema({ ...limits, seed, rounds: 150 }, (inputSchema) =>
        countSteps(() =>
          listedToolJson(
            {
              ...tool({ projectId: 'p' }),
              inputSchema: { type: 'object', ...inputSchema },
              outputSchema: inputSchema,
            },
            'T',
            era,
          ),
        ),
      )
      expect(steps, JSON.stringify(schema).slice(0, 1_000)).toBeLessThan(MAX_STEPS)
    },
  )

  test('has no schema that references have made ten times as long', () => {
    for (const schema of costlySchemas(limits)) {
      const inputSchema = { type: 'object', ...schema }
      const json = listedToolJson({ ...tool({ projectId: 'p' }), inputSchema }, 'T', 'modern')
      expect(json.length).toBeLessThan(10 * limits.size)
    }
  })
})
