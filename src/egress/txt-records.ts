import { Resolver } from 'node:dns/promises'

/** The result of a look-up of a name's TXT records. */
export type TxtResult =
  /** Empty if the name has no such record or does not exist. */
  | { readonly outcome: 'found'; readonly values: readonly string[] }
  /** The resolver gave no answer, so the records are unknown. `why` is its error code, such as `ESERVFAIL`. */
  | { readonly outcome: 'no answer'; readonly why: string }

export type LookUpTxt = (name: string) => Promise<TxtResult>

/** How long one query waits for one server. Each server is asked twice. */
const TRY_MS = 2_000
const DEADLINE_MS = 6_000
const MAX_RECORDS = 50
const MAX_CHARACTERS = 512

/** The TXT records of a name, by the system's DNS servers, within six seconds. */
export const lookUpTxt: LookUpTxt = async (name) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
  const deadline = setTimeout(() => resolver.cancel(), DEADLINE_MS)
  try {
    const records = await resolver.resolveTxt(name)
    // a record is a list of texts of at most 255 bytes each (RFC 1035 section 3.3.14)
    const values = records.slice(0, MAX_RECORDS).map((texts) => texts.join('').slice(0, MAX_CHARACTERS))
    return { outcome: 'found', values }
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return why === 'ENOTFOUND' || why === 'ENODATA'
      ? { outcome: 'found', values: [] }
      : { outcome: 'no answer', why }
  } finally {
    clearTimeout(deadline)
  }
}
