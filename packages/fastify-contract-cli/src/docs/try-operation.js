/* The script of try.html: sends a form to the service and shows the response. Values of bodies are not parsed, so that
 * large integers stay exact. */
import { expandPath, pairText, parameterPairs } from 'fastify-contract/client'
import { layOutJson } from './layout-json.ts'

/** The maximum number of bytes of a body to show. */
const maxShown = 1_048_576

/** The maximum number of characters of a body of JSON with its layout. */
const maxLaidOut = 4 * maxShown

/** The URL of the service. */
const { service } = document.querySelector('main').dataset

for (const form of document.querySelectorAll('form[data-path]')) {
  let isPending = false
  // In a line, Enter submits a form by itself.
  form.addEventListener('keydown', ({ key, ctrlKey, metaKey }) => {
    if (key === 'Enter' && (ctrlKey || metaKey)) form.requestSubmit()
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (isPending) return
    isPending = true
    show(form, { status: 'Sending …' })
    show(form, await sendForm(form).catch((error) => ({ status: `Not sent: ${error.message}` })))
    isPending = false
  })
}

/** The forms of credentials send the form of the chosen operation, or of the first open one. */
for (const form of document.querySelectorAll('form:not([data-path])')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const chosen = document.querySelector('details:target') ?? document.querySelector('details[open]')
    chosen?.querySelector('form').requestSubmit()
    form.querySelector('output').textContent = chosen === null ? 'Open an operation below.' : ''
  })
}

// In the panel of the documentation page, only the chosen operation is shown.
if (window !== window.top) document.documentElement.classList.add('framed')
addEventListener('hashchange', openTarget)
openTarget()

function openTarget() {
  const target = document.querySelector('details:target')
  if (target !== null) target.open = true
}

function show(form, { status, headers = '', body = '' }) {
  form.querySelector('output').textContent = status
  const [shownHeaders, shownBody] = form.querySelectorAll('pre')
  shownHeaders.textContent = headers
  shownBody.textContent = body
  form.querySelector('.response').hidden = headers === ''
}

async function sendForm(form) {
  const pairs = pairsOf(form)
  const query = pairs('query').map(pairText).join('&')
  const path = expandPath(form.dataset.path, pairs('path'))
  // A browser would remove such a segment and send another request.
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) throw new Error('a browser cannot send "." or ".." in a path')
  const target = path + (query === '' ? '' : `?${query}`)
  const text = form.querySelector('[data-body]')?.value ?? ''
  const headers = [
    ...pairs('header'),
    ...(text === '' ? [] : [['content-type', form.querySelector('[data-media-type]').value]]),
  ]
  const began = performance.now()
  const response = await fetch(service + target, {
    method: form.dataset.method,
    headers: headersOf(headers),
    ...(text !== '' && { body: text }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'manual',
  }).catch(() => {
    // The browser does not tell a page why there is no response that it may read.
    throw new Error(`no response from ${service}, or none that this page may read; see the log of the service`)
  })
  if (response.type === 'opaqueredirect') return { status: 'A redirect: a browser does not show it to a page' }
  const { body, note } = await bodyOf(response)
  const lines = Array.from(response.headers, ([name, value]) => `${name}: ${value}`)
  const time = `${Math.round(performance.now() - began)} ms`
  const words = response.ok ? '' : wordsOf(body)
  const status = `${response.status} ${response.statusText}, ${time}${note}${words}`
  const isJson = /[/+]json\b/i.test(response.headers.get('content-type') ?? '')
  return { status, headers: lines.join('\n'), body: isJson ? layOutJson(body, maxLaidOut) : body }
}

/** Returns what an error body says in words (`message`, or `detail` and `title` of RFC 9457), after a colon. */
function wordsOf(body) {
  try {
    const { message, detail, title } = JSON.parse(body)
    const words = message ?? detail ?? title
    return typeof words === 'string' ? `: ${words}` : ''
  } catch {
    return ''
  }
}

/** Returns the headers of a request. Throws an error that names the one whose value a browser cannot send. */
function headersOf(pairs) {
  const headers = new Headers()
  for (const [name, value] of pairs) {
    try {
      headers.append(name, value)
    } catch {
      throw new Error(`${name} has a character that a header cannot contain; use Latin letters, digits and signs`)
    }
  }
  return headers
}

/**
 * Returns a function that returns the names and values of filled fields and of credentials for a parameter location.
 */
function pairsOf(form) {
  const fields = [...form.querySelectorAll('[data-parameter]')].filter(({ value }) => value !== '')
  const names = JSON.parse(form.dataset.credentials)
  const credentials = [...document.querySelectorAll('[data-credential]')].filter(
    ({ value, name }) => value !== '' && names.includes(name),
  )
  return (kind) => [
    ...fields.flatMap(({ dataset, value }) => {
      const parameter = JSON.parse(dataset.parameter)
      if (parameter.in !== kind) return []
      if ('nested' in dataset) return value.split('\n').map((line) => nestedPair(parameter.name, line))
      return parameterPairs(parameter, valueOfField(dataset, value), (problem) => {
        throw new Error(`${parameter.name}: ${problem}`)
      })
    }),
    ...credentials.flatMap(({ dataset, value }) => {
      const { in: place, name, prefix } = JSON.parse(dataset.credential)
      if (place !== kind) return []
      return kind === 'header'
        ? [[name, prefix + (prefix === 'Basic ' ? base64(value) : value)]]
        : parameterPairs({ in: place, name }, value)
    }),
  ]
}

/** Returns the pair of a line such as `items[0]=VALUE`, or of a line that is a value without a name. */
function nestedPair(name, line) {
  const [, first = '', more = '', value] = /^(?:([^[=]+)((?:\[[^[\]]*\])*)=)?(.*)$/.exec(line)
  return [name + (first === '' ? '' : `[${first}]`) + more, encodeURIComponent(value)]
}

function valueOfField(dataset, text) {
  if (!('list' in dataset || 'members' in dataset)) return text
  const lines = text.split('\n')
  return 'list' in dataset ? lines : Object.fromEntries(lines.map((line) => [...line.split(/=(.*)/s, 2), '']))
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

async function bodyOf(response) {
  const chunks = []
  const reader = response.body?.getReader()
  let bytes = 0
  let note = ''
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader.read()) {
      chunks.push(part.value)
      bytes += part.value.length
      if (bytes > maxShown) {
        note = `; the body is shown up to ${maxShown} bytes`
        void reader.cancel()
        break
      }
    }
  } catch {
    note = '; the response ended early'
  }
  const whole = await new Blob(chunks).slice(0, maxShown).arrayBuffer()
  try {
    // The last character may be cut off by the limit.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { body: decoder.decode(whole, { stream: note !== '' }), note }
  } catch {
    return { body: '', note: `${note}; the body of ${bytes} bytes is not UTF-8 text` }
  }
}
