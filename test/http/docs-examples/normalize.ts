import type { ExampleWorld } from './world.ts'

const SECRETS = [
  [/\b(?:gp|arc)_[A-Za-z0-9_-]{30,}\b/g, 'gp_example-key'],
  [/\bgps_[\w-]{43}/g, 'gps_example-token'],
  [/\bgpp_[\w-]{86}/g, 'gpp_example-ticket'],
  [/\bat_[\w-]{20,}/g, 'example-access-token'],
  [/"client_secret":"(?!\{)[^"]+"/g, '"client_secret":"example-client-secret"'],
  [/\bwhsec_[\w+/]{43}=/g, 'whsec_ZXhhbXBsZS1zZWNyZXQtb2YtYS13ZWJob29rLWhlcmU='],
  // the text of a stream has escaped quotes
  [/(\\?"fingerprint\\?":\\?")[\w-]+/g, '$1example-fingerprint'],
  [/("flow_id":"|flow_id=)[\w.-]+/g, '$1example-flow'],
  [/(\\?"request_id\\?":\\?")[\w-]+/g, '$1example-request'],
  [/\btrial\.[\w-]+/g, 'trial.example'],
] as const

/** Replaces secrets, ids, addresses and times of the real clock, so that every recording is the same. */
export function normalizer({ gatepass, provider, worker }: ExampleWorld): (json: string) => string {
  const ids = new Map<string, string>()
  const origins = [
    [gatepass.url, 'http://localhost:8400'],
    [new URL(provider.userInfoUrl).origin, 'https://github.example'],
    [worker.url, 'https://hub.example'],
  ] as const

  const named = (id: string, prefix: string) => {
    const known =
      ids.get(id) ?? `${prefix}_example${[...ids.keys()].filter((one) => one.startsWith(prefix)).length + 1}`
    ids.set(id, known)
    return known
  }

  return (json) => {
    let text = json
    for (const [origin, shown] of origins)
      text = text.replaceAll(origin, shown).replaceAll(new URL(origin).host, new URL(shown).host)
    for (const [secret, shown] of SECRETS) text = text.replaceAll(secret, shown)
    return (
      text
        .replaceAll('127.0.0.1, localhost', '10.1.0.0/16')
        .replaceAll(/\b([a-z]+)_[0-9a-f]{32}\b/g, named)
        .replaceAll(/\b(?!2027-03-0)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2027-03-01T09:00:00Z')
        // uses are written in batches, so an answer has them or not
        .replaceAll(/,"last_used_at":"[^"]+"/g, '')
        .replaceAll(/,\{"at":"[^"]+","step":"used"[^}]*\{\}\}/g, '')
        .replaceAll(/,"clock_difference_seconds":-?\d+/g, '')
        .replaceAll(/("took_ms":)\d+/g, '$142')
        .replaceAll(/http:\/\/auth\.acme\.example:\d+/g, 'https://auth.acme.example')
        .replaceAll(
          /gatepass-domain=[\w-]{43}/g,
          'gatepass-domain=eCXIq4Sr0H1Jq3n2Nn0Z7mB5vXk9TgYwLd8UoRfPaQs',
        )
        .replaceAll(/("next_cursor":")[^"]+/g, '$1WyJ2UWRxYWRmZDFTbjEiLDFd')
        .replaceAll(/("duration":)[\d.]+/g, '$142')
        .replaceAll(/(\\"duration\\":)[\d.]+/g, '$142')
    )
  }
}
