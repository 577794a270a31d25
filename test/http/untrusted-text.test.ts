import { describe, expect, test } from 'vitest'
import { drawnText } from '../../src/domain/untrusted-text.ts'
import { wordChanges } from '../../src/domain/word-changes.ts'
import { untrustedChanges, untrustedText } from '../../src/http/pages/untrusted-text.ts'

describe('text that a program wrote', () => {
  test.each([
    ['bidi', 'gnp.\u202eexe', 'gnp.[U+202E]exe'],
    ['zero-width', 'pay\u200bpal', 'pay[U+200B]pal'],
    ['control', 'a\u001b[31mb\r\nc\td', 'a[U+001B][31mb[U+000D]\nc[U+0009]d'],
    ['tags', 'hi\u{e0049}\u{e0020}', 'hi[U+E0049][U+E0020]'],
    ['fillers and variation selectors', 'a\u3164b\ufe0fc\u2800', 'a[U+3164]b[U+FE0F]c[U+2800]'],
    ['unusual spaces', 'a\u00a0b\u2028c', 'a[U+00A0]b[U+2028]c'],
    ['struck out', 'do no\u0336t\u20e0', 'do no[U+0336]t[U+20E0]'],
    ['a pile of marks', `o${'\u0300'.repeat(5)}`, `o${'\u0300'.repeat(4)}[U+0300]`],
    ['half a character', 'a\ud800b', 'a[U+D800]b'],
    ['spaces at the ends', '  a b ', '[U+0020 U+0020]a b[U+0020]'],
    ['look-alike', 'by G\u043e\u043egle now', 'by G\u043e\u043egle[U+043E U+043E] now'],
    [
      'plain',
      'one line\nand another, in 日本語 and עִבְרִית, tiếng Việt',
      'one line\nand another, in 日本語 and עִבְרִית, tiếng Việt',
    ],
    ['none', '', ''],
  ])('is drawn: %s', (_, text, drawn) => {
    expect(drawnText(text)).toBe(drawn)
  })

  test('is text on a page, whatever it holds', async () => {
    expect(String(await untrustedText('<img src=x onerror=alert(1)>\u202e'))).toBe(
      '<bdi class="untrusted">&lt;img src=x onerror=alert(1)&gt;<mark>[U+202E]</mark></bdi>',
    )
  })

  test('is compared word by word', async () => {
    const changes = wordChanges(
      'Reads a mail. Never sends.',
      'Reads a mail and <b>sends</b> it. Never sends.',
    )
    expect(changes).toEqual([
      { kind: 'same', text: 'Reads a ' },
      { kind: 'removed', text: 'mail. ' },
      { kind: 'added', text: 'mail and <b>sends</b> it. ' },
      { kind: 'same', text: 'Never sends.' },
    ])
    expect(String(await untrustedChanges(changes))).toBe(
      '<bdi class="untrusted">Reads a <del>mail. </del><ins>mail and &lt;b&gt;sends&lt;/b&gt; it. </ins>Never sends.</bdi>',
    )
  })

  test('is compared as a whole where it is too long to be compared by words', () => {
    const long = (word: string) => Array.from({ length: 5_000 }, (_, i) => `${word}${i}`).join(' ')
    expect(wordChanges(`a ${long('x')}`, `a ${long('y')}`).map(({ kind }) => kind)).toEqual([
      'same',
      'removed',
      'added',
    ])
  })
})
