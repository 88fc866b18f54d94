import { fetchDocument } from '../../src/read/read-document.ts'

/* Fetches a document, prints the directory of its copies, and waits. */

const { directory } = await fetchDocument(process.env.DOCUMENT as string)
console.log(`copies in ${directory};`)
setInterval(() => {}, 60_000)
