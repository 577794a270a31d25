import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { testClock } from '../gatepass.ts'
import { approve, startWorld, type World } from '../http/world.ts'
import { freshDatabase } from '../postgres.ts'
import { serveProcess } from '../served.ts'

// The dashboard and the alert rules of deploy/, against the metrics of a Gatepass that has done what they show.
// `promtool test rules deploy/prometheus/rules.test.yml` says when each alert fires; it comes with Prometheus.

interface Target {
  readonly expr: string
  readonly legendFormat: string
}
interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly Target[]
}
interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const read = (name: string) => text(`deploy/${name}`)
const operation = text('docs/operate/operation.md')
const dashboard: {
  panels: Panel[]
  annotations: { list: { expr: string }[] }
  templating: { list: Variable[] }
} = JSON.parse(read('grafana/gatepass.json'))
const rules: Rule[] = parse(read('prometheus/rules.yml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
)
const ruleTests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] = parse(
  read('prometheus/rules.test.yml'),
).tests

interface Variable {
  readonly name: string
  readonly query: string | { readonly query: string }
}

/** The labels that each metric has, by its name: of all that the Gatepasses below answer to a scrape. */
const live = new Map<string, Set<string>>()

function learn(text: string): void {
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) /gm)) live.set(name, live.get(name) ?? new Set())
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const known = live.get(name) ?? new Set()
    live.set(name, known)
    for (const [, label = ''] of labels.matchAll(/(?:^|,)(\w+)="/g)) known.add(label)
  }
}

let world: World
beforeAll(async () => {
  const clock = testClock()
  world = await startWorld({ gatepass: { now: clock } })
  const { call, execute } = world
  await world.connect('ada')
  const ran = { input: { text: 'x' }, user_id: 'ada' }
  expect((await execute('Demo.Echo', ran)).body.success).toBe(true)
  clock.advance(4000)
  expect((await execute('Demo.Echo', ran)).body.success).toBe(true) // with a refresh
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'bob' }
  world.as.behaviour.consent = 'deny'
  await approve((await call('POST', '/v1/auth/authorize', need)).body.url)
  await call('POST', '/v1/admin/policies', { id: 'none', effect: 'deny', match: { users: ['eve'] } })
  await execute('Demo.Echo', { ...ran, user_id: 'eve' })
  const { body: mine } = await call('GET', '/v1/connections?user_id=ada')
  await call('POST', `/v1/connections/${mine.items[0].id}/token`)
  await call('GET', '/ready')
  learn((await call('GET', '/metrics')).body)

  await using database = await freshDatabase()
  await using onPostgres = await serveProcess({ database: database.url })
  learn((await onPostgres.get('/metrics')).body)
})
afterAll(() => world[Symbol.asyncDispose]())

/** Labels that Prometheus adds to what it scrapes. */
const SCRAPED = ['job', 'instance']
/** Metrics whose labels only rare events give: what docs/operate/operation.md says of them. */
const RARE: Readonly<Record<string, readonly string[]>> = {
  gatepass_altered_rows_total: ['table'],
  gatepass_providers_held_back: ['provider'],
  gatepass_rate_limited_total: ['route'],
  gatepass_webhook_attempts_total: ['outcome'],
}

/** The metrics of an expression with the labels that are selected or grouped by. Throws for what is no PromQL. */
function metricsIn(expression: string): { readonly names: string[]; readonly labels: string[] } {
  const names: string[] = []
  const labels: string[] = []
  parser.parse(expression).iterate({
    enter({ name, type, from, to }) {
      const text = expression.slice(from, to)
      if (type.isError) throw new Error(`no PromQL at ${from} (${text}): ${expression}`)
      if (name === 'Identifier') names.push(text)
      if (name === 'LabelName') labels.push(text)
    },
  })
  return { names, labels }
}

function expectToExist(expression: string): void {
  const { names, labels } = metricsIn(expression)
  expect(names.length, expression).toBeGreaterThan(0)
  const known = names.flatMap((name) => {
    if (name === 'up') return SCRAPED
    const found = live.get(name)
    expect(found, `${name} of ${expression}`).toBeDefined()
    return [...(found ?? []), ...(RARE[name] ?? []), ...SCRAPED]
  })
  for (const label of labels) expect(known, `${label} of ${expression}`).toContain(label)
}

/** What Grafana puts in for its variables. */
const filledIn = (expression: string) =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$(job|provider)\b/g, '.+')

describe('deploy/grafana/gatepass.json', () => {
  const shown = dashboard.panels.filter(({ type }) => type !== 'row')
  const expressions = shown.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  )

  test.each([...expressions, ['releases', dashboard.annotations.list[0]?.expr ?? ''] as const])(
    'asks for metrics and labels that there are: %s',
    (_, expression) => expectToExist(filledIn(expression)),
  )

  test('has the panels of each part, a row for each, and no two in one place', () => {
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
    expect(rows).toEqual(
      expect.arrayContaining(['Consents', 'Tokens', 'Tools', 'Requests that leave Gatepass', 'Database']),
    )
    const cells = shown.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...shown.map(({ gridPos: { x, w } }) => x + w))).toBe(24)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })

  test('uses only variables that it has, and legends only labels that its expression keeps', () => {
    const variables = dashboard.templating.list.map(({ name }) => name)
    for (const [title, expression] of expressions)
      for (const [, name = ''] of expression.matchAll(/\$(?!__)(\w+)/g))
        expect(variables, title).toContain(name)
    for (const { name, query } of dashboard.templating.list.filter((one) => typeof one.query !== 'string')) {
      const [, asked = '', label = ''] =
        /^label_values\((.*), (\w+)\)$/.exec((query as { query: string }).query) ?? []
      expectToExist(`sum by (${label}) (${filledIn(asked)})`)
      expect(name).toBe(label)
    }
    for (const { title, targets = [] } of shown)
      for (const { expr, legendFormat } of targets)
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(metricsIn(filledIn(expr)).labels, title).toContain(label)
  })
})

describe('deploy/prometheus/rules.yml', () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s asks for what there is, and says what to do',
    (_, rule) => {
      expectToExist(rule.expr)
      expect(rule.labels.severity).toMatch(/^(critical|warning)$/)
      expect(rule.annotations.summary).toMatch(/\w/)
      expect(rule.annotations.description).toMatch(/\.$/)
    },
  )

  test.each(rules.map(({ alert }) => alert))('%s has a test by which it fires', (alert) => {
    const tried = ruleTests
      .flatMap(({ alert_rule_test }) => alert_rule_test)
      .filter(({ alertname }) => alertname === alert)
    expect(tried.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true)
  })

  test('has an alert, a panel and a row of docs/operate/operation.md for each metric of which any increase is a fault', () => {
    const metrics = [...operation.matchAll(/^\| `(\w+)` .*: alert on any/gm)].map(([, name = '']) => name)
    expect(metrics).toContain('gatepass_database_losses_total')
    const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n')
    for (const name of metrics) {
      expect(rules.map(({ expr }) => expr).join('\n'), `an alert on ${name}`).toContain(name)
      expect(shown, `a panel with ${name}`).toContain(name)
    }
    const described = [...operation.matchAll(/^\| `(Gatepass\w+)` \|/gm)].map(([, name]) => name)
    expect(described).toEqual(rules.map(({ alert }) => alert))
  })

  test('has the alerts that the issue asks for', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(
      expect.arrayContaining([
        'GatepassConsentsFail',
        'GatepassEndpointDisabled',
        'GatepassLoopLag',
        'GatepassTrailWaiting',
        'GatepassWebhooksLate',
      ]),
    )
  })
})
