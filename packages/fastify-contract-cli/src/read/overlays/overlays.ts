import { dirname, join, relative, resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import { type FileStates, noFile } from '../../digests/file-state.ts'
import { isUrl } from '../../fetch/url-rules.ts'
import { warning } from '../../reports/reports.ts'
import { isFile, shownName } from '../file-text.ts'
import type { Source } from '../read-source.ts'
import { OverlayError, placeText, withinStack } from '../source-error.ts'
import { applyOverlay, timeError } from './apply-overlay.ts'
import { OverlaidValue } from './overlaid-value.ts'
import { type Overlay, overlayLimits, readOverlays } from './overlay-file.ts'

/** The overlays of a document. */
export type OverlayOptions = {
  /** The paths of the overlays, in the order in which they apply. */
  overlays?: string[] | undefined
  /** The path that the overlays extend if the document stands for another one, such as a copy of it. */
  insteadOf?: string | undefined
}

/** The overlays of a document, each with the file to which it applies. */
export class Overlays {
  /** A line for each action without an effect. */
  readonly warnings: string[] = []
  readonly #root: string
  readonly #states: FileStates
  /** In the order in which they apply; an overlay that is applied is removed. */
  readonly #waiting: { overlay: Overlay; file: string }[]

  private constructor(root: string, overlays: Overlay[], insteadOf: string | undefined, states: FileStates) {
    this.#root = root
    this.#states = states
    this.#waiting = overlays.map((overlay) => ({ overlay, file: this.#fileOf(overlay, insteadOf) }))
  }

  /**
   * Reads the overlays of a document and adds their states. Throws a SourceError.
   *
   * @param root The absolute path of the document, or its URL.
   */
  static async read(root: string, { overlays = [], insteadOf }: OverlayOptions, states: FileStates): Promise<Overlays> {
    return new Overlays(root, overlays.length === 0 ? [] : await readOverlays(overlays, states), insteadOf, states)
  }

  /** Returns a file with its overlays applied. Throws a SourceError for an action that does not fit, or that takes too long. */
  applied(source: Source): Source {
    const own = this.#waiting.filter(({ file }) => file === source.file)
    if (own.length === 0) return source
    for (const each of own) this.#waiting.splice(this.#waiting.indexOf(each), 1)
    const names = own.map(({ overlay }) => shownName(overlay.source.file))
    const { milliseconds } = overlayLimits
    try {
      // Queries and their patterns may take exponential time, which only this interrupts.
      return runInNewContext('apply()', { apply: () => this.#apply(source, own) }, { timeout: milliseconds })
    } catch (error) {
      throw timeError(error, names, milliseconds)
    }
  }

  #apply(source: Source, own: { overlay: Overlay }[]): Source {
    const name = shownName(source.file)
    const idle = (text: string, place: string) => {
      this.warnings.push(warning('doubtful-overlay', '#', `${text} (${place})`))
    }
    return withinStack(name, function apply() {
      const value = new OverlaidValue(source)
      for (const { overlay } of own) applyOverlay(overlay, value, idle)
      return value.sourceOf(({ file }) => shownName(file))
    })
  }

  /**
   * Returns the file to which an overlay applies: the document, unless it extends another file that exists. A URL, or a
   * file that does not exist, may be where the document came from.
   */
  #fileOf({ extended, source }: Overlay, insteadOf: string | undefined): string {
    if (extended === undefined || isUrl(extended) || isUrl(this.#root)) return this.#root
    const file =
      insteadOf === undefined ? extended : join(dirname(this.#root), relative(dirname(resolve(insteadOf)), extended))
    if (isFile(file)) return file
    this.#states.set(file, noFile)
    const text = `extends leads to ${shownName(extended)}, which does not exist; the overlay applies to the document`
    const place = placeText(shownName(source.file), source.placeOf(['extends']))
    this.warnings.push(warning('doubtful-overlay', '#', `${text}; correct or remove extends (${place})`))
    return this.#root
  }

  /** Throws an OverlayError for an overlay that extends a file which is none of the document. */
  rejectUnused(): void {
    const [unused] = this.#waiting
    if (unused === undefined) return
    const { source } = unused.overlay
    const place = placeText(shownName(source.file), source.placeOf(['extends']))
    throw new OverlayError(
      `${place}: extends leads to ${shownName(unused.file)}, which is no file of ${shownName(this.#root)}; correct it, ` +
        'or remove extends',
    )
  }
}
