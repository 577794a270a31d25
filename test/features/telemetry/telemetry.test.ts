import { describe, expect, test, vi } from 'vitest'
import { MAX_TRACES_PER_SECOND } from '../../../src/features/telemetry/sampler.ts'
import { gate } from '../../gate.ts'
import { startGatepass } from '../../gatepass.ts'
import { type OtlpReceiver, startOtlpReceiver, toObject } from '../../otlp-receiver.ts'
import { freePort } from '../../ports.ts'
import { NotStarted, serveProcess } from '../../served.ts'
import { until } from '../../until.ts'

/** Every trace is recorded, and what waits is sent every 20 ms. */
const toCollector = ({ url }: Pick<OtlpReceiver, 'url'>, more: Record<string, string> = {}) => ({
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    ...more,
  },
})

describe('metrics', () => {
  test('by OTLP are those of /metrics, under the same names and labels', async () => {
    await using collector = await startOtlpReceiver()
    await using gatepass = await startGatepass(toCollector(collector, { OTEL_TRACES_EXPORTER: 'none' }))
    for (let i = 0; i < 3; i++) await gatepass.call('GET', '/v1/tools')
    const count = { method: 'GET', route: '/v1/tools', status: '2xx' }
    await vi.waitFor(() => {
      const requests = collector.metrics.find(({ name }) => name === 'gatepass_http_requests_total')
      expect(requests?.sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 })
      const points = requests?.sum?.dataPoints.map((one) => ({
        labels: toObject(one.attributes),
        value: one.asDouble,
      }))
      expect(points).toContainEqual({ labels: count, value: 3 })
    }, 300_000)
    const text: string = (await gatepass.call('GET', '/metrics')).body
    const published = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
    const sent = collector.metrics.map(
      ({ name, sum, histogram }) => `${name} ${sum ? 'counter' : histogram ? 'histogram' : 'gauge'}`,
    )
    expect(sent.filter((one) => !published.includes(one))).toEqual([])
    expect(published.filter((one) => !sent.includes(one))).toEqual([])

    const latency = collector.metrics.find(({ name }) => name === 'gatepass_http_request_duration_seconds')
    const ofTools = latency?.histogram?.dataPoints.find(
      ({ attributes }) => toObject(attributes).route === '/v1/tools',
    )
    expect(toObject(ofTools?.attributes)).toEqual({ method: 'GET', route: '/v1/tools' })
    expect(ofTools).toMatchObject({ count: 3, sum: expect.any(Number) })
    expect(ofTools?.explicitBounds).toHaveLength((ofTools?.bucketCounts.length ?? 0) - 1)
    expect(ofTools?.bucketCounts.reduce((sum, one) => sum + one, 0)).toBe(3)
    expect(collector.requests.map(({ path }) => path)).not.toContain('/v1/traces')
  })
})

