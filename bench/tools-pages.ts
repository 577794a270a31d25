import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { importedTool } from './many-tools.ts'
import { isQuick } from './pace.ts'
import { type Figure, whole } from './report.ts'
import { seedOwn } from './seed.ts'
import { timed } from './timed.ts'

const AT_ONCE = 500
/** How many tools there are, and the milliseconds that a page may take then. */
const STEPS = [
  { count: 10, most: 1 },
  { count: isQuick ? 100 : 1_000, most: 2 },
  { count: isQuick ? 500 : 10_000, most: 3 },
]
const MOST_MS = 3

/** Pages of the catalogue, as it grows. */
export async function toolsPages(bench: Bench): Promise<Figure[]> {
  const own = await seedOwn(bench, 'tools-pages', 10)
  await using gatepass = await startGatepass(own)
  const admin = adminOf(gatepass.port)
  const figures: Figure[] = []
  let imported = 0
  const page = async (name: string, path: string, atMost: number) =>
    void figures.push(
      ...(await timed(bench.load, gatepass, {
        name: `${name}, ${whole(imported)} tools`,
        paths: [path],
        expects: 'Tool',
        atMost,
      })),
    )
  for (const { count, most } of STEPS) {
    for (; imported < count; imported = Math.min(imported + AT_ONCE, count)) {
      const names = Array.from(
        { length: Math.min(AT_ONCE, count - imported) },
        (_, i) => `Tool${imported + i}`,
      )
      await admin(
        'POST',
        '/v1/tools/import',
        names.map((name) => importedTool(name)),
      )
    }
    await page('a page of /v1/tools', '/v1/tools', most)
  }
  await page('  search, /v1/tools?q=', '/v1/tools?q=tool9', MOST_MS)
  await page('  /v1/formatted_tools?format=openai', '/v1/formatted_tools?format=openai', MOST_MS)
  await page('  a page in four formats', '/v1/tools?include_format=openai,anthropic,arcade,oxp', MOST_MS)
  return figures
}
