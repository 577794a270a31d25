import { renderTemplate, type TemplateValues } from './template.ts'

/** Headers that belong to the connection, to the body or to the broker itself. */
const NOT_SET =
  /^(?:host|connection|content-.*|cookie2?|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|proxy-.*|via|forwarded|x-forwarded-.*)$/

/** Why an entry cannot set the header, or `undefined` when it can. Names are in lower case. */
export function headerNameFault(name: string): string | undefined {
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) return 'is not a header name (RFC 9110 section 5.1)'
  return NOT_SET.test(name) ? 'is a header that Gatepass sets itself' : undefined
}

/** The headers of these templates. One whose value is empty, or no header may have, is left out. */
export function renderHeaders(
  templates: Readonly<Record<string, string>> | undefined,
  values: TemplateValues,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(templates ?? {})
      .map(([name, template]) => [name, renderTemplate(template, values)] as const)
      .filter(([, value]) => /^[\x20-\x7e]+$/.test(value)),
  )
}
