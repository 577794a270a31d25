/**
 * Shows the elements that need a script, and lets buttons with `data-copy` copy the text beside them. It must not use
 * anything outside this function, because only its source text is sent to browsers.
 */
function runCopying(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-script]')) element.hidden = false
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]'))
    button.addEventListener('click', () => void copy(button))

  /** If the browser refuses, selects the text so that the reader can copy it. */
  async function copy(button: HTMLButtonElement): Promise<void> {
    const text = button.parentElement?.querySelector('code')
    if (!text) return
    try {
      await navigator.clipboard.writeText(text.textContent ?? '')
      button.textContent = 'Copied'
    } catch {
      window.getSelection()?.selectAllChildren(text)
      button.textContent = 'Selected: press Ctrl or ⌘ and C'
    }
  }
}

export const copyScript = `(${runCopying.toString()})();\n`
