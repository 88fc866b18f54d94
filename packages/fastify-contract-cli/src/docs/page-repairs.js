/* Adds the ARIA attributes that assistive technology needs and that Redoc 3.0.1 leaves out. */
const searchTrigger = '[data-testid=search-trigger]'
const layoutSwitch = '[data-component-name="Sidebar/SidebarActions"] > span > span'
const repairs = [
  ['.menu-content', { role: 'navigation', 'aria-label': 'Contents' }],
  [searchTrigger, { role: 'button', tabindex: '0' }],
  ['[data-testid=search-dialog]', { role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Search' }],
  ['[data-testid=search-dialog] input', { 'aria-label': 'Search' }],
  ['[data-component-name="Search/SearchInput"] button', { 'aria-label': 'Clear' }],
  ['body > div > div > button:has([data-component-name="icons/CloseIcon/CloseIcon"])', { 'aria-label': 'Close' }],
  ['body > div:has(> div > [aria-label=Close])', { role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Details' }],
  // Redoc appends an open menu to the body.
  ['body > div:not(#redoc):has([role=menu])', { role: 'region', 'aria-label': 'Menu' }],
  ['h4[data-component-name="Typography/H4"]', { 'aria-level': '3' }],
  ['[data-component-name="Markdown/Markdown"] pre', { role: 'group', tabindex: '0', 'aria-label': 'Example' }],
  ['main h5', { 'aria-level': '4' }],
  // These buttons show the media type itself, which is a better name (WCAG 2.2, 2.5.3 Label in Name).
  ['button[aria-label$=" media type"]', { 'aria-label': '' }],
  [layoutSwitch, { role: 'button', tabindex: '0', 'aria-label': 'Change the layout' }],
]
const repair = () => {
  for (const [selector, attributes] of repairs) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (element.getAttribute(name) !== value) element.setAttribute(name, value)
      }
    }
  }
}
new MutationObserver(repair).observe(document, { childList: true, subtree: true })
document.addEventListener('keydown', ({ key, target }) => {
  if (key === 'Enter' && target.matches(`${searchTrigger}, ${layoutSwitch}`)) target.click()
})
