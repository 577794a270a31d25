import { describe, expect, test } from 'vitest'
import { effectiveSettings } from '../../../src/diagnosis/effective-settings.ts'
import { telemetrySettings } from '../../../src/features/telemetry/settings.ts'
import { readConfig } from '../../../src/read-config.ts'

function read(environment: Record<string, string>) {
  const faults: string[] = []
  const settings = telemetrySettings.read({
    setting: (variable) => environment[variable]?.trim() || undefined,
    addFault: (variable, what) => void faults.push(`${variable} ${what}`),
    development: false,
  })
  return { settings, faults }
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

describe('telemetry is off', () => {
  test.each<[string, Record<string, string>]>([
    ['without an endpoint', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'nonsense' }],
    ['with an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['when it is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true', OTEL_TRACES_SAMPLER: 'nonsense' }],
    ['with no exporter', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
  ])('%s', (_, environment) => {
    expect(read(environment)).toEqual({ settings: undefined, faults: [] })
  })
})

test('an endpoint is enough', () => {
  const each = { headers: {}, protocol: 'http/protobuf', timeoutMs: 10_000, compression: 'none' }
  expect(read(ENDPOINT)).toEqual({
    faults: [],
    settings: {
      resource: { 'service.name': 'gatepass' },
      traces: {
        ...each,
        url: new URL('http://collector:4318/v1/traces'),
        sampler: 'parentbased_traceidratio',
        ratio: 0.1,
        propagates: true,
        batch: { scheduledDelayMillis: 5_000, maxQueueSize: 2_048, maxExportBatchSize: 512 },
      },
      metrics: { ...each, url: new URL('http://collector:4318/v1/metrics'), intervalMs: 60_000 },
    },
  })
})

test('a signal has variables of its own, which win; its address is used unchanged', () => {
  const { settings, faults } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=all, x-other=a%2Cb',
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.example/api/push',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-key=metrics',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'gzip',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=edge,team=a%20b',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_PROPAGATORS: 'b3,none',
  })
  expect(faults).toEqual([])
  expect(settings).toMatchObject({
    resource: { 'service.name': 'edge', team: 'a b' },
    traces: {
      url: new URL('https://collector.example/otlp/v1/traces'),
      headers: { 'x-key': 'all', 'x-other': 'a,b' },
      protocol: 'http/json',
      timeoutMs: 2_000,
      sampler: 'traceidratio',
      ratio: 0.25,
      propagates: false,
    },
    metrics: {
      url: new URL('https://metrics.example/api/push'),
      headers: { 'x-key': 'metrics' },
      protocol: 'http/protobuf',
      compression: 'gzip',
    },
  })
})

describe('a value that cannot be used is named, and never quoted where it may be a secret', () => {
  test.each<[string, string, RegExp]>([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', /http or https URL/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://me:secret@collector', /OTEL_EXPORTER_OTLP_HEADERS/],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /http\/protobuf, http\/json/],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '10s', /whole number/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', /name=value/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=%0Asecret', /name=value/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=%zzsecret', /name=value/],
    ['OTEL_TRACES_EXPORTER', 'zipkin', /otlp, none/],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /parentbased_traceidratio/],
    ['OTEL_TRACES_SAMPLER_ARG', '10', /0 to 1/],
    ['OTEL_METRIC_EXPORT_INTERVAL', '0', /from 100/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'nothing', /name=value/],
  ])('%s=%s', (name, value, why) => {
    const { faults } = read({ ...ENDPOINT, [name]: value })
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of faults) {
      expect(fault).toMatch(new RegExp(`^${name} must `))
      expect(fault).toMatch(why)
      expect(fault).not.toContain('secret')
    }
  })
})

describe('among the other settings', () => {
  const start = (environment: Record<string, string>) =>
    readConfig({ ...ENDPOINT, ...environment }, 'development', { makeKey: false })

  test('its faults are named with theirs', () => {
    const broken = { GATEPASS_PORT: 'x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    for (const name of Object.keys(broken)) expect(() => start(broken)).toThrow(`${name} must be`)
  })

  test('it is shown by the origin of the collector alone, and never changed later', () => {
    const config = start({
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.test/secret-path',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret-header',
    })
    const shown = effectiveSettings(config)
    expect(shown).toContainEqual({
      name: 'OTEL_EXPORTER_OTLP_ENDPOINT, traces',
      value: 'https://collector.test',
    })
    expect(JSON.stringify(shown)).not.toContain('secret-')
    const headers = config.of(telemetrySettings)?.traces?.headers
    expect(headers).toEqual({ 'x-key': 'secret-header' })
    expect(() => Object.assign(headers ?? {}, { 'x-key': 'other' })).toThrow(TypeError)
  })
})
