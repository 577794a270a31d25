// The pages of tool packs, made of their files, so that they say what the packs say. `docs/packs/<id>.md` and
// the list are no files of the repository.

import type { Pack, PackTool } from '../../src/features/packs/wire-format.ts'
import { packIds, shippedPack } from '../../src/features/packs/wire-library.ts'
import { workerOfPack } from '../../src/features/packs/wire-worker.ts'
import { requestDescription, toRequestSettings } from '../../src/operations/worker-types/openapi-request.ts'
import { isRecord } from '../../src/parsing/json-record.ts'
import { finishAnswer } from '../../src/tools/finish-answer.ts'
import { apiAnswers } from '../../src/tools/openapi/read-answer-task.ts'
import { readRequestDescription } from '../../src/tools/openapi/read-request-description.ts'
import { planOf } from '../../src/tools/openapi/request-plan.ts'
import { artifactToJson } from '../../src/tools/tool-answer.ts'

/** The page that lists them. */
export const PACK_LIST = 'docs/packs/list.md'
/** Where the files of packs are: in the site, links to the folder lead to the list. */
export const PACK_FILES = 'src/features/packs/library'

/** The Markdown of each page, by its path. */
export async function packPages(): Promise<ReadonlyMap<string, string>> {
  const packs = packIds().flatMap((id) => shippedPack(id) ?? [])
  const pages = new Map([[PACK_LIST, listPage(packs)]])
  for (const pack of packs) pages.set(`docs/packs/${pack.id}.md`, await packPage(pack))
  return pages
}

function listPage(packs: readonly Pack[]): string {
  const count = packs.reduce((sum, { tools }) => sum + tools.length, 0)
  const rows = packs.map((pack) => {
    const asking = pack.tools.filter(({ approval }) => approval === 'ask').length
    return `| [${pack.name}](${pack.id}.md) | ${cell(pack.summary)} | ${pack.tools.length} | ${asking} |`
  })
  return [
    '# All tool packs',
    `${packs.length} packs with ${count} tools. [Tool packs](../guides/tool-packs.md) says how one is added, and what was checked.`,
    '## The packs',
    ['| pack | what it does | tools | with approval |', '| --- | --- | --- | --- |', ...rows].join('\n'),
  ].join('\n\n')
}

async function packPage(pack: Pack): Promise<string> {
  const rows = pack.tools.map(
    (tool) =>
      `| \`${tool.name}\` | ${effectOf(tool)} | ${tool.approval === 'ask' ? 'asked for' : 'no'} | ${tool.scopes.map(code).join(', ') || 'none'} |`,
  )
  const tools = await Promise.all(pack.tools.map((tool) => toolPart(pack, tool)))
  return [
    `# ${pack.name}`,
    pack.summary,
    `\`\`\`bash\ngatepass packs add ${pack.id}\n\`\`\``,
    `Provider \`${pack.provider}\`, version ${pack.version}, compared on ${pack.checked} with ${pack.sources.map(code).join(', ')}. A checked tool is the operation of the vendor's description (\`description\`), or sends what a client sends (\`client\`); no tool was run against the real service. [All packs](list.md)`,
    '## Effects and scopes',
    ['| tool | effect | approval | least scopes |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    ...adviceOf(pack),
    '## Tools of the pack',
    ...tools.flat(),
  ].join('\n\n')
}

function effectOf({ annotations = {} }: PackTool): string {
  if (annotations.readOnlyHint === true) return 'reads'
  return annotations.destructiveHint === true ? 'changes or deletes' : 'writes'
}

/** What goes wrong, and what to do. */
function adviceOf({ errors }: Pack): string[] {
  const rows = Object.entries(errors?.advice ?? {}).map(([key, advice]) => `| \`${key}\` | ${cell(advice)} |`)
  if (rows.length === 0) return []
  return ['## Refusals, and what to do', ['| answer | what to do |', '| --- | --- |', ...rows].join('\n')]
}

async function toolPart(pack: Pack, tool: PackTool): Promise<string[]> {
  const plan = planFor(pack, tool.name)
  const { properties, required = [] } = plan.inputSchema
  const inputs = Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) => {
    const { description = '', default: byDefault } = isRecord(schema) ? schema : {}
    const isNeeded = Array.isArray(required) && required.includes(name)
    const note = byDefault === undefined ? '' : ` (${code(JSON.stringify(byDefault))} unless given)`
    return `| \`${name}\` | ${isNeeded ? 'required' : ''} | ${cell(String(description))}${note} |`
  })
  const checked =
    tool.checks.length === 0 ? 'Compared with nothing.' : `Checked: ${tool.checks.map(code).join(', ')}.`
  const [example] = tool.examples ?? []
  return [
    `### ${tool.name}`,
    `${tool.description} ${checked}`,
    ...(inputs.length > 0 ? [['| input | | meaning |', '| --- | --- | --- |', ...inputs].join('\n')] : []),
    ...(example === undefined ? [] : [json(example.input), json(await shaped(plan, example))]),
  ]
}

function planFor(pack: Pack, name: string) {
  const { openapi } = workerOfPack(pack, { tools: [name] })
  const [wire] = openapi.requests
  return readRequestDescription(toRequestSettings(requestDescription.parse(wire)), {
    namespace: openapi.namespace,
    ...(openapi.headers && { headers: openapi.headers }),
  })
}

/** What the tool makes of the answer in an example. */
async function shaped(
  { document }: ReturnType<typeof planFor>,
  { input, answer }: NonNullable<PackTool['examples']>[number],
): Promise<unknown> {
  const { answer: plan } = planOf(document)
  const isText = typeof answer === 'string'
  const response = {
    status: 200,
    headers: { 'content-type': isText ? 'text/plain' : 'application/json' },
    body: Buffer.from(answer == null ? '' : isText ? answer : JSON.stringify(answer)),
  }
  const id = `file_${'0193'.padEnd(32, '0')}`
  const place = { id, url: `https://gatepass.example.com/v1/files/${id}`, expiresAt: 1_800_000_000 }
  const raw = { response, isSafe: true, plan, input, place }
  await apiAnswers.prepare?.(raw)
  const read = finishAnswer({ raw, secrets: [] }, apiAnswers)
  if (read.outcome === 'artifact') return artifactToJson(read.artifact)
  return read.outcome === 'value' ? read.value : undefined
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}

function code(text: string): string {
  return `\`${text}\``
}

/** A text in a cell of a table, in which an address of a person is no link. */
function cell(text: string): string {
  const escaped = text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const [plain = [], codes = []] = [0, 1].map((odd) => escaped.split('`').filter((_, i) => i % 2 === odd))
  return plain
    .map((part, i) => part.replaceAll('@', '\\@') + (i < codes.length ? code(codes[i] ?? '') : ''))
    .join('')
}
