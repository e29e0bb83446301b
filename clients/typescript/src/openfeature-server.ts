// An OpenFeature provider for servers: checks of the client, here where it holds what is asked.
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
import { type Change, type Tollgate, TollgateError } from './index.js'
import { contextOf, detailsOf } from './openfeature.js'

/** Give it a client; `OpenFeature.close()` closes that too. Flags are booleans: other types are a mismatch. */
export class TollgateProvider implements Provider {
  readonly metadata = { name: 'tollgate' }
  readonly runsOn = 'server' as const
  readonly events = new OpenFeatureEventEmitter()
  private readonly stop: () => void

  constructor(private readonly client: Tollgate) {
    this.stop = client.onChange(change => this.tell(change))
  }

  async initialize(): Promise<void> {
    await this.client.ready()
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

  resolveStringEvaluation(flagKey: string): Promise<ResolutionDetails<string>> {
    return mismatch(flagKey)
  }

  resolveNumberEvaluation(flagKey: string): Promise<ResolutionDetails<number>> {
    return mismatch(flagKey)
  }

  resolveObjectEvaluation<T>(flagKey: string): Promise<ResolutionDetails<T>> {
    return mismatch(flagKey)
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
        this.events.emit(ProviderEvents.Ready, {})
        return
      case 'ready':
        return
    }
  }
}

async function mismatch(flagKey: string): Promise<never> {
  throw new TypeMismatchError(`${flagKey} is a boolean, as every flag is`)
}
