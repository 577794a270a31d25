/**
 * The script of the ending in a window that an application's page has opened: the window closes itself when nothing is
 * left to read, else at the button. It tells the page nothing: the page asks the server.
 */
export const closeScript = `'use strict'
for (const button of document.querySelectorAll('[data-close]'))
  button.addEventListener('click', () => window.close())
if (document.querySelector('[data-close="now"]')) window.close()
`
