import type { Sampler } from '@opentelemetry/sdk-trace'
import type { Packages } from './packages.ts'
import type { TraceSettings } from './settings.ts'

/**
 * Limits the traces that a process begins to record in one second. With the parent-based samplers a caller can mark all its
 * requests as sampled; without the limit all of them would be recorded.
 */
export const MAX_TRACES_PER_SECOND = 100

/**
 * Returns a sampler that applies the configured sampler, then the limit. It decides for the first span of a trace in
 * this process: either all child spans are recorded, or none is begun. The parent-based samplers also record work that
 * a recorded request has queued.
 */
export function createSampler(
  { api, trace }: Packages,
  settings: Pick<TraceSettings, 'sampler' | 'ratio'>,
  onCapped: () => void,
): Sampler {
  const chosen = samplerOf(trace, settings)
  const followsLinks = settings.sampler.startsWith('parentbased_')
  let secondBegan = Number.NEGATIVE_INFINITY
  let begun = 0

  function isBelowCap(): boolean {
    const now = performance.now()
    if (now - secondBegan >= 1_000) {
      secondBegan = now
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
