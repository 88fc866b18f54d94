import { fetchDocument } from '../../src/read/read-document.ts'

/* Fetches a document, prints the directory of its copies, and waits. */

const { directory } = await fetchDocument(process.env.DOCUMENT as string)
process.stdout.write(`copies in ${directory};\n`)
setInterval(() => {}, 60_000)
