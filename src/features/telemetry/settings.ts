import { defineSettings, type SettingsSource } from '../../services/feature-settings.ts'
import { splitList } from '../../settings/read.ts'

/** Where traces and metrics are sent by OTLP, read from OpenTelemetry's own variables. Absent: telemetry is off. */
export interface TelemetrySettings {
  /** Attributes of the resource: `service.name` and those of `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly resource: Readonly<Record<string, string>>
  readonly traces?: TraceSettings
  readonly metrics?: OtlpEndpoint & { readonly intervalMs: number }
}

export interface TraceSettings extends OtlpEndpoint {
  readonly sampler: SamplerName
  /** The share of traces that the samplers by ratio record, from 0 to 1. */
  readonly ratio: number
  /** Whether Gatepass continues the `traceparent` of callers and sends one to workers. */
  readonly propagates: boolean
  readonly batch: {
    readonly scheduledDelayMillis: number
    readonly maxQueueSize: number
    readonly maxExportBatchSize: number
  }
}

/** The collector's address for one signal, and how requests to it are made. */
export interface OtlpEndpoint {
  readonly url: URL
  /** May hold credentials. */
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: OtlpProtocol
  readonly timeoutMs: number
  readonly compression: 'none' | 'gzip'
}

export type OtlpProtocol = (typeof PROTOCOLS)[number]
export type SamplerName = (typeof SAMPLERS)[number]

const PROTOCOLS = ['http/protobuf', 'http/json'] as const
const SAMPLERS = [
  'parentbased_traceidratio',
  'traceidratio',
  'parentbased_always_on',
  'always_on',
  'parentbased_always_off',
  'always_off',
] as const

/** The share of traces that is recorded by default. */
const DEFAULT_RATIO = 0.1
const LONGEST_MS = 3_600_000

type Signal = 'TRACES' | 'METRICS'

/** OpenTelemetry's own variables: those that Gatepass does not support are ignored, since they concern other programs. */
type Variable = `OTEL_${string}`

export const telemetrySettings = defineSettings<Variable, TelemetrySettings | undefined>({
  variables: [],
  read: readTelemetry,
  // a collector's path and headers may hold credentials, so only its origin is shown
  show(telemetry) {
    const traces = telemetry?.traces
    return [
      { name: 'OTEL_EXPORTER_OTLP_ENDPOINT, traces', value: traces?.url.origin ?? 'none' },
      { name: 'OTEL_EXPORTER_OTLP_ENDPOINT, metrics', value: telemetry?.metrics?.url.origin ?? 'none' },
      ...(traces ? [{ name: 'OTEL_TRACES_SAMPLER', value: `${traces.sampler}, ${traces.ratio}` }] : []),
    ]
  },
})

