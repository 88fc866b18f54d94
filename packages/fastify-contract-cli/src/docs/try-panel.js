/* Adds "Try it" to each operation if a service serves the page. It shows the form of try.html in a panel of the page. */

let panel
let opener

// Published pages have no link to try.html, since there is no service beside them.
if (document.querySelector('.pages a[href="try.html"]') !== null) {
  new MutationObserver(addLinks).observe(document, { childList: true, subtree: true })
  new MutationObserver(matchTheme).observe(document.documentElement, { attributeFilter: ['class'] })
  document.addEventListener('keydown', closeOnEscape)
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href^="try.html"]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    open(link)
  })
}

function addLinks() {
  for (const section of document.querySelectorAll('[data-item-kind=httpItem]:not(:has(.try))')) {
    const method = section.querySelector('[data-component-name="Panel/PanelHeader"] [data-component-name="Tag/Tag"]')
    if (method === null) continue
    const link = document.createElement('a')
    link.className = 'try'
    link.textContent = 'Try it'
    link.href = `try.html#${encodeURI(method.textContent + method.nextElementSibling.textContent)}`
    section.querySelector('[data-testid=page-actions]')?.prepend(link)
  }
}

function open(link) {
  panel ??= createPanel()
  panel.hidden = false
  opener = link
  const frame = panel.querySelector('iframe')
  // A new hash of the same page keeps what was typed.
  if (frame.src === '') frame.src = link.href
  else frame.contentWindow.location.hash = link.hash
  panel.querySelector('button').focus()
}

function close() {
  panel.hidden = true
  opener.focus()
}

function closeOnEscape({ key }) {
  if (key === 'Escape' && panel?.hidden === false) close()
}

/** Creates the panel at its first use, so that the page requests nothing before. Its frame keeps the credentials. */
function createPanel() {
  const created = document.createElement('section')
  created.className = 'try-panel'
  created.setAttribute('aria-label', 'Try it')
  const button = document.createElement('button')
  button.textContent = 'Close'
  button.addEventListener('click', close)
  const frame = document.createElement('iframe')
  frame.title = 'Forms'
  frame.addEventListener('load', () => {
    matchTheme()
    frame.contentWindow.addEventListener('keydown', closeOnEscape)
  })
  created.append(button, frame)
  document.body.append(created)
  return created
}

/** Applies the page's light or dark theme to the forms; the reader can switch it at any time. */
function matchTheme() {
  const root = panel?.querySelector('iframe').contentDocument?.documentElement
  if (root) root.style.colorScheme = document.documentElement.classList.contains('dark') ? 'dark' : 'light'
}
