import { listedToolJson } from '../src/mcp/endpoint/listed-tool.ts'
import { costliestSchema, costlySchemas } from '../test/hostile-schemas.ts'
import { type Figure, median } from './report.ts'

/** What a schema of an MCP server's tool may have, in characters, and how deep it may nest. */
const LIMITS = { size: 256 * 1024, depth: 64 }
const ROUNDS = 60
const REPEATED = 9
const MOST_MS = 10

/** The time for the form in `tools/list` of the costliest schemas that a search finds: it begins with known ones. */
export async function schemas(): Promise<Figure[]> {
  const found = costliestSchema({ ...LIMITS, seed: 1, rounds: ROUNDS }, msOf)
  const all = [...costlySchemas(LIMITS), found.schema].map(msOf)
  const worst = Math.max(...all)
  return [
    {
      name: `a tool's form in tools/list, ${all.length} costly schemas of up to 256 KiB: processor time of the costliest`,
      value: `${worst.toFixed(1)} ms`,
      target: `< ${MOST_MS} ms`,
      met: worst < MOST_MS,
    },
    { name: '  median of the schemas', value: `${median(all).toFixed(1)} ms` },
  ]
}

/** The clock of processor time of a thread has steps of 4 ms on some systems, so many calls are measured together. */
function msOf(inputSchema: Readonly<Record<string, unknown>>): number {
  const tool = {
    ...{ uid: 'tool_1', projectId: 'proj_1', name: 'Costly', namespace: 'Bench', title: '', description: '' },
    ...{ tags: [], digest: '', createdAt: 0, updatedAt: 0 },
    requirements: { authorization: [], secrets: [], metadata: [] },
    source: { kind: 'metadata', document: {} },
    inputSchema: { type: 'object', ...inputSchema },
  } as const
  listedToolJson(tool, 'Bench_Costly', 'modern')
  const before = process.threadCpuUsage().user
  for (let i = 0; i < REPEATED; i++) listedToolJson(tool, 'Bench_Costly', 'modern')
  return (process.threadCpuUsage().user - before) / 1000 / REPEATED
}
