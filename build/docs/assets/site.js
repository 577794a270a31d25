// The script of the pages: search, buttons that copy code, the list of pages folded on a phone.
const root = document.documentElement.dataset.root ?? ''

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(block.querySelector('code').textContent).then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'Press Ctrl+C'
    if (!copied) getSelection().selectAllChildren(block.querySelector('code'))
    button.classList.add('done')
    setTimeout(() => {
      button.textContent = 'Copy'
      button.classList.remove('done')
    }, 2000)
  })
  block.append(button)
}

const pages = document.querySelector('.pages details')
const isNarrow = matchMedia('(max-width: 52rem)')
const fold = () => {
  pages.open = !isNarrow.matches
}
isNarrow.addEventListener('change', fold)
fold()

// scrolls a list that is longer than the window to the current page
const pageList = document.querySelector('.pages')
const current = pageList.querySelector('[aria-current]')
if (current !== null && !isNarrow.matches) pageList.scrollTop = current.offsetTop - pageList.clientHeight / 2

const search = document.querySelector('.search')
const input = search.querySelector('input')
const results = search.querySelector('.results')
const status = results.querySelector('p')
const list = results.querySelector('ol')
search.hidden = false

function load(file) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}assets/${file}`
    script.onload = resolve
    script.onerror = reject
    document.head.append(script)
  })
}

let index
/** The index is loaded when it is first needed. */
function loadIndex() {
  index ??= Promise.all(['minisearch.js', 'search-index.js', 'find.js'].map(load)).then(() =>
    globalThis.MiniSearch.loadJSON(globalThis.searchIndex, globalThis.gatepassSearch.OPTIONS),
  )
  return index
}

function resultOf({ address, heading, title, excerpt }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = root + address
  for (const [tag, text] of [
    ['small', title],
    ['b', heading],
    ['span', excerpt],
  ]) {
    if (text === '' || (tag === 'small' && title === heading)) continue
    const part = document.createElement(tag)
    part.textContent = text
    link.append(part)
  }
  item.append(link)
  return item
}

/** Results that are shown. */
const MOST = 12

async function showResults() {
  const words = input.value.trim()
  if (words === '') {
    results.hidden = true
    return
  }
  const loaded = await loadIndex()
  if (words !== input.value.trim()) return
  const found = globalThis.gatepassSearch.find(loaded, words)
  list.replaceChildren(...found.slice(0, MOST).map(resultOf))
  status.textContent =
    found.length === 0
      ? `Nothing about “${words}”.`
      : found.length === 1
        ? '1 result'
        : `${Math.min(found.length, MOST)} results`
  results.hidden = false
}

input.addEventListener('focus', loadIndex, { once: true })
input.addEventListener('input', showResults)
input.addEventListener('click', showResults)
document.addEventListener('keydown', (event) => {
  const links = [...list.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '')
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape' && !results.hidden) {
    results.hidden = true
    if (at !== -1) input.focus()
  } else if (!results.hidden && search.contains(document.activeElement)) {
    if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus()
    else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : input).focus()
    else if (event.key === 'Enter' && at === -1) links[0]?.click()
    else return
    event.preventDefault()
  }
})
document.addEventListener('click', ({ target }) => {
  if (!search.contains(target)) results.hidden = true
})
list.addEventListener('click', () => {
  results.hidden = true
})
