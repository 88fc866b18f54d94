/* Shows the digits of integers that JavaScript rounds in the place of the numbers that stand for them. */
import { digitsOf } from './exact-digits.ts'

/** Restores the digits in all that a page shows, and in all that is copied from it. */
export function showDigits(integers) {
  const exact = digitsOf(integers)
  const restore = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    for (let node = texts.currentNode; node !== null; node = texts.nextNode()) {
      // The first node is the root, which may be an element.
      if (node.nodeType !== Node.TEXT_NODE) continue
      const text = exact(node.data)
      if (text !== node.data) node.data = text
    }
  }
  new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      for (const node of type === 'characterData' ? [target] : addedNodes) restore(node)
    }
  }).observe(document, { childList: true, characterData: true, subtree: true })
  // Redoc copies a text from an element that it adds and removes at once.
  document.addEventListener(
    'copy',
    (event) => {
      const selected = String(document.getSelection())
      if (exact(selected) === selected) return
      event.preventDefault()
      event.stopImmediatePropagation()
      event.clipboardData.setData('text/plain', exact(selected))
    },
    { capture: true },
  )
}
