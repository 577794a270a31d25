/**
 * Latin letters and digits, each with the letters that people mistake for it: letters of other scripts, and Latin ones with
 * strokes or as small capitals (Unicode Technical Standard #39 section 4). Bounded on purpose: it has the scripts whose
 * letters look like Latin ones in common fonts (Cyrillic, Greek, Armenian, Coptic, Cherokee, Lisu), not all of
 * `confusables.txt`. Accented, mathematical and wide letters are missing, because normalisation makes them plain.
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'АаΑαɑᴀⲀⲁᎪꓮ',
  b: 'ВΒвЬьƄβᏴᏏꓐʙƀƃɓ',
  c: 'СсϹϲⲤⲥᏟꓚᴄƈ¢',
  d: 'ԁԀᎠꓓᴅđĐɗᏧ',
  e: 'ЕеΕεЄєҽᎬꓰᴇⲈ℮ɛЭэ',
  f: 'ƒϜſꓝғҒꜰ',
  g: 'ɡԌԍᏀꓖɢǥցɠ',
  h: 'ĦНһΗհнᎻꓧʜҺђћħⲎ',
  i: 'ІіΙιıⲒᎥꓲɪɩ',
  j: 'ЈјϳᎫꓙᴊȷɉ',
  k: 'КкΚκᏦꓗᴋҚқƙⲔ',
  l: 'ꓡᏞʟłŁƖӀӏǀ',
  m: 'МмΜᎷꓟᴍⲘϺ',
  n: 'ΝпηոռꓠɴⲚŋп',
  o: 'ОоΟοσՕօⲞⲟꓳᴏөӨøØ០०',
  p: 'РрΡρϷⲢᏢꓑᴘҏ',
  q: 'ԛԚգ',
  r: 'гᎡꓣʀᴦɼⲅя',
  s: 'ЅѕՏꓢᏚꜱʂ',
  t: 'ТтΤτᎢꓔᴛŧŦⲦ',
  u: 'υսՍꓴᴜцʋμ',
  v: 'νѴѵᏙꓦᴠט',
  w: 'ԜԝωωᎳꓪᴡшѡա',
  x: 'ХхΧχⲬꓫ×ҳ',
  y: 'УуΥγүҮᎽꓬʏⲨყ',
  z: 'ΖᏃꓜᴢƶⲌ',
  '3': 'ЗзӠ',
}

/** Sequences and digits that are drawn like letters. */
const DRAWN_LIKE: readonly (readonly [RegExp, string])[] = [
  [/0/g, 'o'],
  [/[1l|]/g, 'i'],
  [/5/g, 's'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
]

const LATIN = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, others]) =>
    [...others].map((letter) => [letter, latin] as const),
  ),
)

/**
 * The skeleton of a name (the term of UTS #39): equal for names that look alike. Case, accents, spaces, punctuation and
 * invisible characters make no difference. Only for comparison, never for display.
 */
export function skeletonOf(name: string): string {
  // before as well: normalisation makes another letter of some (ſ, which is drawn like f, becomes s)
  const letters = toLatin(toLatin(name).normalize('NFKD'))
  const plain = letters.toLowerCase().replaceAll(/[^\p{L}\p{N}|]/gu, '')
  return DRAWN_LIKE.reduce((text, [drawn, letter]) => text.replaceAll(drawn, letter), plain)
}

function toLatin(text: string): string {
  return [...text].map((letter) => LATIN.get(letter) ?? letter).join('')
}

/** A letter of a script that has look-alikes of Latin letters. No ordinary word mixes such a script with Latin. */
const IMITATING_LETTER =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Coptic}\p{Script=Cherokee}\p{Script=Lisu}]/u

/**
 * The first word that mixes Latin letters with those of an imitating script, as "Gооgle" with two Cyrillic letters. A name
 * may have words of different scripts, and Latin beside Chinese, Japanese or Korean.
 */
export function mixedScriptWord(name: string): string | undefined {
  return name
    .normalize('NFKC')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .find((word) => /\p{Script=Latin}/u.test(word) && IMITATING_LETTER.test(word))
}

/** The letters of the word, as `mixedScriptWord` gives it, that imitate Latin ones. */
export function imitatingLetters(word: string): string {
  return [...word].filter((letter) => IMITATING_LETTER.test(letter)).join('')
}
