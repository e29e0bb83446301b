// An OpenFeature provider for pages: all flags of one context, fetched with a publishable key and cached.
import {
  type EvaluationContext,
  FlagNotFoundError,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderNotReadyError,
  type ResolutionDetails,
  TypeMismatchError,
} from '@openfeature/web-sdk'
import type { Checked, Tollgate } from './index.js'
import { contextOf, detailsOf } from './openfeature.js'

export interface WebProviderOptions {
  /** Interval between two fetches of the flags while no change is pushed, ms; 0: none. Default 30 000. */
  readonly pollMs?: number
}

export class TollgateWebProvider implements Provider {
  readonly metadata = { name: 'tollgate-web' }
  readonly runsOn = 'client' as const
  readonly events = new OpenFeatureEventEmitter()
  private held: ReadonlyMap<string, Checked> | null = null
  private context: EvaluationContext = {}
  private timer: ReturnType<typeof setInterval> | null = null
  private stop: (() => void) | null = null

  constructor(
    private readonly client: Tollgate,
    private readonly options: WebProviderOptions = {},
  ) {}

  async initialize(context: EvaluationContext = {}): Promise<void> {
    await this.onContextChange({}, context)
    const pollMs = this.options.pollMs ?? 30_000
    this.stop = this.client.onChange(({ type }) => {
      if (type === 'entity' || type === 'connected') void this.look()
    })
    // Pushed changes need no polling.
    if (pollMs > 0)
      this.timer = setInterval(() => {
        if (!this.client.connected) void this.look()
      }, pollMs)
  }

  async onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> {
    this.context = context
    const held = await this.ask()
    // A later context may have replaced this one.
    if (this.context === context) this.held = held
  }

  async onClose(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer)
    this.stop?.()
    await this.client.close()
  }

  resolveBooleanEvaluation(flagKey: string): ResolutionDetails<boolean> {
    if (this.held === null) throw new ProviderNotReadyError('The flags are not known yet')
    const checked = this.held.get(flagKey)
    if (checked === undefined) throw new FlagNotFoundError(`There is no flag ${flagKey}`)
    return detailsOf(checked)
  }

  resolveStringEvaluation(flagKey: string): ResolutionDetails<string> {
    return this.mismatch(flagKey)
  }

  resolveNumberEvaluation(flagKey: string): ResolutionDetails<number> {
    return this.mismatch(flagKey)
  }

  resolveObjectEvaluation<T>(flagKey: string): ResolutionDetails<T> {
    return this.mismatch(flagKey)
  }

  /** errors  FlagNotFoundError when there is no such flag, else TypeMismatchError. */
  private mismatch(flagKey: string): never {
    this.resolveBooleanEvaluation(flagKey)
    throw new TypeMismatchError(`${flagKey} is a boolean, as every flag is`)
  }

  /**
   * Fetch the flags again, and emit an event with the changed ones. After a failure the cache stays, and an
   * event reports it as stale.
   */
  async look(): Promise<void> {
    const { context, held: before } = this
    try {
      const held = await this.ask()
      if (this.context !== context) return
      this.held = held
      const keys = new Set([...held.keys(), ...(before?.keys() ?? [])])
      const flagsChanged = [...keys].filter(
        key => JSON.stringify(held.get(key)) !== JSON.stringify(before?.get(key)),
      )
      if (flagsChanged.length > 0) this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged })
    } catch (error) {
      this.events.emit(ProviderEvents.Stale, { message: String(error) })
    }
  }

  private async ask(): Promise<ReadonlyMap<string, Checked>> {
    const checked = await this.client.checkAll(contextOf(this.context))
    return new Map(checked.map(one => [one.flag, one]))
  }
}
