/* Adds "Try it" to each operation if a service serves the page. It shows the form of try.html in a panel of the page. */
;(() => {
  if (document.querySelector('.pages a[href="try.html"]') === null) return
  let panel
  let opener

  const addLinks = () => {
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
  new MutationObserver(addLinks).observe(document, { childList: true, subtree: true })

  /** Creates the panel at its first use, so that the page requests nothing before. One frame keeps the credentials. */
  const createPanel = () => {
    panel = document.createElement('section')
    panel.className = 'try-panel'
    panel.setAttribute('aria-label', 'Try it')
    const button = document.createElement('button')
    button.textContent = 'Close'
    button.addEventListener('click', close)
    const frame = document.createElement('iframe')
    frame.title = 'Forms'
    frame.addEventListener('load', () => {
      matchTheme()
      frame.contentWindow.addEventListener('keydown', closeOnEscape)
    })
    panel.append(button, frame)
    document.body.append(panel)
  }
  const matchTheme = () => {
    const root = panel?.querySelector('iframe').contentDocument?.documentElement
    if (root) root.style.colorScheme = document.documentElement.classList.contains('dark') ? 'dark' : 'light'
  }
  new MutationObserver(matchTheme).observe(document.documentElement, { attributeFilter: ['class'] })

  const close = () => {
    panel.hidden = true
    opener.focus()
  }
  const closeOnEscape = ({ key }) => {
    if (key === 'Escape' && panel?.hidden === false) close()
  }
  document.addEventListener('keydown', closeOnEscape)
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href^="try.html"]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    if (panel === undefined) createPanel()
    opener = link
    panel.hidden = false
    const frame = panel.querySelector('iframe')
    // A new hash of the same page keeps what was typed.
    if (frame.src === '') frame.src = link.href
    else frame.contentWindow.location.hash = link.hash
    panel.querySelector('button').focus()
  })
})()
