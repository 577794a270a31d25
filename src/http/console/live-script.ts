import { copyScript } from '../pages/copy-script.ts'

/**
 * The script of the console, which a browser runs. It sends a form once when its button is pressed twice, and reloads the
 * texts of elements with `data-live` at intervals while the page is visible. It sets only `textContent`, as the pages'
 * Trusted Types policy demands, and may use nothing from outside itself, because its text is sent to the browser. Every
 * page works without it.
 */
function runLive(): void {
  const sent = new WeakSet<EventTarget>()
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
    if (sent.has(form)) event.preventDefault()
    sent.add(form)
    // the page is still there if the answer is a download, or the user has stopped the request
    setTimeout(() => sent.delete(form), 3_000)
  })

  const elements = [...document.querySelectorAll<HTMLElement>('[data-live]')]
  if (elements.length === 0) return
  let isAsking = false

  async function ask(): Promise<void> {
    if (document.hidden || isAsking) return
    isAsking = true
    for (const element of elements) {
      try {
        const response = await window.fetch(element.dataset.live ?? '', { redirect: 'error' })
        const { text } = response.ok ? await response.json() : { text: undefined }
        if (typeof text === 'string' && text !== element.textContent) element.textContent = text
      } catch {
        // the server cannot be reached now: the next interval tries again
      }
    }
    isAsking = false
  }

  setInterval(ask, 10_000)
  document.addEventListener('visibilitychange', ask)
}

export const liveScript = `${copyScript}(${runLive.toString()})()\n`
