import {
  type AuditLine,
  SEARCHED_MEMBERS,
  type SearchedMember,
  searchedValue,
} from '../../services/audit-entry.ts'

/**
 * The number of a member's value in the index: 53 bits of a hash. The hash need not be secure, because every entry that
 * the index finds is compared with the search itself: two values with the same number only cost time.
 */
export function termOf(projectId: string, member: SearchedMember, value: string): number {
  const text = `${projectId} ${member} ${value}`
  let hash = 0xdeadbeef
  let other = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    hash = Math.imul(hash ^ unit, 2654435761)
    other = Math.imul(other ^ unit, 1597334677)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909)
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(hash ^ (hash >>> 13), 3266489909)
  return 4294967296 * (2097151 & other) + (hash >>> 0)
}

/** The terms of all values that an entry has. */
export function termsOf(projectId: string, line: AuditLine): number[] {
  const terms: number[] = []
  for (const member of SEARCHED_MEMBERS) {
    const value = searchedValue(line, member)
    if (typeof value === 'string') terms.push(termOf(projectId, member, value))
  }
  return terms
}
