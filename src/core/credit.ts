// Placeholder types until the ledger lands; replaced by the credit work.
export interface CreditAccount {
  readonly creditId: string
}
export type CreditMessage = never
export type CreditEffect = never
