/**
 * The script of the console, which a browser runs. It reloads the texts of elements with `data-live` at intervals while
 * the page is visible. It sets only `textContent`, as the pages' Trusted Types policy demands, and may use nothing from
 * outside itself, because its text is sent to the browser. Every page works without it.
 */
function runLive(): void {
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

export const liveScript = `(${runLive.toString()})()\n`
