import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { COMMANDS } from '../../src/cli/commands.ts'
import { deployFile, deployFiles } from './files.ts'

// These tests read the templates as text, because npm has no Helm. docs/operate/deploy.md says how they were rendered by hand.

const CHART = 'helm/gatepass'
const values = parse(deployFile(`${CHART}/values.yaml`))
const chart = parse(deployFile(`${CHART}/Chart.yaml`))
const templates = deployFiles(`${CHART}/templates/**/*`)
const isValid = new Ajv({ strict: false }).compile(JSON.parse(deployFile(`${CHART}/values.schema.json`)))
const all = [...templates.values()].join('\n')

/** The path (such as `a.b`) of every value and of every group of values. */
function pathsOf(value: unknown, path = ''): string[] {
  const own = path === '' ? [] : [path]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return own
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, inner]) =>
      pathsOf(inner, path === '' ? name : `${path}.${name}`),
    ),
  ]
}

describe('the Helm chart', () => {
  test('has the version of this Gatepass', () => {
    const { version } = JSON.parse(deployFile('../package.json'))
    expect(chart.appVersion).toBe(version)
    expect(chart.version).toBe(version)
  })

  test('its values fit their schema, which knows each of them', () => {
    expect(isValid(values), JSON.stringify(isValid.errors)).toBe(true)
  })

  test.each<[string, object]>([
    ['a value that does not exist', { replicas: 3 }],
    ['a public URL with a path', { publicUrl: 'https://example.com/gatepass' }],
    ['a public URL without TLS', { publicUrl: 'http://example.com' }],
    ['a setting of another program', { env: { PATH: '/' } }],
    ['a number in env, which Helm would write as 1e+06', { env: { GATEPASS_MAX_PENDING: 1_000_000 } }],
    ['a mode that does not exist', { migration: { mode: 'never' } }],
    ['a strategy that does not exist', { strategy: { type: 'Rolling' } }],
    ['no key', { masterKey: { keys: [] } }],
  ])('refuses %s', (_, changed) => {
    expect(isValid({ ...values, ...changed })).toBe(false)
  })

  test('every value that a template reads exists, and every value is read', () => {
    const read = new Set([...all.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path = '']) => path))
    const known = new Set(pathsOf(values))
    expect([...read].filter((path) => !known.has(path))).toEqual([])
    const isRead = (path: string) =>
      [...read].some((one) => one === path || one.startsWith(`${path}.`) || path.startsWith(`${one}.`))
    expect([...known].filter((path) => !isRead(path))).toEqual([])
  })

  test('every template that another one includes is defined, and every one is included', () => {
    const defined = [...all.matchAll(/define "([^"]+)"/g)].map(([, name]) => name)
    const included = new Set([...all.matchAll(/include "([^"]+)"/g)].map(([, name]) => name))
    expect([...included].sort()).toEqual(defined.sort())
  })

  test('its alert rules are a copy of deploy/prometheus, because a chart cannot read files outside its folder', () => {
    expect(deployFile(`${CHART}/files/rules.yml`)).toBe(deployFile('prometheus/rules.yml'))
  })

  test('its jobs run commands that exist', () => {
    const commands = [...all.matchAll(/"args" \(list "([a-z-]+)"/g)].map(([, name]) => name)
    expect(commands.sort()).toEqual(['migrate', 'rotate-key'])
    const names = COMMANDS.map(({ name }) => name)
    for (const name of commands) expect(names).toContain(name)
  })

  test('by default stops all pods before another image starts, because two releases must not share a database', () => {
    expect(values.strategy.type).toBe('auto')
    const [, strategy = ''] = /define "gatepass.strategy" -}}([\s\S]*?)\n{{- end -}}\n\n/.exec(all) ?? []
    expect(strategy).toMatch(
      /if has \(include "gatepass.image" \.\) \$images -}}RollingUpdate\n{{- else -}}Recreate/,
    )
  })

  test('pods have no capabilities, no service account token, and can write only to their volumes', () => {
    expect(values.podSecurityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 })
    expect(values.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const pods = all.match(/^ *restartPolicy:|^ *terminationGracePeriodSeconds:/gm) ?? []
    expect(all.match(/automountServiceAccountToken: false/g)?.length).toBe(pods.length + 1)
    expect(all).not.toMatch(/^kind: Secret$/m)
  })

  test('the probes request `/health` and `/ready`', () => {
    const deployment = templates.get(`${CHART}/templates/deployment.yaml`) ?? ''
    const probe = (name: string) =>
      new RegExp(`${name}:\\s+httpGet: \\{path: (\\S+), port: http\\}`).exec(deployment)?.[1]
    expect([probe('startupProbe'), probe('livenessProbe'), probe('readinessProbe')]).toEqual([
      '/health',
      '/health',
      '/ready',
    ])
  })
})
