/**
 * Letters of other scripts, and Latin ones with strokes or as small capitals, by the Latin letter or digit that people take
 * them for (Unicode Technical Standard #39 section 4). Bounded on purpose: it has the scripts whose letters are drawn like
 * Latin ones in common fonts (Cyrillic, Greek, Armenian, Coptic, Cherokee, Lisu), not whole of `confusables.txt`. Accents and
 * mathematical or wide letters need no line: normalisation takes them off.
 */
const TAKEN_FOR: Readonly<Record<string, string>> = {
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
  Object.entries(TAKEN_FOR).flatMap(([latin, others]) => [...others].map((one) => [one, latin] as const)),
)

/**
 * What people read at a glance: equal for names that look alike. Case, accents, spaces, punctuation and characters that are
 * not seen make no other name. For comparison alone: what it returns is no text.
 */
export function readAs(name: string): string {
  const letters = [...name.normalize('NFKD')].map((one) => LATIN.get(one) ?? one).join('')
  const plain = letters.toLowerCase().replaceAll(/[^\p{L}\p{N}|]/gu, '')
  return DRAWN_LIKE.reduce((text, [drawn, letter]) => text.replaceAll(drawn, letter), plain)
}

/** A letter of a script with look-alikes of Latin letters: no word has both. */
const IMITATES =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Coptic}\p{Script=Cherokee}\p{Script=Lisu}]/u

/**
 * The first word whose letters are of Latin and of a script that imitates it, as in "Gооgle" with two Cyrillic letters.
 * Words of one script each are a name like any other, and so is Latin beside Chinese, Japanese or Korean.
 */
export function mixedWord(name: string): string | undefined {
  return name
    .normalize('NFKC')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .find((word) => /\p{Script=Latin}/u.test(word) && IMITATES.test(word))
}