/** Reads the variables that Gatepass supports. Invalid values are faults, but only if telemetry is on. */
function readTelemetry({ setting, addFault }: SettingsSource<Variable>): TelemetrySettings | undefined {
  const read = (name: string) => setting(`OTEL_${name}`)
  const fault = (name: string, what: string) => addFault(`OTEL_${name}`, what)
  if (read('SDK_DISABLED')?.toLowerCase() === 'true') return undefined

  function choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = read(name)
    if (text === undefined) return fallback
    const chosen = choices.find((candidate) => candidate === text.toLowerCase())
    if (chosen === undefined) fault(name, `must be one of ${choices.join(', ')}.`)
    return chosen ?? fallback
  }

  function whole(name: string, fallback: number, min: number, max: number): number {
    const text = read(name)
    if (text === undefined) return fallback
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    fault(name, `must be a whole number from ${min} to ${max}.`)
    return fallback
  }

  /** The signal's own variable if it is set, else the variable for all signals. */
  const variableOf = (signal: Signal, name: string) =>
    read(`EXPORTER_OTLP_${signal}_${name}`) === undefined
      ? `EXPORTER_OTLP_${name}`
      : `EXPORTER_OTLP_${signal}_${name}`

  function endpoint(signal: Signal): OtlpEndpoint | undefined {
    const variable = variableOf(signal, 'ENDPOINT')
    const text = read(variable)
    if (text === undefined || choice(`${signal}_EXPORTER`, ['otlp', 'none'], 'otlp') === 'none')
      return undefined
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
      fault(variable, 'must be an http or https URL, such as http://collector:4318.')
      return undefined
    }
    if (url.username !== '' || url.password !== '') {
      fault(variable, 'must not contain credentials: give them in OTEL_EXPORTER_OTLP_HEADERS.')
      return undefined
    }
    // an address for one signal is used unchanged; the common address gets the path of the signal
    if (variable === 'EXPORTER_OTLP_ENDPOINT')
      url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`
    return {
      url,
      headers: pairs(variableOf(signal, 'HEADERS'), HEADER),
      protocol: choice(variableOf(signal, 'PROTOCOL'), PROTOCOLS, 'http/protobuf'),
      timeoutMs: whole(variableOf(signal, 'TIMEOUT'), 10_000, 1, LONGEST_MS),
      compression: choice(variableOf(signal, 'COMPRESSION'), ['none', 'gzip'], 'none'),
    }
  }

  /** `name=value,name=value`, with values percent-encoded. A fault names no value: it may be a secret. */
  function pairs(name: string, pattern: RegExp): Readonly<Record<string, string>> {
    const given = splitList(read(name)).map((item) => {
      const at = item.indexOf('=')
      return [item.slice(0, Math.max(at, 0)).trim(), decoded(item.slice(at + 1).trim())] as const
    })
    if (given.some(([key, value]) => value === undefined || !pattern.test(`${key}=${value}`)))
      fault(name, 'must be a list such as name=value,other=value, with values percent-encoded.')
    return Object.fromEntries(given.map(([key, value]) => [key, value ?? '']))
  }

  function ratio(sampler: SamplerName): number {
    const text = read('TRACES_SAMPLER_ARG')
    if (text === undefined || !sampler.endsWith('traceidratio')) return DEFAULT_RATIO
    const value = Number(text)
    if (value >= 0 && value <= 1) return value
    fault('TRACES_SAMPLER_ARG', 'must be a number from 0 to 1.')
    return DEFAULT_RATIO
  }

  const traces = endpoint('TRACES')
  const metrics = endpoint('METRICS')
  if (traces === undefined && metrics === undefined) return undefined
  const attributes = pairs('RESOURCE_ATTRIBUTES', ATTRIBUTE)
  const sampler = choice('TRACES_SAMPLER', SAMPLERS, 'parentbased_traceidratio')
  const maxQueueSize = whole('BSP_MAX_QUEUE_SIZE', 2048, 1, 100_000)
  return {
    resource: {
      ...attributes,
      'service.name': read('SERVICE_NAME') ?? attributes['service.name'] ?? 'gatepass',
    },
    ...(traces && {
      traces: {
        ...traces,
        sampler,
        ratio: ratio(sampler),
        propagates: splitList(read('PROPAGATORS') ?? 'tracecontext').includes('tracecontext'),
        batch: {
          scheduledDelayMillis: whole('BSP_SCHEDULE_DELAY', 5_000, 1, LONGEST_MS),
          maxQueueSize,
          maxExportBatchSize: Math.min(whole('BSP_MAX_EXPORT_BATCH_SIZE', 512, 1, 100_000), maxQueueSize),
        },
      },
    }),
    ...(metrics && {
      metrics: { ...metrics, intervalMs: whole('METRIC_EXPORT_INTERVAL', 60_000, 100, LONGEST_MS) },
    }),
  }
}

/** RFC 9110 section 5: a token, and a value without control characters. */
const HEADER = /^[\w!#$%&'*+.^`|~-]+=[\x20-\x7e]*$/
const ATTRIBUTE = /^[^\s=]+=/

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
