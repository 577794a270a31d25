import Database from 'better-sqlite3'
import pg from 'pg'
import { SMALL } from './plan-exceptions.ts'

/** Finds what a database would scan or sort for a statement if its tables were large. */
export interface Planner extends AsyncDisposable {
  /** The steps of the statement's plan that scan or sort, in the words of the database. `sorts`: it may sort. */
  faultsOf(text: string, sorts: boolean): Promise<readonly string[]>
}

export function sqlitePlanner(path: string): Planner {
  const client = new Database(path, { readonly: true })
  for (const name of ['lease_clock', 'lease_clock_ms']) client.function(name, { varargs: true }, () => 0)
  return {
    async faultsOf(text, sorts) {
      const steps = client
        .prepare<unknown[], { detail: string }>(`explain query plan ${text}`)
        .all(...nullsFor(text))
        .map(({ detail }) => detail)
      const reads = steps.filter((step) => isGrowing(/^(?:SCAN|SEARCH) (?!CONSTANT)(\w+)/.exec(step)?.[1]))
      const tables = reads.filter((step) => !step.includes('VIRTUAL TABLE')) // the elements of a list in JSON
      return [
        ...tables.filter((step) => step.startsWith('SCAN')),
        ...tables.filter((step) => isOfWholeProject(/\(([^()]*)\)$/.exec(step)?.[1]) && !isLimited(text)),
        ...(tables.length > 0 && !sorts ? steps.filter((step) => step.startsWith('USE TEMP B-TREE')) : []),
      ]
    },
    async [Symbol.asyncDispose]() {
      client.close()
    },
  }
}

/** As many values as a statement has parameters, which the plan does not depend on. */
function nullsFor(text: string): readonly unknown[] {
  const bare = text.replaceAll(/'[^']*'/g, '')
  const named = [...bare.matchAll(/[@:](\w+)/g)].map(([, name]) => [name, null])
  if (named.length > 0) return [Object.fromEntries(named)]
  return Array.from({ length: bare.match(/\?/g)?.length ?? 0 }, () => null)
}

export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** A planner that scans or sorts only where no index can be used. Its changes to the tables are never committed. */
export async function postgresPlanner(url: string): Promise<Planner> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c enable_seqscan=off -c enable_sort=off -c enable_hashjoin=off -c enable_mergejoin=off',
  })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await makeLarge(client)
  const firstColumn = await firstColumnsOf(client)
  const isOfAnotherColumn = (node: PlanNode) => {
    const first = firstColumn.get(node['Index Name'] ?? '')
    return first !== undefined && !` ${conditionOf(node)} `.includes(` ${first} `)
  }
  return {
    async faultsOf(text, sorts) {
      await client.query(`set local enable_sort = ${sorts ? 'on' : 'off'}`)
      const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
        `explain (generic_plan, format json) ${text}`,
      )
      const plan = rows[0]?.['QUERY PLAN'][0].Plan
      if (plan === undefined) throw new Error(`no plan of ${text}`)
      const nodes = [...allNodes(plan)]
      const reads = nodes.filter((node) => isGrowing(node['Relation Name']) && /Scan/.test(node['Node Type']))
      return [
        ...reads.filter((node) => conditionOf(node) === undefined),
        ...reads.filter((node) => isOfWholeProject(conditionOf(node)) && !isLimited(text)),
        // reads the whole index, although the plan has a condition on one of its later columns
        ...nodes.filter((node) => node['Index Cond'] !== undefined && isOfAnotherColumn(node)),
        ...(reads.length > 0 && !sorts ? nodes.filter((node) => /Sort/.test(node['Node Type'])) : []),
      ].map(
        (node) =>
          `${node['Node Type']} of ${node['Relation Name']} by ${node['Index Name']}: ${conditionOf(node)}`,
      )
    },
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}

/**
 * PostgreSQL plans by the size of a table on the disk: each table gets a row and the statistics of a million rows, a small
 * one those of a hundred. Between two tables of a million rows plans would cost the same and differ from run to run.
 */
async function makeLarge(client: pg.Client): Promise<void> {
  await client.query('set local session_replication_role = replica') // does not check foreign keys
  const { rows } = await client.query<{ insert: string }>(
    `select format('insert into %I (%s) values (%s)', relname, string_agg(quote_ident(attname), ', '),
       string_agg('''0''', ', ')) as insert
     from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(pg_class.oid) = 0
       and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''
     group by relname`,
  )
  for (const { insert } of rows) await client.query(insert)
  await client.query(
    `select pg_restore_relation_stats('schemaname', 'public', 'relname', relname::text,
       'relpages', 1::integer, 'reltuples', case when relname = any ($1) then 100 else 1000000 end::real)
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`,
    [[...SMALL]],
  )
}

/** The first column of each index. */
async function firstColumnsOf(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; first: string }>(
    `select relname as name, pg_get_indexdef(pg_class.oid, 1, true) as first
     from pg_class where relnamespace = 'public'::regnamespace and relkind = 'i'`,
  )
  return new Map(rows.map(({ name, first }) => [name, bare(first)]))
}

function conditionOf(node: PlanNode): string | undefined {
  const condition = node['Index Cond'] ?? node['Recheck Cond']
  return condition === undefined ? undefined : bare(condition)
}

/** The words of an expression with one space in between. */
function bare(expression: string): string {
  return expression.replaceAll(/[\s(),]+/g, ' ').trim()
}

/** The node and all nodes below it. */
export function* allNodes(node: PlanNode): Generator<PlanNode> {
  yield node
  for (const one of node.Plans ?? []) yield* allNodes(one)
}

function isGrowing(table: string | undefined): boolean {
  return table !== undefined && !SMALL.has(table) && !/^(pg_|json|used|counted)/.test(table)
}

/** Whether the condition is only on the project or the provider, which may select most of the table. */
function isOfWholeProject(condition: string | undefined): boolean {
  return condition !== undefined && /^(project_id|provider_uid) ?= ?\S+$/.test(condition)
}

function isLimited(text: string): boolean {
  return /\blimit\b/i.test(text)
}
