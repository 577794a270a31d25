import type { BrokerSettings } from '../../broker.ts'

/** Why `/mcp` is not served with these settings; `undefined` where it is. */
export function whyNotServed({
  verifier,
  development,
}: Pick<BrokerSettings, 'verifier' | 'development'>): string | undefined {
  return verifier.kind === 'open' && !development
    ? 'This server does not serve /mcp, because GATEPASS_USER_VERIFIER is `open`: nothing would check that the user who approves is the user who asked. The operator sets a verifier (docs/reference/settings.md).'
    : undefined
}
