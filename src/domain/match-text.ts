/** Whether the pattern matches the text; `*` matches any characters. The time is linear in the text for each `*`. */
export function matchesText(pattern: string, text: string): boolean {
  const [first = '', ...middles] = pattern.split('*')
  const last = middles.pop()
  if (last === undefined) return text === pattern
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const middle of middles) {
    const found = text.indexOf(middle, at)
    if (found < 0 || found + middle.length > end) return false
    at = found + middle.length
  }
  return true
}
