import type { Mutation } from '../mutation.ts'

// Whose trace is continued, who gets its ids, and the limits on what telemetry costs.

const TRACES = 'features/telemetry/traces.test.ts'
const TELEMETRY = 'features/telemetry/telemetry.test.ts'

export const telemetry: readonly Mutation[] = [
  {
    rows: ['31'],
    fault: 'a request without a valid key continues a trace',
    file: 'src/http/endpoint/request-span.ts',
    from: '...(hasKey && {',
    to: '...({',
    test: TRACES,
    name: 'continues no trace for',
  },
  {
    rows: ['31'],
    fault: 'every outgoing request carries traceparent',
    file: 'src/services/traced.ts',
    from: 'request.continuesTrace !== true || ',
    to: '',
    test: TRACES,
    name: 'is one trace',
  },
  {
    rows: ['31'],
    fault: 'requests to workers carry no traceparent',
    file: 'src/tools/arcade/worker-protocol.ts',
    from: '    continuesTrace: true,\n',
    to: '',
    test: TRACES,
    name: 'is one trace',
  },
  {
    rows: ['31'],
    fault: 'the proxy passes on the baggage of a caller',
    file: 'src/http/proxy/proxy-headers.ts',
    from: "  'baggage',\n",
    to: '',
    test: 'http/proxy.test.ts',
    name: 'says nothing of the caller',
  },
  {
    rows: ['25'],
    fault: 'a span names the user of a run',
    file: 'src/tools/run/execute-tool.ts',
    from: "'gen_ai.tool.call.id': id,",
    to: "'gen_ai.tool.call.id': id,\n      'enduser.id': call.userId ?? '',",
    test: TRACES,
    name: 'nothing that was sent names',
  },
  {
    rows: ['R25'],
    fault: 'a process records traces without a limit',
    file: 'src/features/telemetry/sampler.ts',
    from: 'return ++begun <= MAX_TRACES_PER_SECOND',
    to: 'return ++begun > 0',
    test: TELEMETRY,
    name: 'at most 100 traces a second',
  },
  {
    rows: ['R25'],
    fault: 'shutdown waits for the collector without a limit',
    file: 'src/features/telemetry/telemetry.ts',
    from: 'await waitAtMost(ms, Promise.allSettled([tracing?.flush(), timer && lastMetrics()]))',
    to: 'await Promise.allSettled([tracing?.flush(), timer && lastMetrics()])',
    test: TELEMETRY,
    name: 'slows nothing, and the end does not wait',
  },
  {
    rows: ['R24'],
    fault: 'each batch that the collector does not take is a line in the log',
    file: 'src/features/telemetry/otlp-client.ts',
    from: 'if (reason !== undefined && !isFailing)',
    to: 'if (reason !== undefined)',
    test: TELEMETRY,
    name: 'one line says each',
  },
  {
    rows: ['R22'],
    fault: 'the start does not name the faulty settings of a feature',
    file: 'src/read-config.ts',
    from: 'void faults.push(`${variable} ${what}`)',
    to: 'undefined',
    test: 'features/telemetry/settings.test.ts',
    name: 'its faults are named with theirs',
  },
  {
    rows: ['R22'],
    fault: 'the settings of a feature can be changed in a running server',
    file: 'src/read-config.ts',
    from: '  frozen(values)\n',
    to: '',
    test: 'features/telemetry/settings.test.ts',
    name: 'never changed later',
  },
]
