import type { Sampler } from '@opentelemetry/sdk-trace'
import type { TraceSettings } from '../settings/telemetry.ts'
import type { Packages } from './packages.ts'

/**
 * Traces that a process begins to record in one second. A caller whose requests all say "sampled" decides for us by the
 * parent-based samplers, and must not make every request cost what a recorded one does.
 */
export const MAX_TRACES_PER_SECOND = 100

/**
 * Decides for the first span of a trace in this process, by the setting and the cap. The parent-based samplers also
 * record work that a recorded request has queued. Spans below a recorded one are recorded; below another no span is
 * begun.
 */
export function createSampler(
  { api, trace }: Packages,
  settings: Pick<TraceSettings, 'sampler' | 'ratio'>,
  onCapped: () => void,
): Sampler {
  const chosen = samplerOf(trace, settings)
  const followsLinks = settings.sampler.startsWith('parentbased_')
  let second = Number.NEGATIVE_INFINITY
  let begun = 0

  function isBelowCap(): boolean {
    const now = performance.now()
    if (now - second >= 1_000) {
      second = now
      begun = 0
    }
    return ++begun <= MAX_TRACES_PER_SECOND
  }

  return {
    shouldSample(context, traceId, name, kind, attributes, links) {
      const parent = api.trace.getSpanContext(context)
      if (parent !== undefined && parent.isRemote !== true)
        return { decision: trace.SamplingDecision.RECORD_AND_SAMPLED }
      const isLinked = links.some(({ context: { traceFlags } }) => traceFlags === api.TraceFlags.SAMPLED)
      const result =
        followsLinks && isLinked
          ? { decision: trace.SamplingDecision.RECORD_AND_SAMPLED }
          : chosen.shouldSample(context, traceId, name, kind, attributes, links)
      if (result.decision === trace.SamplingDecision.NOT_RECORD || isBelowCap()) return result
      onCapped()
      return { decision: trace.SamplingDecision.NOT_RECORD }
    },
    toString: () => `Capped{${chosen.toString()}}`,
  }
}

function samplerOf(
  { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler }: Packages['trace'],
  { sampler, ratio }: Pick<TraceSettings, 'sampler' | 'ratio'>,
): Sampler {
  const parentBased = (root: Sampler) => new ParentBasedSampler({ root })
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return parentBased(new AlwaysOnSampler())
    case 'parentbased_always_off':
      return parentBased(new AlwaysOffSampler())
    case 'parentbased_traceidratio':
      return parentBased(new TraceIdRatioBasedSampler(ratio))
  }
}
