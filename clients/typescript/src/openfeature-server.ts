// An OpenFeature provider for servers. It checks flags with the client, in this process where the data is in
// memory.
import {
  type EvaluationContext,
  FlagNotFoundError,
  GeneralError,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
  TypeMismatchError,
} from '@openfeature/server-sdk'
import { reasonOf } from './errors.js'
import { type Change, type Tollgate, TollgateError } from './index.js'
import { contextOf, detailsOf } from './openfeature.js'

/** Default limit of the initialisation, ms. */
const readyMs = 5_000

export interface ServerProviderOptions {
  /**
   * How long an initialisation waits for the service, ms. After that the provider is in error until the
   * service is reached. Default 5 000.
   */
  readonly readyMs?: number
}

/** Takes a client; `OpenFeature.close()` closes it too. Flags are booleans: other types are a mismatch. */
export class TollgateProvider implements Provider {
  readonly metadata = { name: 'tollgate' }
  readonly runsOn = 'server' as const
  readonly events = new OpenFeatureEventEmitter()
  private readonly stop: () => void

  constructor(
    private readonly client: Tollgate,
    private readonly options: ServerProviderOptions = {},
  ) {
    this.stop = client.onChange(change => this.tell(change))
  }

  /** errors  GeneralError when the service is not reached in time. */
  async initialize(): Promise<void> {
    try {
      await this.client.ready({ timeoutMs: this.options.readyMs ?? readyMs })
    } catch (error) {
      throw new GeneralError(reasonOf(error))
    }
  }

  async onClose(): Promise<void> {
    this.stop()
    await this.client.close()
  }

  async resolveBooleanEvaluation(
    flagKey: string,
    _defaultValue: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    const order = this.client.order.filter(source => source !== 'default')
    try {
      const checked = await this.client.check(flagKey, contextOf(context), { order })
      if (checked.error !== null) throw new GeneralError(checked.error)
      return detailsOf(checked)
    } catch (error) {
      if (error instanceof TollgateError && error.status === 404) throw new FlagNotFoundError(error.message)
      throw error instanceof GeneralError ? error : new GeneralError(String(error))
    }
  }

  resolveStringEvaluation(
    flagKey: string,
    _default: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return this.mismatch(flagKey, context)
  }

  resolveNumberEvaluation(
    flagKey: string,
    _default: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.mismatch(flagKey, context)
  }

  resolveObjectEvaluation<T>(
    flagKey: string,
    _default: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    return this.mismatch(flagKey, context)
  }

  /** errors  FlagNotFoundError when there is no such flag, else TypeMismatchError. */
  private async mismatch(flagKey: string, context: EvaluationContext): Promise<never> {
    await this.resolveBooleanEvaluation(flagKey, false, context)
    throw new TypeMismatchError(`${flagKey} is a boolean, as every flag is`)
  }

  private tell(change: Change): void {
    switch (change.type) {
      case 'flags':
        this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged: [...change.keys] })
        return
      case 'entity':
        this.events.emit(ProviderEvents.ConfigurationChanged, {})
        return
      case 'disconnected':
        this.events.emit(ProviderEvents.Stale, { message: change.reason })
        return
      case 'connected':
      case 'ready':
        this.events.emit(ProviderEvents.Ready, {})
        return
    }
  }
}