describe('the collector', () => {
  test('is sent protobuf unless the setting says otherwise, at the address and with the headers of the signal', async () => {
    await using collector = await startOtlpReceiver()
    await using gatepass = await startGatepass({
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1/nowhere',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20key',
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_TRACES_SAMPLER: 'always_on',
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_SERVICE_NAME: 'broker of the tests',
      },
    })
    await gatepass.call('GET', '/v1/tools')
    const { path, headers, body } = await vi.waitFor(() => {
      expect(collector.requests).not.toEqual([])
      return collector.requests[0] as OtlpReceiver['requests'][number]
    }, 300_000)
    expect(path).toBe('/own/path')
    expect(headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      authorization: 'Bearer key',
    })
    const strings = textsOf(body)
    expect(strings).toEqual(expect.arrayContaining(['GET /v1/tools', 'http.route', 'broker of the tests']))
  })

  test('that cannot be reached or does not answer slows nothing, and the end does not wait for it', async () => {
    await using collector = await startOtlpReceiver()
    collector.behaviour = 'hang'
    const gatepass = await startGatepass(toCollector(collector, { OTEL_EXPORTER_OTLP_TIMEOUT: '3600000' }))
    for (let i = 0; i < 20; i++)
      expect(await gatepass.call('GET', '/v1/tools')).toMatchObject({ status: 200 })
    await gatepass.close() // and not in an hour
  })

  test('that is back is sent telemetry again; one line says each', async () => {
    await using collector = await startOtlpReceiver()
    collector.behaviour = 500
    await using gatepass = await startGatepass(toCollector(collector, { OTEL_METRICS_EXPORTER: 'none' }))
    const lines = (message: string) => gatepass.logLines.filter((line) => line.includes(message))
    const lost = async () =>
      /gatepass_spans_lost_total\{reason="export_failed"\} (\d+)/.exec(
        (await gatepass.call('GET', '/metrics')).body,
      )?.[1]
    for (let i = 1; i < 3; i++) {
      await gatepass.call('GET', '/v1/tools')
      await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThanOrEqual(i), 300_000)
    }
    await vi.waitFor(async () => expect(Number(await lost())).toBeGreaterThan(0), 300_000)
    expect(lines('telemetry cannot be sent')).toHaveLength(1)
    expect(lines('telemetry cannot be sent')[0]).toContain('status 500')
    collector.behaviour = 200
    await gatepass.call('GET', '/v1/tools')
    await vi.waitFor(() => {
      expect(lines('telemetry is sent again')).toHaveLength(1)
      expect(collector.spans.map(({ name }) => name)).toContain('GET /v1/tools')
    }, 300_000)
    expect(lines('telemetry is sent again')).toHaveLength(1)
  })

  test('gets the last spans and metrics before the end', async () => {
    await using collector = await startOtlpReceiver()
    const long = { OTEL_BSP_SCHEDULE_DELAY: '3600000', OTEL_METRIC_EXPORT_INTERVAL: '3600000' }
    const gatepass = await startGatepass(toCollector(collector, long))
    await gatepass.call('GET', '/v1/tools')
    await gatepass.close()
    expect(collector.spans.map(({ name }) => name)).toContain('GET /v1/tools')
    expect(collector.metrics.map(({ name }) => name)).toContain('gatepass_http_requests_total')
  })

  test('gets the last metrics also while it has not answered earlier ones', async () => {
    await using collector = await startOtlpReceiver()
    const { opened, open } = gate()
    collector.mayAnswer = opened
    const gatepass = await startGatepass(toCollector(collector, { OTEL_TRACES_EXPORTER: 'none' }))
    await vi.waitFor(() => expect(collector.requests).toHaveLength(1), 300_000)
    await gatepass.call('GET', '/v1/webhooks')
    const closed = gatepass.close()
    open()
    await closed
    const requests = collector.metrics.find(({ name }) => name === 'gatepass_http_requests_total')
    const routes = requests?.sum?.dataPoints.map(({ attributes }) => toObject(attributes).route)
    expect(routes).toContain('/v1/webhooks')
  })
})

