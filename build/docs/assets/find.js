// The search of the site. A script without imports: browsers load it from a folder too, and `search.ts` runs it.
{
  /** Words of a question that say nothing about its subject. */
  const EMPTY_WORDS = new Set(
    'a about after again against an and any are as at be been before but by can could did do does ever existing for from get gets give go had happen happens has have how i if in instead into is it its just let long make many me much my need not now of on one or our out should so some than that the their them then there these they this to up use using want was we were what when where which who why will with without work works would you your'.split(
      ' ',
    ),
  )

  /** Words that mean the same here. Each line's words are found by each other. */
  const SYNONYMS = [
    'login signin signon log-in sso',
    'logout signout log-out disconnect revoke',
    'delete remove erase',
    'rotate change renew replace',
    'integration connector provider',
    'add connect register setup set-up create',
    'install deploy run host',
    'kubernetes k8s helm',
    'docker container image compose',
    'postgres postgresql',
    'sqlite database db',
    'backup restore recover',
    'permission scope consent',
    'authorize approve consent authorization',
    'monitoring metrics alerts',
    'tracing opentelemetry otel traces',
    'customize customise theme brand branding logo colours colors',
    'webhook event notification notify callback',
    'signature signed verify hmac',
    'env environment variable setting configuration config option',
    'audit trail log history',
    'typescript javascript sdk',
    'python arcadepy httpx',
    'api endpoint http rest curl',
    'apikey api-key',
    'upgrade update migrate version',
    'migrate migration import move switch',
    'benchmark performance speed latency fast',
    'crash kill outage',
    'error exception fails failed broken troubleshoot debug',
    'domain hostname host',
    'swagger openapi',
    'gdpr privacy erase export',
    'multi-tenant tenant tenants project projects',
    'ha availability cluster nodes replicas',
    'vulnerability disclosure',
    'stolen steal theft leak attacker',
    'protect protection defend defence safe',
    'stored store storage kept keep',
    'encrypt encryption encrypted seal',
    'cpu memory ram disk capacity sizing hardware',
    'laptop locally localhost local machine',
    'website site page frontend',
    'hide exclude select filter subset',
    'image picture file attachment binary content',
    'catch handle',
    'compare comparison difference alternative',
    'identify identity verifier tell know',
    'two several multiple many',
  ].map((line) => line.split(' ').map(stem))

  /** The part of a word that its forms share: `tokens` and `token`, `rotating` and `rotate`. */
  function stem(word) {
    return word
      .replace(/(?<=.{3})(?:ies)$/, 'y')
      .replace(/(?<=.{3}[^s])s$/, '')
      .replace(/(?<=.{3})(?:ing|ed)$/, '')
      .replace(/(?<=.{3})e$/, '')
  }

  /** Words of a text: names such as `GATEPASS_API_KEY` and `X-Gatepass-User` whole and by their parts. */
  function wordsOf(text) {
    return text.split(/[^\p{L}\p{N}_-]+/u).flatMap((word) => {
      const parts = word.split(/[_-]+/).filter((part) => part !== '')
      return parts.length > 1 ? [word, ...parts] : parts
    })
  }

  const termOf = (word) => {
    const lower = word.toLowerCase()
    return EMPTY_WORDS.has(lower) ? null : stem(lower)
  }

  /** What MiniSearch needs to know, when the index is written and when it is read. */
  const OPTIONS = {
    fields: ['heading', 'title', 'keywords', 'content'],
    storeFields: ['heading', 'title', 'address', 'excerpt', 'kind'],
    tokenize: wordsOf,
    processTerm: termOf,
  }

  /** How much a place of each kind of page counts: a reader with a question looks for a task first. */
  const WEIGHT = { start: 1.25, guide: 1.25, operate: 1.25, reference: 1, evidence: 0.45, project: 0.35 }
  const BOOST = { title: 3, heading: 3, keywords: 5, content: 1 }
  /** A long field counts little less than a short one: the keywords of a page are many words. */
  const BM25 = { k: 1.2, b: 0.3, d: 0.5 }
  /** A synonym counts less than the word that was typed. */
  const SYNONYM_WEIGHT = 0.5

  /** The places that answer a question, the best first: by their own words, and by those of the page that they are on. */
  function find(index, question) {
    const terms = [...new Set(question.split(/[^\p{L}\p{N}_-]+/u).map(termOf))].filter(Boolean)
    const places = new Map()
    const scores = new Map() // of places and of pages
    let all = 0
    for (const term of terms) {
      const found = placesOf(index, term)
      // a word that few places have says more about the question; one that none has may be a name
      const weight = found.size === 0 ? 1 : Math.log(1 + index.documentCount / found.size)
      all += weight
      const best = new Map()
      for (const [id, place] of found) {
        places.set(id, place)
        best.set(id, place.score)
        const page = pageOf(place)
        best.set(page, Math.max(best.get(page) ?? 0, place.score))
      }
      for (const [at, score] of best) {
        const known = scores.get(at) ?? { score: 0, matched: 0 }
        // the square root, because the score of a place counts rare words higher already
        scores.set(at, { score: known.score + score * Math.sqrt(weight), matched: known.matched + weight })
      }
    }
    const rate = (at) => scores.get(at).score * (scores.get(at).matched / all) ** 2
    const ranked = [...places].map(([id, place]) => ({
      ...place,
      score: (rate(id) + rate(pageOf(place))) * (WEIGHT[place.kind] ?? WEIGHT.project),
    }))
    return ranked.sort((a, b) => b.score - a.score)
  }

  /** The page of a place, which no id of a place is: those have an anchor. */
  const pageOf = ({ address }) => address.split('#')[0]

  /** The places of one word, by it or by a synonym, each with the better score. */
  function placesOf(index, term) {
    const synonyms = SYNONYMS.filter((line) => line.includes(term)).flat()
    const places = new Map()
    for (const one of new Set([term, ...synonyms])) {
      const weight = one === term ? 1 : SYNONYM_WEIGHT
      const found = index.search(one, {
        boost: BOOST,
        bm25: BM25,
        tokenize: (text) => [text],
        processTerm: (text) => text,
        prefix: one === term && one.length > 2,
        fuzzy: one === term && one.length > 4 ? 0.2 : false,
      })
      for (const place of found) {
        const score = place.score * weight
        if (score > (places.get(place.id)?.score ?? 0)) places.set(place.id, { ...place, score })
      }
    }
    return places
  }

  globalThis.gatepassSearch = { OPTIONS, find }
}
