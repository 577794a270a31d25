// Finds all forms of all secrets in one pass (Aho and Corasick, "Efficient string matching", 1975). The time per byte
// depends neither on the number of forms nor on the text.

/** One way of writing a secret. `exact`: searched in the unchanged text; the others in the folded text (fold-text.ts). */
export interface Form {
  readonly bytes: Uint8Array
  readonly kind: 'exact' | 'folded' | 'base64'
}

/** A trie with failure links, in arrays by node. Node 0 is the root, and means "none" as a child or sibling. */
interface Nodes {
  /** The root's children by their byte. */
  readonly first: Int32Array
  readonly child: Int32Array
  readonly sibling: Int32Array
  readonly label: Uint8Array
  readonly fail: Int32Array
  readonly depth: Int32Array
  /** The length of the longest form that ends at this node; 0 for none. */
  readonly found: Int32Array
  readonly flags: Uint8Array
}

/** A base64 form ends at this node. */
const BASE64 = 1
/** A form continues after this node, but the trie ends here. */
const CUT = 2
/**
 * The depth of the first trie. Few texts contain more than the first letters of a secret, and building a trie of whole
 * tokens takes longer than searching a short answer, so the whole trie is built when a text reaches this depth.
 */
const FIRST_DEPTH = 12

export interface Matcher {
  readonly longest: number
  readonly isEmpty: boolean
  /** Whether a form begins with the byte. */
  begins(byte: number): boolean
  cursor(): Cursor
}

/** The state of the search in one text. */
export interface Cursor {
  step(byte: number): void
  reset(): void
  /** The length of the longest form that ends with the last byte; 0 for none. */
  readonly found: number
  readonly isBase64: boolean
  /** The last bytes are not the beginning of a form. */
  readonly isAtRoot: boolean
  /** How many of the last bytes are the beginning of a form; at most `most`. */
  pending(most?: number): number
}

export function createMatcher(forms: readonly Form[]): Matcher {
  const short = build(forms, FIRST_DEPTH)
  let whole: Nodes | undefined
  return {
    longest: Math.max(0, ...forms.map(({ bytes }) => bytes.length)),
    isEmpty: forms.length === 0,
    begins: (byte) => short.first[byte] !== 0,
    cursor: () =>
      new TrieCursor(short, () => {
        whole ??= build(forms, Number.POSITIVE_INFINITY)
        return whole
      }),
  }
}

class TrieCursor implements Cursor {
  #nodes: Nodes
  #state = 0
  readonly #whole: () => Nodes

  constructor(nodes: Nodes, whole: () => Nodes) {
    this.#nodes = nodes
    this.#whole = whole
  }

  step(byte: number): void {
    const { first, child, sibling, label, fail, flags } = this.#nodes
    let state = this.#state
    for (;;) {
      let next = 0
      if (state === 0) next = first[byte] as number
      else {
        next = child[state] as number
        while (next !== 0 && label[next] !== byte) next = sibling[next] as number
      }
      if (next !== 0) {
        state = next
        break
      }
      if (state === 0) break
      state = fail[state] as number
    }
    this.#state = state
    if (state !== 0 && ((flags[state] as number) & CUT) !== 0) this.#continueInWhole()
  }

  reset(): void {
    this.#state = 0
  }

  get found(): number {
    return this.#nodes.found[this.#state] as number
  }

  get isBase64(): boolean {
    return ((this.#nodes.flags[this.#state] as number) & BASE64) !== 0
  }

  get isAtRoot(): boolean {
    return this.#state === 0
  }

  pending(most = Number.POSITIVE_INFINITY): number {
    const { depth, fail } = this.#nodes
    let state = this.#state
    while ((depth[state] as number) > most) state = fail[state] as number
    return depth[state] as number
  }

  /** Continues in the whole trie, in the state that the same bytes lead to. */
  #continueInWhole(): void {
    const path: number[] = []
    const { label, depth } = this.#nodes
    const parents = parentsOf(this.#nodes)
    for (let state = this.#state; depth[state] !== 0; state = parents[state] as number)
      path.push(label[state] as number)
    this.#nodes = this.#whole()
    this.#state = 0
    for (const byte of path.reverse()) this.step(byte)
  }
}

function parentsOf({ child, sibling, first }: Nodes): Int32Array {
  const parents = new Int32Array(child.length)
  for (let state = 1; state < child.length; state++)
    for (let next = child[state] as number; next !== 0; next = sibling[next] as number) parents[next] = state
  for (const next of first) parents[next] = 0
  return parents
}

function build(forms: readonly Form[], most: number): Nodes {
  const size = 1 + forms.reduce((sum, { bytes }) => sum + Math.min(bytes.length, most), 0)
  const nodes: Nodes = {
    first: new Int32Array(256),
    child: new Int32Array(size),
    sibling: new Int32Array(size),
    label: new Uint8Array(size),
    fail: new Int32Array(size),
    depth: new Int32Array(size),
    found: new Int32Array(size),
    flags: new Uint8Array(size),
  }
  const { first, child, sibling, label, fail, depth, found, flags } = nodes
  const childOf = (state: number, byte: number): number => {
    if (state === 0) return first[byte] as number
    let next = child[state] as number
    while (next !== 0 && label[next] !== byte) next = sibling[next] as number
    return next
  }
  let used = 1
  for (const { bytes, kind } of forms) {
    let state = 0
    const end = Math.min(bytes.length, most)
    for (let i = 0; i < end; i++) {
      const byte = bytes[i] as number
      let next = childOf(state, byte)
      if (next === 0) {
        next = used++
        label[next] = byte
        depth[next] = i + 1
        if (state === 0) first[byte] = next
        else {
          sibling[next] = child[state] as number
          child[state] = next
        }
      }
      state = next
    }
    if (end < bytes.length) flags[state] = (flags[state] as number) | CUT
    else {
      found[state] = end
      if (kind === 'base64') flags[state] = (flags[state] as number) | BASE64
    }
  }
  // breadth first, because a failure link leads to a node of smaller depth
  const order: number[] = []
  for (const next of first) if (next !== 0) order.push(next)
  for (let i = 0; i < order.length; i++) {
    const state = order[i] as number
    for (let next = child[state] as number; next !== 0; next = sibling[next] as number) {
      let other = fail[state] as number
      let target = childOf(other, label[next] as number)
      while (target === 0 && other !== 0) {
        other = fail[other] as number
        target = childOf(other, label[next] as number)
      }
      fail[next] = target
      if (found[target] !== 0) {
        if (found[next] === 0) found[next] = found[target] as number
        flags[next] = (flags[next] as number) | ((flags[target] as number) & BASE64)
      }
      order.push(next)
    }
  }
  return nodes
}
