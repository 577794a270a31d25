import { copyScript } from '../pages/copy-script.ts'

/**
 * The script of the pages under /docs: it filters the list of operations and, in development, sends the requests of the
 * forms. It must not use anything outside this function, because only its source text is sent to
 * browsers.
 */
function runDocs(): void {
  const search = document.querySelector<HTMLInputElement>('#search')
  search?.addEventListener('input', () => filterOperations(search.value))
  for (const form of document.querySelectorAll<HTMLFormElement>('details.try form'))
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void send(form)
    })

  function filterOperations(text: string): void {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    let found = 0
    for (const group of document.querySelectorAll<HTMLElement>('nav > ul > li')) {
      let inGroup = 0
      for (const item of group.querySelectorAll<HTMLElement>('[data-words]')) {
        item.hidden = !words.every((word) => item.dataset.words?.includes(word))
        if (!item.hidden) inGroup += 1
      }
      group.hidden = words.length > 0 && inGroup === 0
      found += inGroup
    }
    document.querySelector('nav')?.classList.toggle('searching', words.length > 0)
    const status = document.querySelector('#found')
    if (status) status.textContent = words.length === 0 ? '' : `${found} operation${found === 1 ? '' : 's'}`
  }

  async function send(form: HTMLFormElement): Promise<void> {
    const status = form.parentElement?.querySelector('[role=status]')
    const shown = form.parentElement?.querySelector('pre')
    const code = shown?.querySelector('code')
    if (!status || !shown || !code) return
    code.textContent = ''
    status.textContent = 'Sent; waiting for the answer'
    try {
      const { url, init } = requestOf(form)
      const response = await window.fetch(url, init)
      status.textContent = `${response.status} ${response.statusText}`
      shown.hidden = false
      await show(response, code)
    } catch (error) {
      status.textContent = error instanceof Error ? error.message : String(error)
    }
  }

  /** The key goes into a header, never into the URL. */
  function requestOf(form: HTMLFormElement): { url: string; init: RequestInit } {
    const { method = 'GET', path = '' } = form.dataset
    const headers = new Headers()
    const key = document.querySelector<HTMLInputElement>('#api-key')?.value.trim()
    if (key) headers.set('authorization', `Bearer ${key}`)
    const query = new URLSearchParams()
    let target = path
    for (const { name, value, dataset } of form.querySelectorAll<HTMLInputElement>('input[data-in]')) {
      if (dataset.in === 'path') target = target.replace(`{${name}}`, encoded(name, value))
      else if (value !== '' && dataset.in === 'query') query.set(name, value)
      else if (value !== '') headers.set(name, value)
    }
    const body = form.querySelector<HTMLTextAreaElement>('textarea')?.value.trim()
    if (body) headers.set('content-type', 'application/json')
    const search = query.toString()
    return {
      url: search === '' ? target : `${target}?${search}`,
      init: { method, headers, credentials: 'omit', ...(body && { body }) },
    }
  }

  /** The path of a proxied request keeps its slashes. */
  function encoded(name: string, value: string): string {
    return (name === 'path' ? value.split('/') : [value]).map(encodeURIComponent).join('/')
  }

  /** Shows the text as it comes, so that the events of a stream are seen; JSON is indented at the end. */
  async function show(response: Response, code: Element): Promise<void> {
    const decoder = new TextDecoder()
    const reader = response.body?.getReader()
    let text = ''
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      text += decoder.decode(part.value, { stream: true })
      code.textContent = text
    }
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    code.textContent = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text || 'The answer has no body.'
  }
}

export const docsScript = `${copyScript}(${runDocs.toString()})()`
