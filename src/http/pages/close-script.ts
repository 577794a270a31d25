/**
 * The script of the final page in a popup that an application's page has opened. It closes the popup at once, or by the
 * button if there is something to read. It sends nothing to the application's page, which asks the server.
 */
export const closeScript = `'use strict'
for (const button of document.querySelectorAll('[data-close]'))
  button.addEventListener('click', () => window.close())
if (document.querySelector('[data-close="now"]')) window.close()
`
