/**
 * The script of the page with a device code, which a browser runs. It asks this server until the page has something else to
 * show, and then loads the page again. The answer has no code. It may use nothing from outside itself, because its text is
 * sent to the browser. The page works without it, by its link.
 */
function runWaiting(): void {
  const address = document.querySelector<HTMLElement>('[data-wait]')?.dataset.wait
  if (address === undefined) return

  async function ask(): Promise<void> {
    let pauseMs = 1_000
    try {
      const response = await window.fetch(address ?? '', { redirect: 'error' })
      const { waiting } = response.ok ? await response.json() : { waiting: true }
      if (waiting === false) return window.location.reload()
      if (!response.ok) pauseMs = 10_000
    } catch {
      pauseMs = 10_000 // the server cannot be reached now
    }
    setTimeout(ask, pauseMs)
  }

  void ask()
}

export const deviceScript = `(${runWaiting.toString()})()\n`