describe('gatepass doctor', () => {
  test('says whether the collector takes traces and metrics', async () => {
    await using collector = await startOtlpReceiver()
    await using gatepass = await startGatepass(
      toCollector(collector, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/m?key=secret` }),
    )
    const found = async () =>
      (await gatepass.call('GET', '/v1/admin/diagnosis')).body.checks
        .filter(({ name }: { name: string }) => name === 'telemetry')
        .map(({ status, message }: Record<string, string>) => `${status}: ${message}`)
    expect(await found()).toEqual([
      `ok: ${collector.url}/v1/traces takes traces`,
      `ok: ${collector.url}/m takes metrics`,
    ])
    collector.behaviour = 404
    expect(await found()).toEqual([
      `warning: ${collector.url}/v1/traces does not take traces: status 404. They are lost; nothing else is affected.`,
      `warning: ${collector.url}/m does not take metrics: status 404. They are lost; nothing else is affected.`,
    ])
  })
})

describe('several processes', () => {
  test('each send their own telemetry, told apart by their instance', async () => {
    await using collector = await startOtlpReceiver()
    await using served = await serveProcess({ args: ['--processes', '2'], ...toCollector(collector) })
    await vi.waitFor(async () => {
      await Promise.all(Array.from({ length: 20 }, () => served.call('GET', '/v1/tools')))
      const instances = collector.spans.map(({ resource }) => resource['service.instance.id'])
      expect(new Set(instances).size).toBe(2)
    }, 300_000)
    expect(await served.stop()).toBe(0)
  })
})

describe('limits', () => {
  test('a process records at most 100 traces a second, whatever its callers say', async () => {
    await using collector = await startOtlpReceiver()
    await using gatepass = await startGatepass(toCollector(collector, { OTEL_METRICS_EXPORTER: 'none' }))
    const ask = () => gatepass.call('GET', '/v1/connections/conn_none')
    // the second does not end before all have been asked
    const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    await Promise.all(Array.from({ length: MAX_TRACES_PER_SECOND + 1 }, ask))
    time.mockRestore()
    const { body } = await gatepass.call('GET', '/metrics')
    expect(Number(/gatepass_traces_capped_total (\d+)/.exec(body)?.[1])).toBeGreaterThan(0)
  })

  test('probes and scrapes have no trace', async () => {
    await using collector = await startOtlpReceiver()
    const gatepass = await startGatepass(toCollector(collector))
    for (const path of ['/health', '/ready', '/v1/health', '/metrics', '/v1/tools'])
      await gatepass.call('GET', path)
    const servers = () => collector.spans.filter(({ kind }) => kind === 2).map(({ name }) => name)
    await until(() => servers().length > 0) // the end of a process waits only for a moment
    await gatepass.close()
    expect(servers()).toEqual(['GET /v1/tools'])
  })
})

describe('a log line of a request', () => {
  test('has the id of its trace', async () => {
    await using collector = await startOtlpReceiver()
    await using served = await serveProcess({
      environment: { ...toCollector(collector).environment, GATEPASS_LOG_LEVEL: 'debug' },
    })
    await served.call('GET', '/v1/tools')
    const line = await vi.waitFor(() => {
      const found = served
        .logLines()
        .find(({ message, route }) => message === 'answered' && route === '/v1/tools')
      expect(found).toBeDefined()
      return found
    }, 300_000)
    expect(line?.traceId).toMatch(/^[0-9a-f]{32}$/)
    await vi.waitFor(
      () =>
        expect(collector.spansOf(String(line?.traceId)).map(({ name }) => name)).toContain('GET /v1/tools'),
      300_000,
    )
  })
})

describe('the packages of OpenTelemetry', () => {
  // a loader refuses them, as Node does where they are not installed
  const refused = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (!name.startsWith('@opentelemetry/')) return next(name, context)
      throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' })
    } })
  `)}`

  test('are not needed where no collector is set', async () => {
    await using served = await serveProcess({ nodeArgs: ['--import', refused] })
    expect(await served.get('/ready')).toMatchObject({ status: 200 })
  })

  test('are named where they are missing', async () => {
    const port = await freePort()
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
    const started = serveProcess({ nodeArgs: ['--import', refused], environment })
    await expect(started).rejects.toThrow(/packages of OpenTelemetry are not installed/)
    await expect(started).rejects.toBeInstanceOf(NotStarted)
  })
})

/** All texts of a protobuf message, at any depth: fields of wire type 2 that are printable. */
function textsOf(message: Buffer): string[] {
  const texts: string[] = []
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; at < message.length; shift += 7) {
      const byte = message[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    return value
  }
  while (at < message.length) {
    const wireType = varint() & 7
    if (wireType === 0) varint()
    else if (wireType === 1) at += 8
    else if (wireType === 5) at += 4
    else if (wireType === 2) {
      const length = varint()
      const part = message.subarray(at, at + length)
      at += length
      if (part.length < length) return texts
      const text = part.toString()
      if (/^[\x20-\x7e]+$/.test(text)) texts.push(text)
      texts.push(...textsOf(part))
    } else return texts
  }
  return texts
}
