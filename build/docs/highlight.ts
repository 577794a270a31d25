/** The keywords of each language. */
const WORDS: Readonly<Record<string, string>> = {
  ts: 'as async await const else export extends false for from function if import in interface let new null of return throw true try type undefined while',
  sh: 'cat curl docker else export fi gatepass git helm if kubectl node npm npx openssl systemctl then',
  py: 'and as async await class def else False for from if import in None not or return True with',
  sql: 'ALTER CREATE FROM INDEX INSERT INTO SELECT TABLE UPDATE WHERE',
}
/** Languages that are highlighted like another one. */
const ALIASES: Readonly<Record<string, string>> = {
  js: 'ts',
  javascript: 'ts',
  typescript: 'ts',
  tsx: 'ts',
  json: 'ts',
  bash: 'sh',
  shell: 'sh',
  python: 'py',
}
const HAS_SLASH_COMMENTS = /^(?:ts|js|javascript|typescript|tsx)$/

/** HTML of code with spans for comments, texts, keywords and numbers, found by a few patterns. */
export function highlight(code: string, language: string): string {
  const words = WORDS[ALIASES[language] ?? language]
  if (words === undefined && !/^(?:yaml|yml|ini|toml|dockerfile)$/.test(language)) return escapeHtml(code)
  const comment = HAS_SLASH_COMMENTS.test(language) ? '//[^\\n]*|/\\*[\\s\\S]*?\\*/' : '(?<=^|\\s)#[^\\n]*'
  const text = '"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\'|`(?:[^`\\\\]|\\\\.)*`'
  const word = words === undefined ? '(?!)' : `\\b(?:${words.replaceAll(' ', '|')})\\b(?![-./:])`
  const pattern = new RegExp(`(?<c>${comment})|(?<s>${text})|(?<k>${word})|(?<n>\\b\\d[\\d_.]*\\b)`, 'gm')
  let html = ''
  let at = 0
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? []
    html += `${escapeHtml(code.slice(at, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    at = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(at))
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
