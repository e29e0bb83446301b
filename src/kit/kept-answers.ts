// Answers over all companies, kept for seconds: however many consoles are open, each is worked out once.

/** Most answers kept. */
const keptMax = 500

/** Keeps the answers of one kind of question. Askers of the same question while it is worked out share the work. */
export class KeptAnswers<Value> {
  private readonly kept = new Map<string, { readonly value: Promise<Value>; untilMs: number }>()

  /** forMs  how long an answer is given; now: a monotonic clock, ms. */
  constructor(
    private readonly forMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The answer to a question. A failure is not kept. */
  get(question: string, work: () => Promise<Value>): Promise<Value> {
    const nowMs = this.now()
    const known = this.kept.get(question)
    if (known !== undefined && nowMs < known.untilMs) return known.value
    this.kept.delete(question)
    if (this.kept.size >= keptMax) this.kept.delete(this.kept.keys().next().value!)
    const value = work()
    // while it is worked out everybody waits for it
    const entry = { value, untilMs: Number.POSITIVE_INFINITY }
    this.kept.set(question, entry)
    value.then(
      () => {
        entry.untilMs = this.now() + this.forMs
      },
      () => {
        if (this.kept.get(question) === entry) this.kept.delete(question)
      },
    )
    return value
  }
}
