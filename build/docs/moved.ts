/**
 * Where pages are that were at the root of docs/ up to 0.2.0: messages of these releases and other people's pages name
 * them. The site has a page at each former address that leads on, with the anchor.
 */
export const MOVED: Readonly<Record<string, string>> = {
  start: 'start/agent-builder',
  ...inFolder(
    'guides',
    'agents branding code embedding explain http-tools mcp-login mcp-servers mcp own-domain oxp policies portal proxy tool-metadata tools-over-mcp toolsets webhooks writing-tools',
  ),
  ...inFolder('operate', 'audit backup console deploy keys moving observability operation scaling upgrade'),
  ...inFolder('reference', 'sdk security settings wire'),
  ...inFolder('evidence', 'performance reliability'),
  providers: 'reference/provider-definitions',
  'providers#the-catalogue': 'guides/providers#the-catalogue',
  'providers#adding-a-provider-in-two-minutes': 'guides/providers#in-two-minutes',
  'security#what-is-promised': 'evidence/threats#what-is-promised',
  'security#threats': 'evidence/threats#threats',
  'security#failures': 'evidence/threats#failures',
}

function inFolder(folder: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, `${folder}/${name}`]))
}
